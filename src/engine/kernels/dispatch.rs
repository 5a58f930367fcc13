//! One body of code, compiled for several instruction sets, chosen at run time.

/// What an instruction set offers to a routine.
pub(crate) trait Level {
    /// Whether `a * b + c` in one rounding is one instruction.
    const FUSED: bool;
    /// How many bytes a register holds.
    const BYTES: usize;
}

/// The instructions that every processor of the target has.
struct Baseline;

impl Level for Baseline {
    const FUSED: bool = cfg!(target_feature = "fma") || cfg!(target_arch = "aarch64");
    const BYTES: usize = 16;
}

#[cfg(target_arch = "x86_64")]
struct Avx2;

#[cfg(target_arch = "x86_64")]
impl Level for Avx2 {
    const FUSED: bool = true;
    const BYTES: usize = 32;
}

/// A piece of arithmetic with its arguments. `run` must be `#[inline(always)]`, and so must all that it calls in a
/// loop: only what is inlined into the functions below is compiled for their instructions.
pub(crate) trait Routine {
    type Output;
    fn run<V: Level>(self) -> Self::Output;
}

/// Runs a routine with the best instructions of this processor.
pub(crate) fn dispatch<R: Routine>(routine: R) -> R::Output {
    #[cfg(target_arch = "x86_64")]
    {
        // The standard library keeps the answers, so asking costs a few loads.
        // Registers of 64 bytes were tried: the tiles of small layers fill them badly, and a step took three times as long.
        if is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx2") {
            #[allow(unsafe_code)]
            // SAFETY: the processor has the instructions that `avx2` enables, as was just asked.
            return unsafe { avx2(routine) };
        }
    }
    routine.run::<Baseline>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<R: Routine>(routine: R) -> R::Output {
    routine.run::<Avx2>()
}

/// Runs a loop that the compiler vectorises by itself with the best instructions of this processor.
#[inline]
pub(crate) fn vectorised<O>(body: impl FnOnce() -> O) -> O {
    dispatch(Body(body))
}

struct Body<F>(F);

impl<O, F: FnOnce() -> O> Routine for Body<F> {
    type Output = O;
    #[inline(always)]
    fn run<V: Level>(self) -> O {
        (self.0)()
    }
}
