//! Which class was taken for which.

use super::PlotError;
use super::sheet::{document, short, show_and_save};
use crate::core::Result;
use crate::notebook::Table;
use std::fmt;

/// How many examples of each class were predicted as which: rows are expected classes, columns predicted ones.
///
/// The darker a cell, the larger its share of its row. In a terminal the matrix is a table, with precision and recall
/// below. TensorFlow: `tf.math.confusion_matrix`.
///
/// # Examples
/// ```
/// use tpulab::plot::ConfusionMatrix;
///
/// let matrix = ConfusionMatrix::from_ids(["Setosa", "Versicolor"], [0, 0, 1, 1], [0, 0, 1, 0])?;
/// assert_eq!((matrix.total(), matrix.accuracy()), (4, Some(0.75)));
/// assert_eq!((matrix.precision(1), matrix.recall(1)), (Some(1.0), Some(0.5)));
/// # Ok::<(), tpulab::core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[doc(alias = "confusion_matrix")]
pub struct ConfusionMatrix {
    pub(super) title: String,
    pub(super) names: Vec<String>,
    pub(super) counts: Vec<Vec<u64>>,
}

/// More classes have no room for their counts.
const MOST_CLASSES: usize = 20;
/// Of so many, columns are wide enough for their names.
pub(super) const FEW_CLASSES: usize = 8;

const LONGEST_NAME: usize = 18;

impl ConfusionMatrix {
    /// The matrix of these counts: a row for each expected class, in it a count for each predicted class.
    ///
    /// # Errors
    /// `PLOT001` if there are not as many rows or counts in a row as names, `PLOT002` if a name comes twice, `PLOT004`
    /// for no classes or more than 20.
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>, counts: Vec<Vec<u64>>) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        PlotError::check_count("classes", names.len(), MOST_CLASSES)?;
        PlotError::check_names(&names)?;
        let left = ("the list of names", names.len());
        PlotError::check_lengths(left, ("the list of rows", counts.len()))?;
        for (row, counts) in counts.iter().enumerate() {
            PlotError::check_lengths(left, (&format!("row {row}"), counts.len()))?;
        }
        Ok(ConfusionMatrix { title: "Confusion matrix".to_string(), names, counts })
    }

    /// Counts pairs of expected and predicted class ids, which number the names from 0.
    ///
    /// # Errors
    /// `PLOT001` if there are not as many predicted as expected ids, `PLOT002` if a name comes twice, `PLOT004` for no
    /// classes or more than 20, `PLOT006` for an id without a name.
    pub fn from_ids<N: Into<String>, E: Into<i64>, P: Into<i64>>(
        names: impl IntoIterator<Item = N>,
        expected: impl IntoIterator<Item = E>,
        predicted: impl IntoIterator<Item = P>,
    ) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let classes = names.len();
        let mut matrix = ConfusionMatrix::new(names, vec![vec![0; classes]; classes])?;
        let expected: Vec<i64> = expected.into_iter().map(Into::into).collect();
        let predicted: Vec<i64> = predicted.into_iter().map(Into::into).collect();
        PlotError::check_lengths(("expected", expected.len()), ("predicted", predicted.len()))?;
        let place = |list, row, id| {
            let place = usize::try_from(id).ok().filter(|place| *place < classes);
            place.ok_or(PlotError::UnknownClass { list, row, id, classes })
        };
        for (row, (expected, predicted)) in expected.into_iter().zip(predicted).enumerate() {
            matrix.counts[place("expected", row, expected)?][place("predicted", row, predicted)?] += 1;
        }
        Ok(matrix)
    }

    /// Sets the title; `Confusion matrix` by default.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// How many examples of class `expected` were predicted as class `predicted`; none, if there is no such class.
    pub fn count(&self, expected: usize, predicted: usize) -> u64 {
        self.counts.get(expected).and_then(|row| row.get(predicted)).copied().unwrap_or(0)
    }

    /// How many examples there are, at most as many as a `u64` can count.
    pub fn total(&self) -> u64 {
        self.counts.iter().flatten().copied().fold(0, u64::saturating_add)
    }

    /// The share of examples that were predicted right; `None` without examples.
    pub fn accuracy(&self) -> Option<f64> {
        share((0..self.names.len()).map(|class| self.count(class, class)), self.counts.iter().flatten())
    }

    /// Of the examples predicted as class `class`, the share that are of this class; `None` if there are none.
    pub fn precision(&self, class: usize) -> Option<f64> {
        share([self.count(class, class)], self.counts.iter().filter_map(|row| row.get(class)))
    }

    /// Of the examples of class `class`, the share that were predicted as this class; `None` if there are none.
    pub fn recall(&self, class: usize) -> Option<f64> {
        share([self.count(class, class)], self.counts.get(class).into_iter().flatten())
    }

    /// The matrix as an SVG document, the same for the same counts.
    pub fn svg(&self) -> String {
        let size = self.size();
        document(size, &self.title, &self.to_string(), |area| self.paint(area, size))
    }

    /// The names as they are written; those of many classes are numbered.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        let numbered = self.names.len() > FEW_CLASSES;
        self.names.iter().enumerate().map(move |(class, name)| match numbered {
            true => format!("{class} {}", short(name, LONGEST_NAME)),
            false => short(name, LONGEST_NAME),
        })
    }
}

