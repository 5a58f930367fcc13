//! The values of one run, and how many of them a figure can use.

use super::{PlotError, Scale};

/// Values at steps.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub name: String,
    pub steps: Vec<u64>,
    pub values: Vec<f64>,
}

impl Series {
    /// A series whose steps rise, each with its value.
    pub fn new(name: &str, steps: impl IntoIterator<Item = u64>, values: &[f64]) -> Result<Self, PlotError> {
        // Of steps without end, as in `1..`, as many are taken as there are values; of a list, one more would be wrong.
        let steps = steps.into_iter();
        let most = if steps.size_hint().0 == usize::MAX { values.len() } else { values.len().saturating_add(1) };
        let steps: Vec<u64> = steps.take(most).collect();
        let name = name.to_string();
        PlotError::check_lengths((&format!("steps of series `{name}`"), steps.len()), ("values", values.len()))?;
        if let Some(pair) = steps.windows(2).find(|pair| pair[1] < pair[0]) {
            return Err(PlotError::StepsGoBack { name, from: pair[0], to: pair[1] });
        }
        Ok(Series { name, steps, values: values.to_vec() })
    }

    /// Each step with the place of its value, if it has one.
    pub fn places(&self, scale: Scale) -> impl Iterator<Item = (f64, Option<f64>)> {
        self.steps.iter().zip(&self.values).map(move |(&step, &value)| (step as f64, scale.place(value)))
    }

    /// The steps and places of the values that have one.
    pub fn known(&self, scale: Scale) -> impl Iterator<Item = (f64, f64)> {
        self.places(scale).filter_map(|(step, place)| Some((step, place?)))
    }

    /// How many values have no place.
    pub fn left_out(&self, scale: Scale) -> usize {
        self.places(scale).filter(|(_, place)| place.is_none()).count()
    }

    /// The unbroken parts of the line, at most about `most` points in all.
    ///
    /// Of a longer series the lowest and the highest of each stretch are kept, so that no peak is lost; a gap that is
    /// shorter than a stretch does not show.
    pub fn lines(&self, scale: Scale, most: usize) -> Vec<Vec<(f64, f64)>> {
        let points: Vec<(f64, Option<f64>)> = self.places(scale).collect();
        let stretch = if points.len() <= most { 1 } else { points.len().div_ceil(most / 2) };
        let mut lines = vec![Vec::new()];
        for part in points.chunks(stretch) {
            let known = part.iter().enumerate().filter_map(|(index, &(step, place))| Some((index, step, place?)));
            let lowest = known.clone().min_by(|one, other| one.2.total_cmp(&other.2));
            let highest = known.max_by(|one, other| one.2.total_cmp(&other.2));
            let (Some(lowest), Some(highest)) = (lowest, highest) else {
                lines.push(Vec::new());
                continue;
            };
            let (first, second) = if lowest.0 <= highest.0 { (lowest, highest) } else { (highest, lowest) };
            let line = lines.last_mut().expect("there is always one");
            line.push((first.1, first.2));
            if first.0 != second.0 {
                line.push((second.1, second.2));
            }
        }
        lines.retain(|line| !line.is_empty());
        lines
    }
}

/// A line of bars that are as high as the values; a place without values stays empty.
pub(super) fn sparkline(places: &[Option<f64>], (low, high): (f64, f64)) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let bar = |place: &Option<f64>| match place {
        None => ' ',
        Some(_) if low >= high => BARS[0],
        Some(place) => BARS[((place - low) / (high - low) * 7.0).round().clamp(0.0, 7.0) as usize],
    };
    places.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> Series {
        Series::new("cpu", 1.., values).unwrap_or_else(|error| panic!("{error:?}"))
    }

    #[test]
    fn a_step_is_needed_for_each_value() {
        let lengths = |left: usize| PlotError::Lengths {
            left: ("steps of series `cpu`".to_string(), left),
            right: ("values".to_string(), 2),
        };
        assert_eq!(Series::new("cpu", [1], &[0.5, 0.4]), Err(lengths(1)));
        assert_eq!(Series::new("cpu", [1, 2, 3], &[0.5, 0.4]), Err(lengths(3)));
    }

    #[test]
    fn steps_do_not_go_back() {
        let found = Series::new("cpu", [1, 5, 2], &[0.5, 0.4, 0.3]);
        assert_eq!(found, Err(PlotError::StepsGoBack { name: "cpu".to_string(), from: 5, to: 2 }));
        assert!(Series::new("cpu", [1, 1], &[0.5, 0.4]).is_ok());
    }

    #[test]
    fn values_without_a_place_leave_a_gap() {
        let series = series(&[1.0, f64::NAN, 2.0, 3.0, f64::INFINITY]);
        assert_eq!(series.lines(Scale::Linear, 100), [vec![(1.0, 1.0)], vec![(3.0, 2.0), (4.0, 3.0)]]);
        assert_eq!(series.left_out(Scale::Linear), 2);
        assert!(self::series(&[]).lines(Scale::Log, 100).is_empty());
    }

    #[test]
    fn a_million_values_become_few_without_losing_a_peak() {
        let mut values: Vec<f64> = (0..1_000_000).map(|step| f64::from(step % 7)).collect();
        values[123_456] = 100.0;
        values[765_432] = -100.0;
        let lines = series(&values).lines(Scale::Linear, 1000);
        assert!(lines.len() == 1 && lines[0].len() <= 1000, "{}", lines[0].len());
        assert!(lines[0].contains(&(123_457.0, 100.0)) && lines[0].contains(&(765_433.0, -100.0)));
        assert!(lines[0].windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn bars_are_as_high_as_values() {
        assert_eq!(sparkline(&[Some(0.0), None, Some(0.5), Some(1.0)], (0.0, 1.0)), "▁ ▅█");
        assert_eq!(sparkline(&[Some(3.0)], (3.0, 3.0)), "▁");
    }
}
