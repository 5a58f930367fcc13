//! Where values lie along an axis, and which of them are written beside it.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::{Range, RangeInclusive};

/// How values lie along an axis.
///
/// # Examples
/// ```
/// use tpulab::plot::{LineChart, Scale};
/// let chart = LineChart::loss().series("cpu", 1.., &[1.0, 0.1, 0.0])?;
/// assert!(!chart.to_string().contains("left out"));
/// assert!(chart.scale(Scale::Log).to_string().contains("1 value left out: not finite or not positive"));
/// # Ok::<(), tpulab::core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally long.
    #[default]
    Linear,
    /// Equal ratios are equally long; only positive values have a place.
    Log,
}

impl Scale {
    /// The place of a value, if it has one: NaN, infinity and sizes that no number of single precision has do not.
    pub(super) fn place(self, value: f64) -> Option<f64> {
        match self {
            Scale::Linear => (value.abs() <= f64::from(f32::MAX)).then_some(value),
            Scale::Log => (value > 0.0 && value <= f64::from(f32::MAX)).then(|| value.log10()),
        }
    }
}

/// The places from end to end, and those that have a tick.
#[derive(Clone)]
pub(super) struct Axis {
    ends: (f64, f64),
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis on which all these places lie, with `margin` (a share of its length) beyond them.
    pub fn around(places: impl IntoIterator<Item = f64>, scale: Scale, margin: f64) -> Self {
        let (low, high) = span(places).unwrap_or((0.0, 1.0));
        // Places that are almost the same could not be told apart by their labels.
        let (middle, least) = (low / 2.0 + high / 2.0, (low.abs().max(high.abs()) * 1e-5).max(1e-300));
        let pad = if high - low >= least {
            (high - low) * margin
        } else if middle == 0.0 || scale == Scale::Log {
            0.5
        } else {
            middle.abs() * 0.1
        };
        let ends = (low - pad, high + pad);
        let ticks = match scale {
            Scale::Linear => linear_ticks(ends.0..=ends.1, 7.0, 0.0),
            Scale::Log => log_ticks(ends.0..=ends.1),
        };
        Axis { ends, ticks }
    }

    /// An axis from the first to the last step, with whole numbers.
    pub fn of_steps(steps: impl IntoIterator<Item = f64>) -> Self {
        let (first, last) = span(steps).unwrap_or((0.0, 1.0));
        let ends = if first < last { (first, last) } else { (first - 1.0, last + 1.0) };
        Axis { ends, ticks: linear_ticks(ends.0..=ends.1, 7.0, 1.0) }
    }

    /// The same places with at most about `most` ticks at equal distances, for a short axis.
    pub fn with_most_ticks(self, most: f64) -> Self {
        Axis { ticks: linear_ticks(self.ends.0..=self.ends.1, most, 0.0), ..self }
    }

    /// The places that have a tick, and what stands beside it.
    pub fn ticks(&self) -> &[(f64, String)] {
        &self.ticks
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (from, to): (i32, i32)) -> i32 {
        let (low, high) = self.ends;
        from + ((place - low) / (high - low) * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.iter().map(|tick| tick.0).collect()
    }

    fn range(&self) -> Range<f64> {
        self.ends.0..self.ends.1
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, place: &f64) -> String {
        self.ticks.iter().find(|tick| tick.0 == *place).map_or_else(String::new, |tick| tick.1.clone())
    }
}

/// The lowest and the highest, if there are any.
pub(super) fn span(places: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    places.into_iter().map(|place| (place, place)).reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
}

/// At most about `most` multiples of 1, 2 or 5 times a power of ten, all with as many decimals.
fn linear_ticks(range: RangeInclusive<f64>, most: f64, least_step: f64) -> Vec<(f64, String)> {
    let raw = (range.end() - range.start()) / most;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= raw);
    let step = step.unwrap_or(power * 10.0).max(least_step);
    let first = (range.start() / step).ceil();
    let places: Vec<f64> =
        (0..20).map(|tick| tidied((first + f64::from(tick)) * step)).filter(|place| range.contains(place)).collect();
    let texts: Vec<String> = places.iter().map(|place| number(*place)).collect();
    let decimals = |text: &String| text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let most = texts.iter().map(decimals).max().unwrap_or(0);
    let exponents = texts.iter().any(|text| text.contains('e'));
    let labels = places
        .iter()
        .zip(texts)
        .map(|(&place, text)| (place, if exponents { text } else { format!("{place:.most$}") }));
    labels.collect()
}

