//! One hyperparameter's value.

use serde_json::Value;
use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::Arc;

/// One hyperparameter's value.
#[derive(Clone)]
pub enum Param {
    /// A number, truth value, text, list or map.
    Json(Value),
    /// A Rust value.
    Shared(Shared),
}

impl fmt::Debug for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Param::Json(value) => fmt::Display::fmt(value, f),
            Param::Shared(value) => fmt::Debug::fmt(value, f),
        }
    }
}

/// A Rust value of any type, shared by its clones.
#[derive(Clone)]
pub struct Shared {
    value: Arc<dyn Any + Send + Sync>,
    type_name: &'static str,
}

impl Shared {
    /// Shares `value`.
    pub fn new<T: Any + Send + Sync>(value: T) -> Self {
        Shared { value: Arc::new(value), type_name: type_name::<T>() }
    }

    /// The value, if it is of type `T`.
    pub fn downcast_ref<T: 'static>(&self) -> Option<&T> {
        self.value.downcast_ref()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a shared {}", self.type_name)
    }
}

/// What [`Params::set`](super::Params::set) accepts.
pub trait IntoParam {
    /// The value to keep.
    fn into_param(self) -> Param;
}

impl IntoParam for Param {
    fn into_param(self) -> Param {
        self
    }
}

impl IntoParam for Shared {
    fn into_param(self) -> Param {
        Param::Shared(self)
    }
}

impl IntoParam for Value {
    fn into_param(self) -> Param {
        Param::Json(self)
    }
}

macro_rules! into_param {
    ($($type:ty: $one:expr, $many:expr);* $(;)?) => {$(
        impl IntoParam for $type {
            fn into_param(self) -> Param {
                $one(self)
            }
        }
        impl IntoParam for Vec<$type> {
            fn into_param(self) -> Param {
                $many(self)
            }
        }
        impl<const N: usize> IntoParam for [$type; N] {
            fn into_param(self) -> Param {
                Vec::from(self).into_param()
            }
        }
    )*};
}

fn json(value: impl Into<Value>) -> Param {
    Param::Json(value.into())
}

/// A value with numbers that JSON cannot write, such as infinity, is kept as it is.
fn float<T: Into<Value> + Any + Send + Sync>(value: T, finite: bool) -> Param {
    if finite { json(value) } else { Param::Shared(Shared::new(value)) }
}

into_param! {
    bool: json, json;
    i32: json, json;
    i64: json, json;
    u32: json, json;
    u64: json, json;
    usize: json, json;
    &str: json, json;
    String: json, json;
    f32: |one: f32| float(one, one.is_finite()), |all: Vec<f32>| { let finite = all.iter().all(|one| one.is_finite()); float(all, finite) };
    f64: |one: f64| float(one, one.is_finite()), |all: Vec<f64>| { let finite = all.iter().all(|one| one.is_finite()); float(all, finite) };
}

/// The value as `T`, if it is one.
pub(super) fn read<T: Clone + 'static>(param: &Param) -> Option<T> {
    match param {
        Param::Shared(value) => value.downcast_ref::<T>().cloned(),
        Param::Json(value) => read_json(value),
    }
}

/// Tries the types that JSON can give, until one of them is `T` itself.
fn read_json<T: 'static>(value: &Value) -> Option<T> {
    macro_rules! first_match {
        ($($type:ty: $read:expr),* $(,)?) => {{
            $(
                if let Some(found) = same_type::<Option<T>, Option<$type>>(|| $read(value)) {
                    return found;
                }
                if let Some(found) = same_type::<Option<T>, Option<Vec<$type>>>(|| list(value, $read)) {
                    return found;
                }
            )*
        }};
    }
    first_match!(
        usize: |value: &Value| value.as_u64().and_then(|number| number.try_into().ok()),
        u64: Value::as_u64,
        u32: |value: &Value| value.as_u64().and_then(|number| number.try_into().ok()),
        i64: Value::as_i64,
        i32: |value: &Value| value.as_i64().and_then(|number| number.try_into().ok()),
        f64: Value::as_f64,
        f32: |value: &Value| value.as_f64().map(|number| number as f32),
        bool: Value::as_bool,
        String: |value: &Value| value.as_str().map(str::to_string),
        Value: |value: &Value| Some(value.clone()),
    );
    None
}

fn list<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(read).collect()
}

/// What `make` gives, if its type is the one that the caller expects.
fn same_type<Expected: 'static, Made: 'static>(make: impl FnOnce() -> Made) -> Option<Expected> {
    if TypeId::of::<Expected>() != TypeId::of::<Made>() {
        return None;
    }
    let made: Box<dyn Any> = Box::new(make());
    made.downcast().ok().map(|made| *made)
}
