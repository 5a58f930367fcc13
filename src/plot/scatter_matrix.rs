//! Every two features of a frame against each other.

use super::PlotError;
use super::Scale;
use super::axis::number;
use super::sheet::{document, short, show_and_save};
use crate::core::{Data, Result};
use crate::data::{Column, Frame};
use crate::notebook::Table;
use std::collections::BTreeSet;
use std::fmt;

/// Every two columns of numbers against each other, and on the diagonal how often each value occurs; a colour and a
/// marker for each class.
///
/// Columns that are not numbers are left out, and so are rows with a value that is not finite. Of many rows, evenly
/// spaced ones are drawn. In a terminal the figure is a table of each class's means. pandas: `plotting.scatter_matrix`.
///
/// # Examples
/// ```
/// use tpulab::data::{Column, Frame};
/// use tpulab::plot::ScatterMatrix;
///
/// let flowers = Frame::new([
///     ("PetalLength", Column::from(vec![1.4f32, 4.2, 5.9])),
///     ("PetalWidth", Column::from(vec![0.2f32, 1.5, 2.1])),
/// ])?;
/// let species = Column::from(vec![0i32, 1, 1]);
/// let figure = ScatterMatrix::new(&flowers, &species)?.class_names(["Setosa", "Versicolor"])?.unit("cm");
/// assert!(figure.to_string().contains("Setosa"));
/// # Ok::<(), tpulab::core::Error>(())
/// ```
#[derive(Clone, PartialEq)]
#[doc(alias = "scatter_matrix")]
pub struct ScatterMatrix {
    pub(super) title: String,
    pub(super) unit: String,
    pub(super) columns: Vec<(String, Vec<f64>)>,
    pub(super) names: Vec<String>,
    /// The class of each row, by its place in `names`.
    pub(super) classes: Vec<usize>,
    left_out: usize,
}

/// More columns make panels too small.
const MOST_COLUMNS: usize = 6;
/// More classes cannot be told apart.
const MOST_CLASSES: usize = 7;
/// Markers of all panels together, so that the document stays small.
const POINTS: usize = 1500;

impl ScatterMatrix {
    /// The figure of the columns of `features` that hold one number for each row, with a class for each row from
    /// `labels`: integers, texts or truth values, in the order of their size.
    ///
    /// # Errors
    /// `PLOT001` if there are not as many labels as rows, `PLOT004` for no column of numbers or more than 6, and for no
    /// classes or more than 7, `PLOT005` for labels of another kind.
    pub fn new(features: &Frame, labels: &Column) -> Result<Self> {
        let is_number = |column: &Column| {
            let one = column.inner_shape().is_empty();
            one && matches!(
                column.array().data(),
                Data::Float32(_) | Data::Float64(_) | Data::Int32(_) | Data::Int64(_)
            )
        };
        let numeric: Vec<&(String, Column)> =
            features.columns().iter().filter(|(_, column)| is_number(column)).collect();
        PlotError::check_count("columns of numbers", numeric.len(), MOST_COLUMNS)?;
        PlotError::check_lengths(("features", features.len()), ("labels", labels.len()))?;
        let (names, mut classes) = classes_of(labels)?;
        PlotError::check_count("classes", names.len(), MOST_CLASSES)?;
        let mut columns = Vec::new();
        for (name, column) in numeric {
            columns.push((name.clone(), column.array().to_f64_vec()?));
        }
        let has_place = |row: usize| columns.iter().all(|(_, values)| Scale::Linear.place(values[row]).is_some());
        let kept: Vec<usize> = (0..features.len()).filter(|row| has_place(*row)).collect();
        for (_, values) in &mut columns {
            *values = kept.iter().map(|row| values[*row]).collect();
        }
        classes = kept.iter().map(|row| classes[*row]).collect();
        let left_out = features.len() - kept.len();
        Ok(ScatterMatrix { title: "Features".to_string(), unit: String::new(), columns, names, classes, left_out })
    }

    /// Sets the title; `Features` by default.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the unit of all columns, such as `cm`; none by default.
    pub fn unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = unit.into();
        self
    }

    /// Gives the classes names, in their order; without, each is called as in the labels.
    ///
    /// # Errors
    /// `PLOT001` if there are not as many names as classes, `PLOT002` if a name comes twice.
    pub fn class_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        PlotError::check_lengths(("the list of names", names.len()), ("the list of classes", self.names.len()))?;
        PlotError::check_names(&names)?;
        self.names = names;
        Ok(self)
    }

    /// The figure as an SVG document, the same for the same values.
    pub fn svg(&self) -> String {
        let size = self.size();
        document(size, &self.title, &self.to_string(), |area| self.paint(area, size))
    }

    /// Every how manieth row is drawn.
    pub(super) fn every(&self) -> usize {
        let panels = (self.columns.len() * (self.columns.len() - 1) / 2).max(1);
        (self.classes.len() * panels).div_ceil(POINTS).max(1)
    }

    /// What the figure does not show.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.left_out > 0 {
            let rows = if self.left_out == 1 { "row" } else { "rows" };
            notes.push(format!("{} {rows} left out: not finite", self.left_out));
        }
        if self.every() > 1 {
            notes.push(format!("1 of {} rows drawn", self.every()));
        }
        notes
    }
}

show_and_save!(ScatterMatrix);

