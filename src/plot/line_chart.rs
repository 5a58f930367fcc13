//! A chart of values over steps.

use super::axis::{Axis, number};
use super::palette::{INK, colour, mark};
use super::series::{Series, sparkline};
use super::sheet::{Area, Failure, document, px, short, show_and_save, text, text_width};
use super::{PlotError, Scale};
use crate::core::Result;
use crate::notebook::Table;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use std::fmt;

/// One or several runs as lines over their steps, such as the loss on the CPU and on the TPU.
///
/// Each run has a colour and a marker of its own. A value that has no place, such as NaN, leaves a gap, and is counted
/// below the chart. A long run is thinned to the lowest and highest of each stretch. In a terminal the chart is a table
/// with a small curve for each run.
///
/// # Examples
/// ```
/// use tpulab::plot::{LineChart, Scale};
///
/// let chart = LineChart::loss().scale(Scale::Log).series("cpu", 1.., &[1.1, 0.6, 0.35, 0.2])?;
/// assert!(chart.svg().starts_with("<svg"));
/// println!("{chart}");
/// # Ok::<(), tpulab::core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LineChart {
    title: String,
    x_label: String,
    y_label: String,
    scale: Scale,
    series: Vec<Series>,
}

const SIZE: (u32, u32) = (800, 480);
/// Of all series together, so that the document stays small.
const POINTS: usize = 6000;
const LEGEND_SIZE: u32 = 16;

impl LineChart {
    /// A chart without series, over `global step`.
    pub fn new(title: impl Into<String>) -> Self {
        LineChart {
            title: title.into(),
            x_label: "global step".to_string(),
            y_label: String::new(),
            scale: Scale::Linear,
            series: Vec::new(),
        }
    }

    /// A chart for losses.
    pub fn loss() -> Self {
        LineChart::new("Loss").y_label("loss, mean over the batch")
    }

    /// A chart for accuracies between 0 and 1.
    pub fn accuracy() -> Self {
        LineChart::new("Accuracy").y_label("accuracy, share of examples")
    }

    /// Sets what the steps count; `global step` by default.
    pub fn x_label(mut self, label: impl Into<String>) -> Self {
        self.x_label = label.into();
        self
    }

    /// Sets what the values are, with their unit; nothing by default.
    pub fn y_label(mut self, label: impl Into<String>) -> Self {
        self.y_label = label.into();
        self
    }

    /// Sets how the values lie along their axis; linear by default.
    pub fn scale(mut self, scale: Scale) -> Self {
        self.scale = scale;
        self
    }

    /// Adds a run: a step for each value. Steps may come from a range without end, as `1..`.
    ///
    /// # Errors
    /// `PLOT001` if there are more or fewer steps than values, `PLOT002` if another run has this name, `PLOT003` if a
    /// step is smaller than the one before it.
    pub fn series(mut self, name: &str, steps: impl IntoIterator<Item = u64>, values: &[f64]) -> Result<Self> {
        if self.series.iter().any(|known| known.name == name) {
            return Err(PlotError::DuplicateName { name: name.to_string() }.into());
        }
        self.series.push(Series::new(name, steps, values)?);
        Ok(self)
    }

    /// The chart as an SVG document, the same for the same values.
    pub fn svg(&self) -> String {
        document(SIZE, &self.title, &self.to_string(), |area| self.paint(area))
    }

