//! The two number types that kernels compute with.

use super::dispatch::Level;
use super::exponential;
use ndarray::LinalgScalar;

/// `f32` or `f64`.
pub(crate) trait Real: LinalgScalar + PartialOrd + std::ops::Neg<Output = Self> {
    /// `self * factor + term` in one rounding where that is one instruction.
    fn multiply_add<V: Level>(self, factor: Self, term: Self) -> Self;
    /// Replaces each lane by `e` to its power, within 2 units in the last place.
    fn exponentials<V: Level, const L: usize>(lanes: &mut [Self; L]);
    /// Replaces each lane by its natural logarithm, within 2 units in the last place.
    fn logarithms<V: Level, const L: usize>(lanes: &mut [Self; L]);
    fn negative_infinity() -> Self;
    fn is_nan(self) -> bool;
}

impl Real for f32 {
    #[inline(always)]
    fn multiply_add<V: Level>(self, factor: f32, term: f32) -> f32 {
        if V::FUSED { self.mul_add(factor, term) } else { self * factor + term }
    }

    #[inline(always)]
    fn exponentials<V: Level, const L: usize>(lanes: &mut [f32; L]) {
        lanes.iter_mut().for_each(|lane| *lane = exponential::exponential::<V>(*lane));
    }

    #[inline(always)]
    fn logarithms<V: Level, const L: usize>(lanes: &mut [f32; L]) {
        lanes.iter_mut().for_each(|lane| *lane = exponential::logarithm::<V>(*lane));
    }

    #[inline(always)]
    fn negative_infinity() -> f32 {
        f32::NEG_INFINITY
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        f32::is_nan(self)
    }
}

impl Real for f64 {
    #[inline(always)]
    fn multiply_add<V: Level>(self, factor: f64, term: f64) -> f64 {
        if V::FUSED { self.mul_add(factor, term) } else { self * factor + term }
    }

    #[inline(always)]
    fn exponentials<V: Level, const L: usize>(lanes: &mut [f64; L]) {
        lanes.iter_mut().for_each(|lane| *lane = f64::exp(*lane));
    }

    #[inline(always)]
    fn logarithms<V: Level, const L: usize>(lanes: &mut [f64; L]) {
        lanes.iter_mut().for_each(|lane| *lane = f64::ln(*lane));
    }

    #[inline(always)]
    fn negative_infinity() -> f64 {
        f64::NEG_INFINITY
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }
}