/// The names of the classes in order, and the place of each row's class among them.
fn classes_of(labels: &Column) -> Result<(Vec<String>, Vec<usize>)> {
    fn ranked<T: Ord>(values: &[T], name: impl Fn(&T) -> String) -> (Vec<String>, Vec<usize>) {
        let classes: Vec<&T> = values.iter().collect::<BTreeSet<_>>().into_iter().collect();
        let rank = |value: &T| classes.partition_point(|class| *class < value);
        (classes.iter().map(|class| name(class)).collect(), values.iter().map(rank).collect())
    }
    match labels.array().data() {
        _ if !labels.inner_shape().is_empty() => {}
        Data::Int32(_) => return Ok(ranked(labels.values::<i32>()?, i32::to_string)),
        Data::Int64(_) => return Ok(ranked(labels.values::<i64>()?, i64::to_string)),
        Data::Bool(_) => return Ok(ranked(labels.values::<bool>()?, bool::to_string)),
        Data::String(_) => return Ok(ranked(labels.values::<String>()?, String::clone)),
        _ => {}
    }
    Err(PlotError::ClassColumn { dtype: labels.dtype(), shape: labels.inner_shape().to_vec() }.into())
}

/// The number of rows of each class, and its mean in each column.
impl fmt::Display for ScatterMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.columns.iter().map(|(name, _)| format!("mean {}", short(name, 30)));
        let mut table = Table::new(["class".to_string(), "rows".to_string()].into_iter().chain(columns));
        for (class, name) in self.names.iter().enumerate() {
            let rows = self.classes.iter().filter(|found| **found == class).count();
            let means = self.columns.iter().map(|(_, values)| {
                let own = values.iter().zip(&self.classes).filter(|(_, found)| **found == class);
                let sum: f64 = own.map(|(value, _)| value).sum();
                if rows == 0 { "-".to_string() } else { number(sum / rows as f64) }
            });
            table = table.row([short(name, 28), rows.to_string()].into_iter().chain(means));
        }
        write!(f, "{}\n{table}", short(&self.title, 50))?;
        self.notes().iter().try_for_each(|note| write!(f, "\n{note}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(columns: usize, values: &[f32]) -> Frame {
        Frame::new((0..columns).map(|column| (format!("x{column}"), Column::from(values.to_vec())))).unwrap()
    }

    fn refused(features: &Frame, labels: Column) -> String {
        ScatterMatrix::new(features, &labels).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_read_in_a_figure_is_refused() {
        let labels = Column::from(vec![0i32, 1]);
        let values = [1.0, 2.0];
        let texts = Frame::new([("name", Column::from(vec!["a", "b"]))]).unwrap();
        assert!(refused(&texts, labels.clone()).starts_with("PLOT004: expected 1 to 6 columns of numbers, found 0"));
        assert!(
            refused(&frame(7, &values), labels).starts_with("PLOT004: expected 1 to 6 columns of numbers, found 7")
        );
        assert!(refused(&frame(1, &values), Column::from(vec![0i32])).starts_with("PLOT001: features has length 2"));
        assert!(refused(&frame(1, &values), Column::from(vec![0.5f32, 1.0])).starts_with("PLOT005"));
        assert!(
            refused(&frame(1, &[]), Column::from(Vec::<i32>::new())).starts_with("PLOT004: expected 1 to 7 classes")
        );
        let many = frame(1, &[0.0; 8]);
        assert!(
            refused(&many, Column::from((0..8).collect::<Vec<i32>>())).starts_with("PLOT004: expected 1 to 7 classes")
        );
    }

    #[test]
    fn classes_are_in_order_and_may_get_names() {
        for labels in
            [Column::from(vec![7i64, -1, 7]), Column::from(vec![true, false, true]), Column::from(vec!["b", "a", "b"])]
        {
            let figure = ScatterMatrix::new(&frame(2, &[1.0, 2.0, 3.0]), &labels).unwrap();
            assert_eq!(figure.classes, [1, 0, 1], "{labels}");
            let figure = figure.class_names(["<i>first", "second"]).unwrap();
            assert_eq!(
                figure.to_string(),
                "Features\nclass     rows  mean x0  mean x1\n<i>first     1        2        2\n\
                 second       2        2        2"
            );
            assert!(figure.svg().contains("&lt;i&gt;first") && !figure.svg().contains("<i>"));
            assert_eq!(figure.clone().class_names(["one"]).unwrap_err().code(), "PLOT001");
            assert_eq!(figure.class_names(["one", "one"]).unwrap_err().code(), "PLOT002");
        }
    }

    #[test]
    fn rows_that_are_not_finite_are_left_out() {
        let labels = Column::from(vec![0i32, 0, 1]);
        let figure = ScatterMatrix::new(&frame(2, &[1.0, f32::NAN, 3.0]), &labels).unwrap();
        assert!(figure.to_string().ends_with("\n1 row left out: not finite"));
        assert!(figure.svg().contains("1 row left out: not finite"));
        let none = ScatterMatrix::new(&frame(1, &[f32::NAN; 3]), &labels).unwrap();
        assert!(none.svg().contains("3 rows left out"));
    }

    #[test]
    fn large_frames_have_small_pictures() {
        let values: Vec<f32> = (0..50_000).map(|row| ((row * 7919) % 50_021) as f32).collect();
        let labels: Vec<i32> = (0..50_000).map(|row| row % 7).collect();
        let figure = ScatterMatrix::new(&frame(6, &values), &Column::from(labels)).unwrap();
        assert!(figure.svg().contains("1 of 500 rows drawn"));
        assert!(figure.svg().len() < 200_000 && figure.svg() == figure.svg(), "{}", figure.svg().len());
    }
}
