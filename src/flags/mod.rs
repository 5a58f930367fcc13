//! `tf.flags`: a program's settings, from its command line. Knows nothing of what they are for.

mod command_line;
mod error;
#[allow(clippy::module_inception, reason = "the folder is named after the type that it is about")]
mod flags;
mod value;

pub use error::FlagError;
pub use flags::Flags;
pub use value::{FlagValue, FromFlag};
