//! Memory: where values lie, and how steps read and write it.

use crate::core::{Array, DType};

/// How the elements of a value are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    F32,
    F64,
    I32,
    I64,
    Bool,
}

impl Kind {
    /// The dtype of arrays that are stored so.
    pub fn dtype(self) -> DType {
        match self {
            Kind::F32 => DType::Float32,
            Kind::F64 => DType::Float64,
            Kind::I32 => DType::Int32,
            Kind::I64 => DType::Int64,
            Kind::Bool => DType::Bool,
        }
    }
}

/// Where a value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub kind: Kind,
    /// Whether all replicas share it; otherwise each has its own.
    pub shared: bool,
    pub part: Part,
}

/// The part of a bank in which a value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A buffer of its own.
    Buffer(usize),
    /// From this offset in the flat buffer, where gradients stand one after the other.
    Flat(usize),
    /// From this offset in the variables.
    Variable(usize),
}

/// The memory of some replicas side by side, or what all of them share.
///
/// A buffer holds the values of all its replicas one after the other, so that a step can run over their rows at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bank {
    f32: Typed<f32>,
    f64: Typed<f64>,
    i32: Typed<i32>,
    i64: Typed<i64>,
    bool: Typed<bool>,
}

/// All memory of one element type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Typed<T> {
    pub buffers: Vec<Vec<T>>,
    /// One for each replica.
    pub flat: Vec<Vec<T>>,
    /// One for each replica.
    pub variables: Vec<Vec<T>>,
    /// Memory that kernels use while they run, kept for the next one.
    pub scratch: [Vec<T>; 2],
}

/// An element type that banks hold.
pub(crate) trait Stored: Copy + Default + PartialEq + PartialOrd + Send + Sync + 'static {
    const KIND: Kind;
    fn typed(bank: &Bank) -> &Typed<Self>;
    fn typed_mut(bank: &mut Bank) -> &mut Typed<Self>;
    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
    fn from_i64(value: i64) -> Self;
    fn to_i64(self) -> i64;
}

macro_rules! stored {
    ($type:ty, $kind:ident, $field:ident, $from:expr, $to:expr, $from_i64:expr, $to_i64:expr) => {
        impl Stored for $type {
            const KIND: Kind = Kind::$kind;
            fn typed(bank: &Bank) -> &Typed<Self> {
                &bank.$field
            }
            fn typed_mut(bank: &mut Bank) -> &mut Typed<Self> {
                &mut bank.$field
            }
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                $from(value)
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                $to(self)
            }
            #[inline(always)]
            fn from_i64(value: i64) -> Self {
                $from_i64(value)
            }
            #[inline(always)]
            fn to_i64(self) -> i64 {
                $to_i64(self)
            }
        }
    };
}

stored!(f32, F32, f32, |x| x as f32, f64::from, |x| x as f32, |x| x as i64);
stored!(f64, F64, f64, |x| x, |x| x, |x| x as f64, |x| x as i64);
stored!(i32, I32, i32, |x| x as i32, f64::from, |x| x as i32, i64::from);
stored!(i64, I64, i64, |x| x as i64, |x| x as f64, |x| x, |x| x);
stored!(bool, Bool, bool, |x| x != 0.0, |x| f64::from(u8::from(x)), |x| x != 0, i64::from);

/// Runs `$body` with `$type` standing for the element type of `$kind`.
macro_rules! for_kind {
    ($kind:expr, $type:ident => $body:expr) => {
        match $kind {
            $crate::engine::bank::Kind::F32 => {
                type $type = f32;
                $body
            }
            $crate::engine::bank::Kind::F64 => {
                type $type = f64;
                $body
            }
            $crate::engine::bank::Kind::I32 => {
                type $type = i32;
                $body
            }
            $crate::engine::bank::Kind::I64 => {
                type $type = i64;
                $body
            }
            $crate::engine::bank::Kind::Bool => {
                type $type = bool;
                $body
            }
        }
    };
}
pub(crate) use for_kind;

impl Bank {
    /// The `length` elements at `part` of replica `replica`.
    #[inline]
    pub fn read<T: Stored>(&self, part: Part, replica: usize, length: usize) -> &[T] {
        let typed = T::typed(self);
        let start = part.start(replica, length);
        match part {
            Part::Buffer(index) => &typed.buffers[index][start..start + length],
            Part::Flat(_) => &typed.flat[replica][start..start + length],
            Part::Variable(_) => &typed.variables[replica][start..start + length],
        }
    }

    /// Takes the memory that holds `part` out of the bank, so that it can be written while the rest is read.
    #[inline]
    pub fn take<T: Stored>(&mut self, part: Part, replica: usize) -> Vec<T> {
        std::mem::take(self.memory(part, replica))
    }

    /// Puts back what [`Bank::take`] took.
    #[inline]
    pub fn put<T: Stored>(&mut self, part: Part, replica: usize, memory: Vec<T>) {
        *self.memory(part, replica) = memory;
    }

    #[inline]
    fn memory<T: Stored>(&mut self, part: Part, replica: usize) -> &mut Vec<T> {
        let typed = T::typed_mut(self);
        match part {
            Part::Buffer(index) => &mut typed.buffers[index],
            Part::Flat(_) => &mut typed.flat[replica],
            Part::Variable(_) => &mut typed.variables[replica],
        }
    }

