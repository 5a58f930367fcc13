//! Shapes whose sizes may be unknown until data arrive.

use std::fmt;

/// The shape of a symbolic tensor: one size per dimension, `None` where it is known only at run time.
/// TensorFlow: `tf.TensorShape`, of known rank.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
/// let batch = Shape::new(&[None, Some(4)]);
/// assert_eq!(batch.to_string(), "[?, 4]");
/// assert!(batch.accepts(&[128, 4]));
/// assert!(!batch.accepts(&[128, 5]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Shape {
    sizes: Vec<Option<usize>>,
}

impl Shape {
    /// A shape from sizes that may be unknown.
    pub fn new(sizes: &[Option<usize>]) -> Self {
        Shape { sizes: sizes.to_vec() }
    }

    /// A shape whose sizes are all known.
    pub fn known(sizes: &[usize]) -> Self {
        Shape { sizes: sizes.iter().copied().map(Some).collect() }
    }

    /// The shape of one number, `[]`.
    pub fn scalar() -> Self {
        Shape::default()
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// The sizes, `None` where unknown.
    pub fn sizes(&self) -> &[Option<usize>] {
        &self.sizes
    }

    /// The size of dimension `axis`, `None` if unknown or if there is no such dimension.
    pub fn size(&self, axis: usize) -> Option<usize> {
        self.sizes.get(axis).copied().flatten()
    }

    /// All sizes, if each is known.
    pub fn to_known(&self) -> Option<Vec<usize>> {
        self.sizes.iter().copied().collect()
    }

    /// The number of elements, if each size is known.
    pub fn elements(&self) -> Option<usize> {
        self.to_known().map(|sizes| sizes.iter().product())
    }

    /// Whether an array of shape `sizes` fits.
    pub fn accepts(&self, sizes: &[usize]) -> bool {
        self.sizes.len() == sizes.len()
            && self.sizes.iter().zip(sizes).all(|(own, size)| own.is_none_or(|own| own == *size))
    }

    /// Whether both could be the shape of one array.
    pub fn is_compatible(&self, other: &Shape) -> bool {
        self.rank() == other.rank()
            && self.sizes.iter().zip(&other.sizes).all(|(a, b)| a.is_none() || b.is_none() || a == b)
    }
}

impl From<&[usize]> for Shape {
    fn from(sizes: &[usize]) -> Self {
        Shape::known(sizes)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (axis, size) in self.sizes.iter().enumerate() {
            let comma = if axis == 0 { "" } else { ", " };
            match size {
                Some(size) => write!(f, "{comma}{size}")?,
                None => write!(f, "{comma}?")?,
            }
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_sizes_are_compatible_with_any_size() {
        let open = Shape::new(&[None, Some(3)]);
        assert!(open.is_compatible(&Shape::known(&[5, 3])));
        assert!(!open.is_compatible(&Shape::known(&[5, 4])));
        assert!(!open.is_compatible(&Shape::scalar()));
        assert_eq!(open.elements(), None);
        assert_eq!(Shape::scalar().elements(), Some(1));
    }
}