    fn paint(&self, area: &Area) -> std::result::Result<(), Failure> {
        let middle = px(SIZE.0 / 2);
        area.draw(&Text::new(short(&self.title, 70), (middle, px(20)), text(20, HPos::Center, VPos::Center)))?;
        let rows = self.legend(area)?;
        let note = self.note();
        let below = if note.is_some() { 28 } else { 4 };
        let plot = area.margin(px(44 + rows * 26), px(below), px(8), px(28));
        let lines: Vec<Vec<Vec<(f64, f64)>>> = self
            .series
            .iter()
            .map(|series| series.lines(self.scale, (POINTS / self.series.len()).clamp(60, 1400)))
            .collect();
        let points = || lines.iter().flatten().flatten();
        let x = Axis::around(points().map(|point| point.0), Scale::Linear, 0.0);
        let y = Axis::around(points().map(|point| point.1), self.scale, 0.05);
        let mut chart =
            ChartBuilder::on(&plot).x_label_area_size(px(50)).y_label_area_size(px(84)).build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(INK.mix(0.15).stroke_width(px(1) as u32))
            .axis_style(INK.mix(0.6).stroke_width(px(1) as u32))
            .label_style(text(15, HPos::Center, VPos::Center))
            .set_all_tick_mark_size(px(5))
            .axis_desc_style(text(16, HPos::Center, VPos::Center))
            .x_desc(short(&self.x_label, 60))
            .y_desc(short(&self.y_label, 40))
            .draw()?;
        let drawn: Vec<Vec<Vec<(i32, i32)>>> = lines
            .iter()
            .map(|lines| {
                lines.iter().map(|line| line.iter().map(|point| chart.backend_coord(point)).collect()).collect()
            })
            .collect();
        for (index, lines) in drawn.iter().enumerate() {
            for line in lines.iter().filter(|line| line.len() > 1) {
                area.draw(&PathElement::new(line.clone(), colour(index).stroke_width(px(2) as u32)))?;
            }
        }
        // No line may cover a marker.
        for (index, lines) in drawn.iter().enumerate() {
            self.marks(area, index, lines)?;
        }
        if points().next().is_none() {
            let place = (middle + px(42), px(SIZE.1 / 2));
            area.draw(&Text::new("no values to show", place, text(18, HPos::Center, VPos::Center)))?;
        }
        match note {
            None => Ok(()),
            Some(note) => {
                area.draw(&Text::new(note, (px(SIZE.0 - 28), px(SIZE.1 - 16)), text(14, HPos::Right, VPos::Center)))
            }
        }
    }

