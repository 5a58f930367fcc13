//! A chart of values over steps.

use super::axis::{number, span};
use super::series::{Series, sparkline};
use super::sheet::{document, short, show_and_save};
use super::{PlotError, Scale};
use crate::core::Result;
use crate::notebook::Table;
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
#[derive(Clone, PartialEq)]
pub struct LineChart {
    pub(super) title: String,
    pub(super) x_label: String,
    pub(super) y_label: String,
    pub(super) scale: Scale,
    pub(super) series: Vec<Series>,
}

/// Each colour comes twice, with two markers.
const MOST_SERIES: usize = 14;

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
    /// step is smaller than the one before it, `PLOT004` for more than 14 runs.
    pub fn series(mut self, name: &str, steps: impl IntoIterator<Item = u64>, values: &[f64]) -> Result<Self> {
        self.series.push(Series::new(name, steps, values)?);
        PlotError::check_count("runs", self.series.len(), MOST_SERIES)?;
        PlotError::check_names(&self.series.iter().map(|series| series.name.clone()).collect::<Vec<_>>())?;
        Ok(self)
    }

    /// The chart as an SVG document, the same for the same values.
    pub fn svg(&self) -> String {
        let size = self.size();
        document(size, &self.title, &self.to_string(), |area| self.paint(area, size))
    }

    /// How many values the chart does not show, and why.
    pub(super) fn note(&self) -> Option<String> {
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
        let (from, to) = span(all.iter().map(|point| point.0)).unwrap_or_default();
        let heights = span(all.iter().map(|point| point.1)).unwrap_or_default();
        let mut table = Table::new(["run", "values", "first", "curve", "last", "lowest", "highest"]);
        for series in &self.series {
            // The mean of each column of the curve.
            let mut columns = [(0.0, 0u32); WIDTH];
            for (step, place) in series.known(self.scale) {
                let column = ((step - from) / (to - from).max(1.0) * WIDTH as f64) as usize;
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
                sparkline(&means, heights).trim_end().to_string(),
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
    use crate::storage::Location;

    fn chart(values: &[f64]) -> LineChart {
        LineChart::loss().series("cpu", 1.., values).unwrap()
    }

    #[test]
    fn charts_without_values_say_so() {
        assert!(LineChart::loss().svg().contains("no values to show"));
        assert!(chart(&[f64::NAN]).svg().contains("no values to show"));
        assert_eq!(
            chart(&[]).to_string(),
            "Loss\nrun  values  first  curve  last  lowest  highest\ncpu       0      -            -       -        -"
        );
    }

    #[test]
    fn one_value_is_a_marker() {
        let svg = chart(&[0.5]).svg();
        // One in the legend, one in the chart.
        assert_eq!((svg.matches("<circle").count(), svg.matches("no values").count()), (2, 0));
    }

    #[test]
    fn values_that_are_not_finite_are_counted() {
        let chart = chart(&[1.0, f64::NAN, 0.5, f64::INFINITY, -1.0]);
        assert!(chart.to_string().ends_with("\n2 values left out: not finite"));
        assert!(chart.svg().contains("2 values left out: not finite"));
        let chart = chart.scale(Scale::Log);
        assert!(chart.to_string().ends_with("\n3 values left out: not finite or not positive"));
    }

    #[test]
    fn a_terminal_shows_each_run_as_a_small_curve() {
        let chart = LineChart::accuracy().series("test", [0, 1, 2], &[0.0, 0.5, 1.0]).unwrap();
        assert_eq!(
            chart.to_string(),
            "Accuracy\nrun   values  first  curve                             last  lowest  highest\n\
             test       3      0  ▁               ▅              █     1       0        1"
        );
    }

    #[test]
    fn the_same_values_give_the_same_bytes() {
        let values: Vec<f64> = (1..500).map(|step| f64::from(step).recip()).collect();
        assert_eq!(chart(&values).svg(), chart(&values).svg());
    }

    #[test]
    fn large_runs_have_small_pictures() {
        let steep: Vec<f64> = (0..100_000u32).map(|step| f64::from(step.wrapping_mul(2_654_435_761) >> 8)).collect();
        let gaps: Vec<f64> = (0..428).map(|step| if step % 2 == 0 { 1.0 } else { f64::NAN }).collect();
        for values in [steep, gaps] {
            let mut chart = LineChart::new("many");
            for run in 0..14 {
                chart = chart
                    .series(&format!("run {run} of a very long name that fills a whole row"), 0.., &values)
                    .unwrap();
            }
            assert!(chart.svg().len() < 200_000, "{}", chart.svg().len());
            let error = chart.series("one more", 0.., &values).unwrap_err().to_string();
            assert!(error.starts_with("PLOT004: expected 1 to 14 runs, found 15;"), "{error}");
        }
    }

    #[test]
    fn a_name_comes_once() {
        let error = chart(&[1.0]).series("cpu", 1.., &[2.0]).unwrap_err();
        assert_eq!(error.to_string(), "PLOT002: `cpu` comes twice; give each a name of its own");
    }

    #[test]
    fn foreign_text_stays_text() {
        let name = "<script>alert(\"1\")</script>\nEVCXR_END_CONTENT";
        let chart = LineChart::new(name).x_label(name).y_label(name).series(name, 1.., &[1.0]).unwrap();
        for text in [chart.svg(), chart.to_string()] {
            assert!(!text.contains("EVCXR_"), "{text}");
        }
        assert!(!chart.svg().contains("<script"));
    }

    #[test]
    fn a_chart_is_saved_whole() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::local(folder.path()).join("charts/loss.svg").unwrap();
        chart(&[1.0, 0.5]).save(&location).unwrap();
        assert_eq!(location.read().unwrap(), chart(&[1.0, 0.5]).svg().into_bytes());
        assert_eq!(chart(&[1.0]).save(&Location::local(folder.path())).unwrap_err().code(), "STOR002");
    }
}