show_and_save!(ConfusionMatrix);

/// The part that some counts are of others; sums of counts may exceed what a count can be.
pub(super) fn share<'a>(part: impl IntoIterator<Item = u64>, whole: impl IntoIterator<Item = &'a u64>) -> Option<f64> {
    let whole: f64 = whole.into_iter().map(|count| *count as f64).sum();
    let part: f64 = part.into_iter().map(|count| count as f64).sum();
    (whole > 0.0).then(|| part / whole)
}

/// A row for each expected class, a column for each predicted one, and its precision and recall.
impl fmt::Display for ConfusionMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cell = |share: Option<f64>| share.map_or_else(|| "-".to_string(), |share| format!("{share:.3}"));
        let headings = std::iter::once("expected \\ predicted".to_string()).chain(self.names());
        let mut table = Table::new(headings.chain(["precision".to_string(), "recall".to_string()]));
        for (class, name) in self.names().enumerate() {
            let counts = self.counts[class].iter().map(u64::to_string);
            let shares = [cell(self.precision(class)), cell(self.recall(class))];
            table = table.row(std::iter::once(name).chain(counts).chain(shares));
        }
        let total = self.total();
        write!(f, "{}\n{table}\naccuracy {} of {total} examples", short(&self.title, 40), cell(self.accuracy()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iris() -> ConfusionMatrix {
        let counts = vec![vec![5, 0, 0], vec![0, 11, 3], vec![0, 1, 10]];
        ConfusionMatrix::new(["Setosa", "Versicolor", "Virginica"], counts).unwrap()
    }

    #[test]
    fn no_examples_have_no_shares() {
        let matrix = ConfusionMatrix::new(["a", "b"], vec![vec![0, 0], vec![0, 0]]).unwrap();
        assert_eq!((matrix.accuracy(), matrix.precision(0), matrix.recall(0)), (None, None, None));
        assert!(matrix.svg().contains("no examples") && matrix.to_string().contains("accuracy - of 0 examples"));
        assert_eq!((matrix.precision(9), matrix.recall(9), matrix.count(9, 0)), (None, None, 0));
    }

    #[test]
    fn rows_are_expected_and_columns_predicted() {
        let expected = "Confusion matrix\n\
                        expected \\ predicted  Setosa  Versicolor  Virginica  precision  recall\n\
                        Setosa                     5           0          0      1.000   1.000\n\
                        Versicolor                 0          11          3      0.917   0.786\n\
                        Virginica                  0           1         10      0.769   0.909\n\
                        accuracy 0.867 of 30 examples";
        assert_eq!(iris().to_string(), expected);
        let ids = ConfusionMatrix::from_ids(["a", "b"], [0i32, 0, 1], [1i64, 0, 1]).unwrap();
        assert_eq!((ids.count(0, 1), ids.count(1, 0)), (1, 0));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let error = |names: &[&str], counts| ConfusionMatrix::new(names.to_vec(), counts).unwrap_err().to_string();
        assert_eq!(
            error(&["a", "b"], vec![vec![1, 2], vec![3]]),
            "PLOT001: the list of names has length 2, row 1 has length 1; give both the same length"
        );
        assert!(error(&["a"], vec![]).starts_with("PLOT001: the list of names has length 1, the list of rows has"));
        assert!(error(&["a", "a"], vec![]).starts_with("PLOT002: `a` comes twice"));
        assert!(error(&[], vec![]).starts_with("PLOT004: expected 1 to 20 classes, found 0"));
        let ids = |expected: [i64; 1], predicted: &[i64]| {
            ConfusionMatrix::from_ids(["a", "b"], expected, predicted.iter().copied()).unwrap_err().code()
        };
        assert_eq!(ids([0], &[0, 1]), "PLOT001");
        assert_eq!([ids([2], &[0]), ids([0], &[-1])], ["PLOT006"; 2]);
    }

    #[test]
    fn counts_beyond_all_bounds_have_shares() {
        let matrix = ConfusionMatrix::new(["a", "b"], vec![vec![u64::MAX, 0], vec![u64::MAX, 0]]).unwrap();
        assert_eq!((matrix.total(), matrix.accuracy(), matrix.recall(0)), (u64::MAX, Some(0.5), Some(1.0)));
    }

    #[test]
    fn narrow_columns_have_numbers_for_names() {
        let names: Vec<String> = (0..20).map(|class| format!("<b>class number {class}")).collect();
        let matrix = ConfusionMatrix::new(names, vec![vec![1_000_000; 20]; 20]).unwrap();
        assert!(matrix.svg().contains("19 &lt;b&gt;class number 19"));
        assert!(matrix.svg().len() < 200_000, "{}", matrix.svg().len());
    }
}