    /// The elements at `part` of replica `replica`, for writing.
    #[inline]
    pub fn write<T: Stored>(&mut self, part: Part, replica: usize, length: usize) -> &mut [T] {
        let start = part.start(replica, length);
        &mut self.memory(part, replica)[start..start + length]
    }

    /// Exchanges the variables of replica `replica` with those of another bank's only one.
    pub fn swap_variables(&mut self, replica: usize, other: &mut Bank) {
        fn swap<T>(own: &mut Typed<T>, replica: usize, other: &mut Typed<T>) {
            own.variables.resize_with(own.variables.len().max(replica + 1), Vec::new);
            other.variables.resize_with(other.variables.len().max(1), Vec::new);
            std::mem::swap(&mut own.variables[replica], &mut other.variables[0]);
        }
        swap(&mut self.f32, replica, &mut other.f32);
        swap(&mut self.f64, replica, &mut other.f64);
        swap(&mut self.i32, replica, &mut other.i32);
        swap(&mut self.i64, replica, &mut other.i64);
        swap(&mut self.bool, replica, &mut other.bool);
    }

    /// Makes room for `length` elements at `part` for each of `replicas`; memory only ever grows.
    pub fn reserve<T: Stored>(&mut self, part: Part, replicas: usize, length: usize) {
        fn grow<T: Stored>(memory: &mut Vec<T>, needed: usize) {
            if memory.len() < needed {
                memory.resize(needed, T::default());
            }
        }
        let typed = T::typed_mut(self);
        let (memories, needed) = match part {
            Part::Buffer(index) => {
                if typed.buffers.len() <= index {
                    typed.buffers.resize_with(index + 1, Vec::new);
                }
                return grow(&mut typed.buffers[index], replicas * length);
            }
            Part::Flat(offset) => (&mut typed.flat, offset + length),
            Part::Variable(offset) => (&mut typed.variables, offset + length),
        };
        if memories.len() < replicas {
            memories.resize_with(replicas, Vec::new);
        }
        memories.iter_mut().for_each(|memory| grow(memory, needed));
    }

    /// The values at `part` of replica `replica` as an array of shape `shape`.
    pub fn to_array(&self, kind: Kind, part: Part, replica: usize, shape: &[usize]) -> Array {
        let length = shape.iter().product();
        for_kind!(kind, T => Array::from_vec(shape, self.read::<T>(part, replica, length).to_vec()))
            .expect("the length is the shape's product")
    }

    /// Writes an array of the part's kind, or one that is converted to it, for the first replica.
    pub fn write_array(&mut self, kind: Kind, part: Part, array: &Array) -> crate::core::Result<()> {
        let array = array.cast(kind.dtype())?;
        for_kind!(kind, T => {
            let values = array.as_slice::<T>()?;
            self.reserve::<T>(part, 1, values.len());
            self.write::<T>(part, 0, values.len()).copy_from_slice(values);
        });
        Ok(())
    }
}

impl Part {
    /// Where the value of replica `replica`, `length` elements, starts in the memory that holds it.
    #[inline]
    pub fn start(self, replica: usize, length: usize) -> usize {
        match self {
            Part::Buffer(_) => replica * length,
            Part::Flat(offset) | Part::Variable(offset) => offset,
        }
    }
}

/// The sizes of a concrete value, without a heap allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Dims {
    sizes: [usize; Dims::MAX_RANK],
    rank: usize,
}

impl Dims {
    /// The largest rank that the engine handles.
    pub const MAX_RANK: usize = 8;

    /// The sizes, unless there are more than [`Dims::MAX_RANK`].
    pub fn new(sizes: &[usize]) -> Option<Self> {
        let mut dims = Dims { sizes: [1; Dims::MAX_RANK], rank: sizes.len() };
        dims.sizes.get_mut(..sizes.len())?.copy_from_slice(sizes);
        Some(dims)
    }

    #[inline]
    pub fn sizes(&self) -> &[usize] {
        &self.sizes[..self.rank]
    }

    #[inline]
    pub fn elements(&self) -> usize {
        self.sizes[..self.rank].iter().product()
    }

    /// The sizes of `count` such values one after the other: so many times the rows.
    pub fn times(mut self, count: usize) -> Self {
        match self.rank {
            0 if count == 1 => {}
            0 => (self.sizes[0], self.rank) = (count, 1),
            _ => self.sizes[0] *= count,
        }
        self
    }

    /// Rows and columns, with all dimensions but the last taken together as rows.
    #[inline]
    pub fn matrix(&self) -> (usize, usize) {
        match self.sizes() {
            [] => (1, 1),
            [rows @ .., columns] => (rows.iter().product(), *columns),
        }
    }

    /// The columns of `whole`, if these sizes are its own but for a single column.
    #[inline]
    pub fn one_for_each_row_of(&self, whole: &Dims) -> Option<usize> {
        match (self.sizes(), whole.sizes()) {
            ([own @ .., 1], [rows @ .., columns]) if own == rows && *columns > 0 => Some(*columns),
            _ => None,
        }
    }
}
