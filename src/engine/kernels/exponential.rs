//! `e^x` and `ln x` of float32 without branches, so that the compiler computes many lanes at once.

use super::dispatch::Level;
use super::real::Real;
use std::f32::consts::LOG2_E;

/// ln 2 in two parts: the first has so few digits that its product with a whole number is exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// Added to a number below 2²² it leaves the nearest whole number in the last digits.
const ROUNDER: f32 = 12_582_912.0;

/// `e^x` within 2 units in the last place; 0 below -104, infinite above 88.73.
#[inline(always)]
pub(super) fn exponential<V: Level>(x: f32) -> f32 {
    // Beyond these bounds the result is 0 or infinite. Comparisons are false for NaN, so NaN passes.
    let x = if x < -105.0 { -105.0 } else { x };
    let x = if x > 89.0 { 89.0 } else { x };
    let rounded = x.multiply_add::<V>(LOG2_E, ROUNDER);
    let exponent = (rounded.to_bits() as i32).wrapping_sub(ROUNDER.to_bits() as i32);
    let whole = rounded - ROUNDER;
    let rest = whole.multiply_add::<V>(-LN_2_HIGH, x);
    let rest = whole.multiply_add::<V>(-LN_2_LOW, rest);
    // The first terms of the series; the next one is below 1e-8 for |rest| <= ln 2 / 2.
    let series = (1.0f32 / 5040.0)
        .multiply_add::<V>(rest, 1.0 / 720.0)
        .multiply_add::<V>(rest, 1.0 / 120.0)
        .multiply_add::<V>(rest, 1.0 / 24.0)
        .multiply_add::<V>(rest, 1.0 / 6.0)
        .multiply_add::<V>(rest, 0.5);
    let power = (series * rest).multiply_add::<V>(rest, rest) + 1.0;
    // In two factors, since 2^-150 and 2^128 are no normal numbers.
    let half = exponent >> 1;
    power * power_of_two(half) * power_of_two(exponent.wrapping_sub(half))
}

#[inline(always)]
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits((exponent.wrapping_add(127) as u32) << 23)
}

/// `ln x` within 2 units in the last place, for normal positive numbers, infinity and NaN.
#[inline(always)]
pub(super) fn logarithm<V: Level>(x: f32) -> f32 {
    // x = mantissa · 2^exponent with the mantissa between √½ and √2.
    let shifted = x.to_bits().wrapping_sub(std::f32::consts::FRAC_1_SQRT_2.to_bits()) as i32;
    let exponent = (shifted >> 23) as f32;
    let mantissa = f32::from_bits(x.to_bits().wrapping_sub((shifted & !0x7f_ffff) as u32));
    // ln m = 2 artanh((m - 1) / (m + 1)), whose series has odd terms only.
    let m = mantissa - 1.0;
    let ratio = m / (mantissa + 1.0);
    let square = ratio * ratio;
    let series = (1.0f32 / 9.0)
        .multiply_add::<V>(square, 1.0 / 7.0)
        .multiply_add::<V>(square, 0.2)
        .multiply_add::<V>(square, 1.0 / 3.0);
    let tail = (ratio + ratio) * square * series;
    // 2r = m - m·r, where m is exact and the product small.
    let low = exponent.multiply_add::<V>(LN_2_LOW, tail - m * ratio);
    let result = exponent.multiply_add::<V>(LN_2_HIGH, m + low);
    if x < f32::INFINITY { result } else { x }
}

#[cfg(test)]
mod tests {
    use super::super::dispatch::{Routine, dispatch};
    use super::*;

    struct Both<const L: usize>([f32; L]);

    impl<const L: usize> Routine for Both<L> {
        type Output = ([f32; L], [f32; L]);
        #[inline(always)]
        fn run<V: Level>(self) -> Self::Output {
            let (mut exponentials, mut logarithms) = (self.0, self.0);
            f32::exponentials::<V>(&mut exponentials, &self.0);
            f32::logarithms::<V>(&mut logarithms, &self.0);
            (exponentials, logarithms)
        }
    }

    /// Without fused multiplications.
    struct Plain;
    impl Level for Plain {
        const FUSED: bool = false;
        const BYTES: usize = 16;
    }

    fn units(found: f32, exact: f64) -> f64 {
        let unit = f64::from((exact as f32).abs().next_up()) - f64::from((exact as f32).abs());
        (f64::from(found) - exact).abs() / unit
    }

    #[test]
    fn exponentials_are_within_two_units_everywhere() {
        let mut worst = 0f64;
        let count = 2_000_000;
        for index in 0..count {
            let x = -104.5 + (193.2 * f64::from(index) / f64::from(count)) as f32;
            let exact = f64::from(x).exp();
            if exact < f64::from(f32::MAX) {
                let (fused, _) = dispatch(Both([x; 1]));
                worst = worst.max(units(fused[0], exact)).max(units(exponential::<Plain>(x), exact));
            }
        }
        assert!(worst <= 2.0, "{worst} units");
    }

    #[test]
    fn logarithms_are_within_two_units_for_normal_numbers() {
        let mut worst = 0f64;
        for bits in (f32::MIN_POSITIVE.to_bits()..f32::INFINITY.to_bits()).step_by(997) {
            let x = f32::from_bits(bits);
            let exact = f64::from(x).ln();
            let (_, fused) = dispatch(Both([x; 1]));
            worst = worst.max(units(fused[0], exact)).max(units(logarithm::<Plain>(x), exact));
        }
        assert!(worst <= 2.0, "{worst} units");
    }

    #[test]
    fn edges_are_those_of_the_mathematical_functions() {
        let (exponentials, logarithms) =
            dispatch(Both([0.0, f32::NEG_INFINITY, f32::INFINITY, f32::NAN, -104.5, 88.8, -0.0, 1.0]));
        assert_eq!(exponentials[..3], [1.0, 0.0, f32::INFINITY]);
        assert!(exponentials[3].is_nan());
        assert_eq!(exponentials[4..7], [0.0, f32::INFINITY, 1.0]);
        assert_eq!(logarithms[2], f32::INFINITY);
        assert!(logarithms[3].is_nan());
        assert_eq!(logarithms[7], 0.0);
    }
}
