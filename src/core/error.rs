//! One error type for all floors.
//!
//! A floor writes its own enum of what can go wrong and says, variant by variant, how to explain it
//! ([`Explain`]). The conversion into [`Error`] then comes for free, and the enum itself stays
//! reachable through [`Error::downcast_ref`].

use std::fmt;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The exception that TensorFlow or Python raises in the same situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Exception {
    /// Python's `ValueError`.
    ValueError,
    /// Python's `TypeError`.
    TypeError,
    /// Python's `RuntimeError`.
    RuntimeError,
    /// Python's `KeyError`.
    KeyError,
    /// Python's `OSError`.
    OsError,
    /// Python's `LookupError`.
    LookupError,
    /// Python's `KeyboardInterrupt`.
    KeyboardInterrupt,
    /// `tf.errors.InvalidArgumentError`.
    InvalidArgumentError,
    /// `tf.errors.OutOfRangeError`.
    OutOfRangeError,
    /// `tf.errors.NotFoundError`.
    NotFoundError,
    /// `tf.errors.DataLossError`.
    DataLossError,
    /// `tf.estimator.NanLossDuringTrainingError`.
    NanLossDuringTrainingError,
    /// `tf.errors.InternalError`.
    InternalError,
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The variants carry Python's own names, with one exception.
        match self {
            Exception::OsError => f.write_str("OSError"),
            other => fmt::Debug::fmt(other, f),
        }
    }
}

/// What an error says: a stable code, what happened, the way out, and where it belongs.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Stable code, such as `TPU012`; it never changes its meaning.
    pub code: &'static str,
    /// The exception that the original raises here.
    pub exception: Exception,
    /// What happened, with the values: lower case, no full stop.
    pub message: String,
    /// The smallest fix, if one is known.
    pub help: Option<String>,
    /// The section of the tutorial that deals with this, if there is one.
    pub section: Option<&'static str>,
}

impl Explanation {
    /// An explanation with a code, the original's exception and what happened.
    pub fn new(code: &'static str, exception: Exception, message: impl Into<String>) -> Self {
        Explanation { code, exception, message: message.into(), help: None, section: None }
    }

    /// Adds the smallest fix.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the tutorial's section.
    pub fn section(mut self, section: &'static str) -> Self {
        self.section = Some(section);
        self
    }
}

/// A floor's own error type: it knows how to explain each of its variants.
pub trait Explain: fmt::Debug + Send + Sync + 'static {
    /// The texts for this error.
    fn explain(&self) -> Explanation;
}

/// Everything that can go wrong in this crate.
///
/// `Display` gives `CODE: what happened; the way out` on one line; `Debug` gives the same, so that
/// `unwrap()` stays legible in a notebook.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
/// let error = Array::from_vec(&[2, 2], vec![1.0f32, 2.0, 3.0]).unwrap_err();
/// assert_eq!(error.code(), "CORE001");
/// assert!(error.to_string().contains("shape [2, 2] holds 4 values, found 3"));
/// ```
pub struct Error {
    inner: Box<Inner>,
}

struct Inner {
    explanation: Explanation,
    source: Option<Box<dyn std::any::Any + Send + Sync>>,
}

impl Error {
    /// The stable code, such as `DATA004`.
    pub fn code(&self) -> &'static str {
        self.inner.explanation.code
    }

    /// The exception that TensorFlow or Python raises in the same situation.
    pub fn exception(&self) -> Exception {
        self.inner.explanation.exception
    }

    /// What happened, without code and without the way out.
    pub fn message(&self) -> &str {
        &self.inner.explanation.message
    }

    /// The smallest fix, if one is known.
    pub fn help(&self) -> Option<&str> {
        self.inner.explanation.help.as_deref()
    }

    /// The tutorial's section that deals with this, if there is one.
    pub fn section(&self) -> Option<&'static str> {
        self.inner.explanation.section
    }

    /// The floor's own error value, if it is of type `E`.
    pub fn downcast_ref<E: 'static>(&self) -> Option<&E> {
        self.inner.source.as_deref().and_then(|source| source.downcast_ref())
    }

    /// Puts a place in front of the message, such as a file or a node's name.
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        let message = &mut self.inner.explanation.message;
        *message = format!("{place}: {message}");
        self
    }
}

impl<E: Explain> From<E> for Error {
    fn from(source: E) -> Self {
        Error { inner: Box::new(Inner { explanation: source.explain(), source: Some(Box::new(source)) }) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Explanation { code, message, help, .. } = &self.inner.explanation;
        write!(f, "{code}: {message}")?;
        match help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

/// What can go wrong with plain values.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ValueError {
    /// The number of values is not what the shape holds.
    WrongLength {
        /// The shape asked for.
        shape: Vec<usize>,
        /// How many values were given.
        found: usize,
    },
    /// A value of another dtype was asked for.
    WrongDtype {
        /// What the caller asked for.
        expected: super::DType,
        /// What the array holds.
        found: super::DType,
    },
    /// One number was asked for, and the array holds more or none.
    NotScalar {
        /// The array's shape.
        shape: Vec<usize>,
    },
    /// An index outside the array.
    OutOfBounds {
        /// The index asked for.
        index: Vec<usize>,
        /// The array's shape.
        shape: Vec<usize>,
    },
}

impl Explain for ValueError {
    fn explain(&self) -> Explanation {
        use Exception as Raised;
        match self {
            ValueError::WrongLength { shape, found } => Explanation::new(
                "CORE001",
                Raised::ValueError,
                format!("shape {shape:?} holds {} values, found {found}", saturating_product(shape)),
            ),
            ValueError::WrongDtype { expected, found } => Explanation::new(
                "CORE002",
                Raised::TypeError,
                format!("expected an array of {expected}, found {found}"),
            )
            .help(format!("read it as {found}, or `cast` it first")),
            ValueError::NotScalar { shape } => {
                Explanation::new("CORE003", Raised::ValueError, format!("expected one number, found shape {shape:?}"))
            }
            ValueError::OutOfBounds { index, shape } => Explanation::new(
                "CORE004",
                Raised::ValueError,
                format!("index {index:?} is outside an array of shape {shape:?}"),
            ),
        }
    }
}

pub(crate) fn saturating_product(shape: &[usize]) -> usize {
    shape.iter().fold(1usize, |product, &size| product.saturating_mul(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_reads_like_display_and_the_typed_error_stays_reachable() {
        let error = Error::from(ValueError::NotScalar { shape: vec![2, 3] });
        assert_eq!(format!("{error:?}"), "CORE003: expected one number, found shape [2, 3]");
        assert_eq!(error.downcast_ref::<ValueError>(), Some(&ValueError::NotScalar { shape: vec![2, 3] }));
        assert_eq!(error.exception().to_string(), "ValueError");
    }

    #[test]
    fn errors_cross_threads() {
        fn assert_send_sync<T: Send + Sync + 'static>() {}
        assert_send_sync::<Error>();
    }
}
