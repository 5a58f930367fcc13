//! Which class was taken for which.

use super::PlotError;
use super::palette::{INK, colour};
use super::sheet::{Area, Failure, document, fitting, px, short, show_and_save, text, text_width};
use crate::core::Result;
use crate::notebook::Table;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
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
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(alias = "confusion_matrix")]
pub struct ConfusionMatrix {
    title: String,
    names: Vec<String>,
    counts: Vec<Vec<u64>>,
}

/// More classes have no room for their counts.
const MOST_CLASSES: usize = 20;
/// Of so many, columns are wide enough for their names.
const FEW_CLASSES: usize = 8;
/// How much a full cell is coloured; more would make its count hard to read.
const DEEPEST: f64 = 0.4;
const NAME_SIZE: u32 = 15;
const LONGEST_NAME: usize = 18;
const TOP: u32 = 52;

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
        let [left, cell] = self.widths();
        let classes = self.names.len() as u32;
        let size = ((left + classes * cell + 24).max(420), TOP + 56 + classes * cell.min(72) + 24);
        document(size, &self.title, &self.to_string(), |area| self.paint(area, size))
    }

    /// What stands left of the cells, and how wide a cell is, both in pixels.
    fn widths(&self) -> [u32; 2] {
        let longest = self.names().map(|name| text_width(&name, NAME_SIZE)).max().unwrap_or(0);
        [longest + 56, if self.names.len() <= FEW_CLASSES { (longest + 16).max(88) } else { 48 }]
    }

    /// The names as they are written; those of many classes are numbered.
    fn names(&self) -> impl Iterator<Item = String> {
        let numbered = self.names.len() > FEW_CLASSES;
        self.names.iter().enumerate().map(move |(class, name)| match numbered {
            true => format!("{class} {}", short(name, LONGEST_NAME)),
            false => short(name, LONGEST_NAME),
        })
    }

    fn paint(&self, area: &Area, size: (u32, u32)) -> std::result::Result<(), Failure> {
        let [left, cell] = self.widths();
        let (height, classes) = (cell.min(72), self.names.len() as u32);
        let centre = |horizontal| text(horizontal, HPos::Center, VPos::Center);
        let accuracy = match self.accuracy() {
            Some(accuracy) => format!("accuracy {:.1}%", 100.0 * accuracy),
            None => "no examples".to_string(),
        };
        let title = format!("{}: {accuracy}", fitting(&self.title, size.0 - text_width(&accuracy, 20) - 40, 20));
        area.draw(&Text::new(title, (px(size.0 / 2), px(24)), centre(20)))?;
        let middle = |start: u32, index: u32, width: u32| px(start + index * width) + px(width) / 2;
        let top = TOP + 48;
        area.draw(&Text::new("predicted", (middle(left, 0, classes * cell), px(TOP + 6)), centre(16)))?;
        let turned = centre(16).transform(FontTransform::Rotate270);
        area.draw(&Text::new("expected", (px(18), middle(top, 0, classes * height)), turned))?;
        for (index, name) in (0..).zip(self.names()) {
            let y = middle(top, index, height);
            area.draw(&Text::new(name.clone(), (px(left - 10), y), text(NAME_SIZE, HPos::Right, VPos::Center)))?;
            // Narrow columns have room for the number only.
            let name = if self.names.len() <= FEW_CLASSES { name } else { index.to_string() };
            area.draw(&Text::new(name, (middle(left, index, cell), px(TOP + 32)), centre(NAME_SIZE)))?;
        }
        for (row, counts) in (0..).zip(&self.counts) {
            for (column, &count) in (0..).zip(counts) {
                let (x, y) = (px(left + column * cell), px(top + row * height));
                let corners = [(x, y), (x + px(cell), y + px(height))];
                let depth = share([count], counts).unwrap_or(0.0) * DEEPEST;
                // Right ones are blue and wrong ones vermillion; where they stand says the same.
                let fill = colour(usize::from(row != column)).mix(depth);
                area.draw(&Rectangle::new(corners, fill.filled()))?;
                let border = vec![corners[0], (x + px(cell), y), corners[1], (x, y + px(height)), corners[0]];
                area.draw(&PathElement::new(border, INK.mix(0.35).stroke_width(px(1) as u32)))?;
                let place = (x + px(cell) / 2, y + px(height) / 2);
                area.draw(&Text::new(
                    brief(count),
                    place,
                    centre(if self.names.len() <= FEW_CLASSES { 22 } else { 15 }),
                ))?;
            }
        }
        Ok(())
    }
}

show_and_save!(ConfusionMatrix);

/// The part that some counts are of others; sums of counts may exceed what a count can be.
fn share<'a>(part: impl IntoIterator<Item = u64>, whole: impl IntoIterator<Item = &'a u64>) -> Option<f64> {
    let whole: f64 = whole.into_iter().map(|count| *count as f64).sum();
    let part: f64 = part.into_iter().map(|count| count as f64).sum();
    (whole > 0.0).then(|| part / whole)
}

/// A count in at most five characters.
fn brief(count: u64) -> String {
    const UNITS: [(u64, &str); 6] = [
        (1_000_000_000_000_000_000, "E"),
        (1_000_000_000_000_000, "P"),
        (1_000_000_000_000, "T"),
        (1_000_000_000, "G"),
        (1_000_000, "M"),
        (1_000, "k"),
    ];
    match UNITS.into_iter().find(|(unit, _)| count >= 10_000 && count >= *unit) {
        Some((unit, sign)) => format!("{}{sign}", count / unit),
        None => count.to_string(),
    }
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
    use super::super::palette::contrast;
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
    fn counts_can_be_read_in_full_cells() {
        let over = |RGBColor(r, g, b): RGBColor, page: u8| {
            let mix = |part: u8| (f64::from(part) * DEEPEST + f64::from(page) * (1.0 - DEEPEST)).round() as u8;
            RGBColor(mix(r), mix(g), mix(b))
        };
        for fill in [colour(0), colour(1)] {
            assert!(contrast(over(fill, 0xFF), RGBColor(0x1B, 0x1B, 0x1B)) >= 4.5);
            assert!(contrast(over(fill, 0x11), RGBColor(0xE8, 0xE8, 0xE8)) >= 4.5);
        }
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

    #[test]
    fn large_counts_stay_in_their_cells() {
        assert_eq!([9_999, 10_000, 1_234_567, u64::MAX].map(brief), ["9999", "10k", "1M", "18E"]);
    }
}
