//! Every two features of a frame against each other.

use super::PlotError;
use super::axis::{Axis, Scale};
use super::palette::{INK, colour, mark};
use super::sheet::{Area, Failure, document, px, short, show_and_save, text, text_width};
use crate::core::{Data, Result};
use crate::data::{Column, Frame};
use crate::notebook::Table;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
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
#[derive(Clone, Debug, PartialEq)]
#[doc(alias = "scatter_matrix")]
pub struct ScatterMatrix {
    title: String,
    unit: String,
    columns: Vec<(String, Vec<f64>)>,
    names: Vec<String>,
    /// The class of each row, by its place in `names`.
    classes: Vec<usize>,
    left_out: usize,
}

/// More columns make panels too small.
const MOST_COLUMNS: usize = 6;
/// More classes cannot be told apart.
const MOST_CLASSES: usize = 7;
/// Markers of all panels together, so that the document stays small.
const POINTS: usize = 1500;
const LEFT: u32 = 76;
const TOP: u32 = 44;
const BELOW: u32 = 62;

impl ScatterMatrix {
    /// The figure of the columns of `features` that hold one number for each row, with a class for each row from
    /// `labels`: integers, texts or truth values, in the order of their size.
    ///
    /// # Errors
    /// `PLOT001` if there are not as many labels as rows, `PLOT004` for no column of numbers or more than 6, `PLOT005`
    /// for labels of another kind, `PLOT006` for no classes or more than 7.
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
        if numeric.is_empty() || numeric.len() > MOST_COLUMNS {
            return Err(PlotError::NumericColumns { found: numeric.len(), most: MOST_COLUMNS }.into());
        }
        if labels.len() != features.len() {
            let (left, right) = (("features".to_string(), features.len()), ("labels".to_string(), labels.len()));
            return Err(PlotError::Lengths { left, right }.into());
        }
        let (names, mut classes) = classes_of(labels)?;
        if names.len() > MOST_CLASSES || names.is_empty() {
            return Err(PlotError::Classes { found: names.len(), most: MOST_CLASSES }.into());
        }
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
        if names.len() != self.names.len() {
            let left = ("the list of names".to_string(), names.len());
            let right = ("the list of classes".to_string(), self.names.len());
            return Err(PlotError::Lengths { left, right }.into());
        }
        if let Some((_, twice)) = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name)) {
            return Err(PlotError::DuplicateName { name: twice.clone() }.into());
        }
        self.names = names;
        Ok(self)
    }

    /// The figure as an SVG document, the same for the same values.
    pub fn svg(&self) -> String {
        let side = self.columns.len() as u32 * self.panel();
        let size = (LEFT + side + 16, TOP + side + BELOW + 8);
        document(size, &self.title, &self.to_string(), |area| self.paint(area, size))
    }

    /// How wide and high a panel is, in pixels.
    fn panel(&self) -> u32 {
        match self.columns.len() as u32 {
            1 => 420,
            2 => 300,
            3 => 230,
            count => 760 / count,
        }
    }

    /// Every how manieth row is drawn.
    fn every(&self) -> usize {
        let panels = (self.columns.len() * (self.columns.len() - 1) / 2).max(1);
        (self.classes.len() * panels).div_ceil(POINTS).max(1)
    }

    fn paint(&self, area: &Area, size: (u32, u32)) -> std::result::Result<(), Failure> {
        let title = Text::new(short(&self.title, 50), (px(size.0 / 2), px(20)), text(20, HPos::Center, VPos::Center));
        area.draw(&title)?;
        let axes: Vec<Axis> = self
            .columns
            .iter()
            .map(|(_, values)| Axis::around(values.iter().copied(), Scale::Linear, 0.06).with_most_ticks(4.0))
            .collect();
        for row in 0..self.columns.len() {
            for column in 0..=row {
                self.paint_panel(area, (row, column), &axes)?;
            }
        }
        self.legend(area)
    }

    fn corner(&self, (row, column): (usize, usize)) -> (u32, u32) {
        (LEFT + column as u32 * self.panel(), TOP + row as u32 * self.panel())
    }

    fn paint_panel(
        &self,
        area: &Area,
        (row, column): (usize, usize),
        axes: &[Axis],
    ) -> std::result::Result<(), Failure> {
        const INSET: u32 = 6;
        let (left, top) = self.corner((row, column));
        let inner = self.panel() - 2 * INSET;
        let (x0, y0) = (px(left + INSET), px(top + INSET));
        let (x1, y1) = (x0 + px(inner), y0 + px(inner));
        let frame = vec![(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)];
        area.draw(&PathElement::new(frame, INK.mix(0.35).stroke_width(px(1) as u32)))?;
        self.label_panel(area, (row, column), axes, [(x0, y0), (x1, y1)])?;
        if row == column {
            return self.paint_histogram(area, row, &axes[row], [(x0, y0), (x1, y1)]);
        }
        let mut seen = BTreeSet::new();
        for index in (0..self.classes.len()).step_by(self.every()) {
            let x = axes[column].map(&self.columns[column].1[index], (x0, x1));
            let y = axes[row].map(&self.columns[row].1[index], (y1, y0));
            // Measured values repeat; one marker in one place is enough.
            if seen.insert((x, y, self.classes[index])) {
                mark(area, self.classes[index], (x, y), 3, 0.75)?;
            }
        }
        Ok(())
    }

    /// Writes ticks and names at the outer side of the panels at the left and at the foot.
    fn label_panel(
        &self,
        area: &Area,
        (row, column): (usize, usize),
        axes: &[Axis],
        [(x0, y0), (x1, y1)]: [(i32, i32); 2],
    ) -> std::result::Result<(), Failure> {
        let unit = short(&self.unit, 12);
        let most = self.panel() as usize / 9;
        let name = |index: usize| match unit.as_str() {
            "" => short(&self.columns[index].0, most),
            _ => format!("{} ({unit})", short(&self.columns[index].0, most.saturating_sub(unit.len() + 3).max(4))),
        };
        let tick = INK.mix(0.6).stroke_width(px(1) as u32);
        if row + 1 == self.columns.len() {
            for (place, label) in axes[column].ticks() {
                let x = axes[column].map(place, (x0, x1));
                area.draw(&PathElement::new(vec![(x, y1), (x, y1 + px(4))], tick))?;
                let style = text(13, HPos::Center, VPos::Center);
                area.draw(&Text::new(label.clone(), (x, y1 + px(16)), style))?;
            }
            let centre = ((x0 + x1) / 2, y1 + px(42));
            area.draw(&Text::new(name(column), centre, text(15, HPos::Center, VPos::Center)))?;
        }
        if column == 0 {
            // The first panel counts rows, which have no scale worth reading.
            let ticks = if row == 0 { &[][..] } else { axes[row].ticks() };
            for (place, label) in ticks {
                let y = axes[row].map(place, (y1, y0));
                area.draw(&PathElement::new(vec![(x0 - px(4), y), (x0, y)], tick))?;
                area.draw(&Text::new(label.clone(), (x0 - px(8), y), text(13, HPos::Right, VPos::Center)))?;
            }
            let label = if row == 0 { "rows".to_string() } else { name(row) };
            let style = text(15, HPos::Center, VPos::Center).transform(FontTransform::Rotate270);
            area.draw(&Text::new(label, (px(16), (y0 + y1) / 2), style))?;
        }
        Ok(())
    }

    /// For each class an outline of how often its values occur.
    fn paint_histogram(
        &self,
        area: &Area,
        column: usize,
        axis: &Axis,
        [(x0, y0), (x1, y1)]: [(i32, i32); 2],
    ) -> std::result::Result<(), Failure> {
        const BINS: usize = 16;
        let mut counts = vec![[0usize; BINS]; self.names.len()];
        for (value, class) in self.columns[column].1.iter().zip(&self.classes) {
            let bin = axis.map(value, (0, BINS as i32 * 1000)) as usize / 1000;
            counts[*class][bin.min(BINS - 1)] += 1;
        }
        let most = counts.iter().flatten().max().copied().unwrap_or(0).max(1);
        let height = f64::from(y1 - y0) * 0.9;
        for (class, counts) in counts.iter().enumerate().filter(|(_, counts)| counts.iter().any(|count| *count > 0)) {
            let mut outline = vec![(x0, y1)];
            for (bin, count) in (0..).zip(counts) {
                let y = y1 - (height * *count as f64 / most as f64) as i32;
                let at = |bin: i32| x0 + (x1 - x0) * bin / BINS as i32;
                outline.extend([(at(bin), y), (at(bin + 1), y)]);
            }
            outline.push((x1, y1));
            area.draw(&Polygon::new(outline.clone(), colour(class).mix(0.25)))?;
            area.draw(&PathElement::new(outline, colour(class).stroke_width(px(3) as u32 / 2)))?;
        }
        Ok(())
    }

    /// Names the classes in the free corner, or in the only panel.
    fn legend(&self, area: &Area) -> std::result::Result<(), Failure> {
        let names: Vec<String> = self.names.iter().map(|name| short(name, 28)).collect();
        let widest = names.iter().map(|name| text_width(name, 16)).max().unwrap_or(0);
        let right = LEFT + self.columns.len() as u32 * self.panel();
        let x = right.saturating_sub(widest + 24);
        let mut y = TOP + 20;
        for (class, name) in names.into_iter().enumerate() {
            mark(area, class, (px(x), px(y)), 6, 1.0)?;
            area.draw(&Text::new(name, (px(x + 14), px(y)), text(16, HPos::Left, VPos::Center)))?;
            y += 24;
        }
        for note in self.notes() {
            area.draw(&Text::new(note, (px(right - 6), px(y)), text(14, HPos::Right, VPos::Center)))?;
            y += 20;
        }
        Ok(())
    }

    /// What the figure does not show.
    fn notes(&self) -> Vec<String> {
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
                if rows == 0 { "-".to_string() } else { super::axis::number(sum / rows as f64) }
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

    #[test]
    fn see() {
        let text = include_str!("../iris/iris_training.csv");
        let rows: Vec<Vec<f32>> =
            text.lines().skip(1).map(|l| l.split(',').map(|c| c.parse().unwrap()).collect()).collect();
        let col = |i: usize| Column::from(rows.iter().map(|r| r[i]).collect::<Vec<f32>>());
        let f = Frame::new([
            ("SepalLength", col(0)),
            ("SepalWidth", col(1)),
            ("PetalLength", col(2)),
            ("PetalWidth", col(3)),
        ])
        .unwrap();
        let y = col(4).cast(crate::core::DType::Int32).unwrap();
        let s = ScatterMatrix::new(&f, &y)
            .unwrap()
            .class_names(["Setosa", "Versicolor", "Virginica"])
            .unwrap()
            .unit("cm")
            .title("Iris: 120 flowers to train on");
        println!("{s}");
        std::fs::write("/tmp/plotshot/scatter.svg", s.svg()).unwrap();
        let s = ScatterMatrix::new(&f.select(&["PetalLength"]).unwrap(), &y).unwrap();
        std::fs::write("/tmp/plotshot/scatter1.svg", s.svg()).unwrap();
        let s = ScatterMatrix::new(&f.select(&["PetalLength", "PetalWidth"]).unwrap(), &y).unwrap();
        std::fs::write("/tmp/plotshot/scatter2.svg", s.svg()).unwrap();
    }
}
