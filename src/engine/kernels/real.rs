//! The two number types that kernels compute with.

use super::dispatch::Level;
use super::exponential;
use ndarray::LinalgScalar;

/// `f32` or `f64`.
pub(crate) trait Real: LinalgScalar + PartialOrd + std::ops::Neg<Output = Self> {
    /// `self * factor + term` in one rounding where that is one instruction.
    fn multiply_add<V: Level>(self, factor: Self, term: Self) -> Self;
    /// Writes `e` to the power of each, within 2 units in the last place.
    fn exponentials<V: Level>(out: &mut [Self], values: &[Self]);
    /// Writes the natural logarithm of each, within 2 units in the last place.
    fn logarithms<V: Level>(out: &mut [Self], values: &[Self]);
    fn negative_infinity() -> Self;
    fn is_nan(self) -> bool;
}

impl Real for f32 {
    #[inline(always)]
    fn multiply_add<V: Level>(self, factor: f32, term: f32) -> f32 {
        if V::FUSED { self.mul_add(factor, term) } else { self * factor + term }
    }

    #[inline(always)]
    fn exponentials<V: Level>(out: &mut [f32], values: &[f32]) {
        out.iter_mut().zip(values).for_each(|(out, &x)| *out = exponential::exponential::<V>(x));
    }

    #[inline(always)]
    fn logarithms<V: Level>(out: &mut [f32], values: &[f32]) {
        out.iter_mut().zip(values).for_each(|(out, &x)| *out = exponential::logarithm::<V>(x));
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
    fn exponentials<V: Level>(out: &mut [f64], values: &[f64]) {
        out.iter_mut().zip(values).for_each(|(out, &x)| *out = f64::exp(x));
    }

    #[inline(always)]
    fn logarithms<V: Level>(out: &mut [f64], values: &[f64]) {
        out.iter_mut().zip(values).for_each(|(out, &x)| *out = f64::ln(x));
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