/// Powers of ten; where they are too few, also twice and five times each, or multiples of a step.
fn log_ticks(places: RangeInclusive<f64>) -> Vec<(f64, String)> {
    let (low, high) = (places.start().ceil() as i32, places.end().floor() as i32);
    let every = ((high - low) / 8 + 1) as usize;
    let of = |factors: &[f64], every| -> Vec<(f64, String)> {
        let powers = (low - 1..=high).filter(|power| power.rem_euclid(every) == 0);
        let values = powers.flat_map(|power| factors.iter().map(move |factor| tidied(factor * 10f64.powi(power))));
        values.map(|value| (value.log10(), number(value))).filter(|tick| places.contains(&tick.0)).collect()
    };
    let mut ticks = of(&[1.0], every as i32);
    if ticks.len() < 3 {
        ticks = of(&[1.0, 2.0, 5.0], 1);
    }
    if ticks.len() < 3 {
        let values = linear_ticks(10f64.powf(*places.start())..=10f64.powf(*places.end()), 7.0, 0.0);
        ticks = values.into_iter().map(|(value, label)| (value.log10(), label)).collect();
    }
    ticks
}

/// Without the last digits, in which sums and products of decimals are off.
fn tidied(value: f64) -> f64 {
    format!("{value:.10e}").parse().unwrap_or(value)
}

/// A number in few characters: at most seven digits, and with an exponent only where it is very large or small.
pub(super) fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.6e}").parse().unwrap_or(value);
    match rounded.abs() {
        0.0 => "0".to_string(),
        size if (1e-4..1e7).contains(&size) || !size.is_finite() => rounded.to_string(),
        _ => format!("{rounded:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(places: &[f64], scale: Scale) -> Vec<String> {
        let places = places.iter().filter_map(|value| scale.place(*value));
        Axis::around(places, scale, 0.05).ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_have_as_many_decimals() {
        assert_eq!(labels(&[0.03, 1.1], Scale::Linear), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&[0.0, 0.3], Scale::Linear), ["0.00", "0.05", "0.10", "0.15", "0.20", "0.25", "0.30"]);
        assert_eq!(labels(&[1.0, 1000.0], Scale::Linear), ["0", "200", "400", "600", "800", "1000"]);
        assert_eq!(labels(&[1e9, 3e9], Scale::Linear), ["1e9", "1.5e9", "2e9", "2.5e9", "3e9"]);
    }

    #[test]
    fn a_log_axis_has_powers_of_ten_or_finer_ticks() {
        assert_eq!(labels(&[0.001, 1.0], Scale::Log), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(labels(&[0.1, 1.0], Scale::Log), ["0.1", "0.2", "0.5", "1"]);
        assert_eq!(labels(&[0.30, 0.42], Scale::Log), ["0.30", "0.32", "0.34", "0.36", "0.38", "0.40", "0.42"]);
        assert!(labels(&[1e-30, 1e30], Scale::Log).len() <= 10);
    }

    #[test]
    fn one_value_and_none_have_an_axis_too() {
        assert!(labels(&[0.5], Scale::Linear).len() >= 2);
        assert!(labels(&[0.0], Scale::Linear).len() >= 2);
        assert!(labels(&[], Scale::Log).len() >= 2);
        for value in [1e16, -1e-310, f64::from(f32::MAX), f64::MIN_POSITIVE] {
            assert!(labels(&[value, value], Scale::Linear).len() <= 20);
            labels(&[value, value * (1.0 + 1e-15)], Scale::Log);
        }
    }

    #[test]
    fn steps_are_whole() {
        let labels = |steps: [f64; 2]| Axis::of_steps(steps).ticks.into_iter().map(|tick| tick.1).collect::<Vec<_>>();
        assert_eq!(labels([1.0, 3.0]), ["1", "2", "3"]);
        assert_eq!(labels([7.0, 7.0]), ["6", "7", "8"]);
        assert!(labels([0.0, u64::MAX as f64]).len() > 2);
    }

    #[test]
    fn near_places_have_different_labels() {
        let mut found = labels(&[0.9999, 1.0], Scale::Linear);
        found.dedup();
        assert!(found.len() > 3, "{found:?}");
    }

    #[test]
    fn what_has_no_place_is_left_out() {
        assert_eq!([f64::NAN, f64::INFINITY, 1e300].map(|value| Scale::Linear.place(value)), [None; 3]);
        assert_eq!([f64::NAN, 0.0, -1.0].map(|value| Scale::Log.place(value)), [None; 3]);
        assert_eq!(Scale::Log.place(100.0), Some(2.0));
    }

    #[test]
    fn numbers_are_short() {
        let texts = [0.1 + 0.2, 1e-7, 12_345_678.9, 0.0, -2.5, f64::NAN].map(number);
        assert_eq!(texts, ["0.3", "1e-7", "1.234568e7", "0", "-2.5", "NaN"]);
    }
}