    /// A marker at each of few points, at some of many, and wherever a point has no line to be seen by.
    fn marks(&self, area: &Area, index: usize, lines: &[Vec<(i32, i32)>]) -> std::result::Result<(), Failure> {
        const MANY: usize = 40;
        const APART: i32 = 90;
        let count: usize = lines.iter().map(Vec::len).sum();
        // Where runs lie on each other, their markers still stand side by side.
        let offset = px(20) + px(SIZE.0) * index as i32 / 8 % px(APART as u32);
        let mut next = i32::MIN;
        let alone = lines.iter().filter(|line| line.len() == 1).count();
        for line in lines {
            for &(x, y) in line {
                let is_alone = line.len() == 1 && alone <= 10 * MANY;
                let is_due = x >= next;
                if is_due {
                    let period = px(APART as u32);
                    next = (x - offset).div_euclid(period) * period + period + offset;
                }
                if count <= MANY || is_alone || is_due {
                    mark(area, index, (x, y), 5, 1.0)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the names of the runs beside their signs, and says in how many rows.
    fn legend(&self, area: &Area) -> std::result::Result<u32, Failure> {
        const START: u32 = 112;
        let (mut x, mut row) = (START, 0);
        for (index, series) in self.series.iter().enumerate() {
            let name = short(&series.name, 60);
            let width = 56 + text_width(&name, LEGEND_SIZE);
            if x + width > SIZE.0 && x > START {
                (x, row) = (START, row + 1);
            }
            let y = px(52 + row * 26);
            let line = vec![(px(x), y), (px(x + 32), y)];
            area.draw(&PathElement::new(line, colour(index).stroke_width(px(2) as u32)))?;
            mark(area, index, (px(x + 16), y), 5, 1.0)?;
            area.draw(&Text::new(name, (px(x + 40), y), text(LEGEND_SIZE, HPos::Left, VPos::Center)))?;
            x += width;
        }
        Ok(if self.series.is_empty() { 0 } else { row + 1 })
    }

    /// How many values the chart does not show, and why.
    fn note(&self) -> Option<String> {
        let count: usize = self.series.iter().map(|series| series.left_out(self.scale)).sum();
        let values = if count == 1 { "value" } else { "values" };
        let reason = match self.scale {
            Scale::Linear => "not finite",
            Scale::Log => "not finite or not positive",
        };
        (count > 0).then(|| format!("{count} {values} left out: {reason}"))
    }
}

show_and_save!(LineChart);

/// A table with a row for each run; all small curves have the same height and width.
impl fmt::Display for LineChart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const WIDTH: usize = 32;
        let all: Vec<(f64, f64)> = self.series.iter().flat_map(|series| series.known(self.scale)).collect();
        let (from, to) = Axis::around(all.iter().map(|point| point.0), Scale::Linear, 0.0).ends();
        let (low, high) = all
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), point| (low.min(point.1), high.max(point.1)));
        let mut table = Table::new(["run", "values", "first", "curve", "last", "lowest", "highest"]);
        for series in &self.series {
            // The mean of each column of the curve.
            let mut columns = [(0.0, 0u32); WIDTH];
            for (step, place) in series.known(self.scale) {
                let column = ((step - from) / (to - from) * WIDTH as f64) as usize;
                let (sum, count) = &mut columns[column.min(WIDTH - 1)];
                (*sum, *count) = (*sum + place, *count + 1);
            }
            let means = columns.map(|(sum, count)| (count > 0).then(|| sum / f64::from(count)));
            let values = || series.values.iter().copied().filter(|value| self.scale.place(*value).is_some());
            let cell = |value: Option<f64>| value.map_or_else(|| "-".to_string(), number);
            table = table.row([
                short(&series.name, 60),
                series.values.len().to_string(),
                cell(series.values.first().copied()),
                sparkline(&means, (low, high)),
                cell(series.values.last().copied()),
                cell(values().min_by(f64::total_cmp)),
                cell(values().max_by(f64::total_cmp)),
            ]);
        }
        write!(f, "{}\n{table}", short(&self.title, 70))?;
        self.note().map_or(Ok(()), |note| write!(f, "\n{note}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn see() {
        let a: Vec<f64> = (1..=1000)
            .map(|s| 1.1 * (-(s as f64) / 150.0).exp() + 0.06 + 0.03 * ((s * 7919) % 13) as f64 / 13.0)
            .collect();
        let b: Vec<f64> = (1..=1000)
            .map(|s| 1.1 * (-(s as f64) / 170.0).exp() + 0.05 + 0.03 * ((s * 6007) % 17) as f64 / 17.0)
            .collect();
        let c = LineChart::loss()
            .series("Estimator, CPU", 1.., &a)
            .unwrap()
            .series("TPUEstimator, 8 cores × 16 rows", 1.., &b)
            .unwrap();
        std::fs::write("/tmp/plotshot/loss.svg", c.svg()).unwrap();
        std::fs::write("/tmp/plotshot/log.svg", c.clone().scale(Scale::Log).svg()).unwrap();
        println!("{c}");
        let mut many = LineChart::new("Seven runs with <b>long</b> names").y_label("loss");
        for i in 0..9 {
            let mut v: Vec<f64> = (0..3000)
                .map(|s| (i + 1) as f64 * 1000.0 + ((s * 7919 + i * 31) % 101) as f64 * 5.0 + s as f64 / 10.0)
                .collect();
            v[100] = f64::NAN;
            many = many.series(&format!("learning rate {} with Adagrad", i), 0.., &v).unwrap();
        }
        std::fs::write("/tmp/plotshot/many.svg", many.svg()).unwrap();
        let few = LineChart::accuracy()
            .series("test", [100, 200, 300, 400, 500], &[0.5, 0.9, f64::NAN, 0.95, 0.966])
            .unwrap();
        std::fs::write("/tmp/plotshot/few.svg", few.svg()).unwrap();
        println!("{few}");
        std::fs::write("/tmp/plotshot/empty.svg", LineChart::accuracy().svg()).unwrap();
        std::fs::write("/tmp/plotshot/one.svg", LineChart::accuracy().series("test", [7], &[0.5]).unwrap().svg())
            .unwrap();
    }
}
