//! The flags of one program.

use super::value::Kind;
use super::{FlagError, FlagValue, FromFlag};
use crate::core::Result;
use std::fmt;

/// The flags of one program: defined with defaults, then read from a command line. TensorFlow: `tf.flags`.
///
/// # Examples
/// ```
/// use tpulab::flags::Flags;
/// use tpulab::prelude::*;
/// let mut flags = Flags::new();
/// flags.define_string("tpu", None, "The Cloud TPU to use for training.");
/// flags.define_integer("batch_size", 128, "Global batch size, not per shard.");
/// flags.define_bool("use_tpu", true, "Run on the (simulated) TPU.");
/// flags.parse(["--batch_size=64", "--nouse_tpu"])?;
/// let batch_size: usize = flags.get("batch_size")?;
/// assert_eq!((batch_size, flags.get::<bool>("use_tpu")?), (64, false));
/// assert_eq!(flags.get::<Option<String>>("tpu")?, None);
/// assert_eq!(
///     flags.parse(["--batchsize=32"]).unwrap_err().to_string(),
///     "FLAG001: no flag `batchsize`; there are `tpu`, `batch_size`, `use_tpu`; did you mean `batch_size`?",
/// );
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Flags {
    pub(super) flags: Vec<Flag>,
    /// The first definition that cannot stand; the definitions themselves return nothing.
    problem: Option<FlagError>,
    pub(super) help_requested: bool,
}

#[derive(Clone)]
pub(super) struct Flag {
    pub(super) name: String,
    help: String,
    pub(super) kind: Kind,
    pub(super) default: FlagValue,
    pub(super) value: FlagValue,
}

impl Flags {
    /// No flags yet.
    pub fn new() -> Self {
        Flags::default()
    }

    /// Defines a flag that holds a text, or nothing.
    #[doc(alias = "DEFINE_string")]
    pub fn define_string(&mut self, name: &str, default: Option<&str>, help: &str) {
        let default = default.map_or(FlagValue::None, |text| FlagValue::String(text.to_string()));
        self.define(name, Kind::String, default, help);
    }

    /// Defines a flag that holds an integer.
    #[doc(alias = "DEFINE_integer")]
    pub fn define_integer(&mut self, name: &str, default: i64, help: &str) {
        self.define(name, Kind::Integer, FlagValue::Integer(default), help);
    }

    /// Defines a flag that holds a number.
    #[doc(alias = "DEFINE_float")]
    pub fn define_float(&mut self, name: &str, default: f64, help: &str) {
        self.define(name, Kind::Float, FlagValue::Float(default), help);
    }

    /// Defines a flag that is on or off: `--use_tpu`, `--nouse_tpu`, `--use_tpu=false`.
    #[doc(alias = "DEFINE_bool")]
    pub fn define_bool(&mut self, name: &str, default: bool, help: &str) {
        self.define(name, Kind::Bool, FlagValue::Bool(default), help);
    }

    /// Defines a flag that holds one of `values`.
    #[doc(alias = "DEFINE_enum")]
    pub fn define_enum(&mut self, name: &str, default: &str, values: &[&str], help: &str) {
        let kind = Kind::Enum(values.iter().map(|value| value.to_string()).collect());
        let value = FlagValue::String(default.to_string());
        if kind.read(default).is_none() {
            self.refuse(FlagError::Value {
                name: name.to_string(),
                found: default.to_string(),
                expected: kind.to_string(),
            });
        }
        self.define(name, kind, value, help);
    }

    fn define(&mut self, name: &str, kind: Kind, default: FlagValue, help: &str) {
        let inside = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if !name.starts_with(|first: char| first.is_ascii_alphabetic()) || !name.chars().all(inside) {
            self.refuse(FlagError::Name { name: name.to_string() });
        } else if let Some(first) = self.flags.iter().find(|flag| flag.name == name) {
            let help = first.help.clone();
            self.refuse(FlagError::Duplicate { name: name.to_string(), help });
        } else {
            let value = default.clone();
            self.flags.push(Flag { name: name.to_string(), help: help.to_string(), kind, default, value });
        }
    }

    fn refuse(&mut self, problem: FlagError) {
        self.problem.get_or_insert(problem);
    }

    /// Sets a flag as `--name=value` on a command line would: `flags.set("batch_size", 64)`.
    ///
    /// # Errors
    /// `FLAG001` for a flag that is not defined, `FLAG004` for a value that it does not accept.
    pub fn set(&mut self, name: &str, value: impl fmt::Display) -> Result<()> {
        self.check_definitions()?;
        match self.flags.iter_mut().find(|flag| flag.name == name) {
            Some(flag) => flag.set(&value.to_string()),
            None => Err(self.unknown(name)),
        }
    }

    /// The value of a flag: its default, unless a command line or [`set`](Flags::set) gave another.
    ///
    /// # Errors
    /// `FLAG001` for a flag that is not defined, `FLAG007` for a value that cannot be read as `T`.
    pub fn get<T: FromFlag>(&self, name: &str) -> Result<T> {
        self.check_definitions()?;
        let flag = self.flags.iter().find(|flag| flag.name == name).ok_or_else(|| self.unknown(name))?;
        T::from_flag(&flag.value).ok_or_else(|| {
            let (found, readable) = (flag.value.to_string(), flag.value.readable());
            FlagError::Type { name: name.to_string(), found, expected: T::NAME, readable }.into()
        })
    }

    /// Whether the command line asked for help with `--help` or `-h`.
    pub fn help_requested(&self) -> bool {
        self.help_requested
    }

    /// What each flag is for, with its default.
    pub fn help(&self) -> String {
        let describe = |flag: &Flag| {
            let name = if flag.kind == Kind::Bool { format!("[no]{}", flag.name) } else { flag.name.clone() };
            format!("  --{name}: {}\n    ({}; default: {})\n", flag.help, flag.kind, flag.default)
        };
        self.flags.iter().map(describe).collect()
    }

    pub(super) fn check_definitions(&self) -> Result<()> {
        match &self.problem {
            Some(problem) => Err(problem.clone().into()),
            None => Ok(()),
        }
    }

    pub(super) fn unknown(&self, name: &str) -> crate::core::Error {
        let known = self.flags.iter().map(|flag| flag.name.clone()).collect();
        FlagError::Unknown { name: name.to_string(), known }.into()
    }
}

impl Flag {
    pub(super) fn set(&mut self, text: &str) -> Result<()> {
        self.value = self.kind.read(text).ok_or_else(|| FlagError::Value {
            name: self.name.clone(),
            found: text.to_string(),
            expected: self.kind.to_string(),
        })?;
        Ok(())
    }
}

impl fmt::Display for Flags {
    /// One line per flag: `batch_size = 128`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, flag) in self.flags.iter().enumerate() {
            let line_end = if index == 0 { "" } else { "\n" };
            write!(f, "{line_end}{} = {}", flag.name, flag.value)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn tutorial() -> Flags {
        let mut flags = Flags::new();
        flags.define_string("tpu", None, "The Cloud TPU to use for training.");
        flags.define_string("model_dir", Some(""), "Where checkpoints go.");
        flags.define_integer("batch_size", 128, "Global batch size, not per shard.");
        flags.define_float("learning_rate", 0.1, "The optimizer's step.");
        flags.define_bool("use_tpu", true, "Run on the TPU.");
        flags.define_enum("precision", "float32", &["float32", "float64"], "The arithmetic.");
        flags
    }

    fn value_error(text: &str) -> (String, String) {
        (text.to_string(), "ValueError".to_string())
    }

    #[test]
    fn an_empty_command_line_leaves_the_defaults() -> Result<()> {
        let mut flags = tutorial();
        let rest = flags.parse([""; 0])?;
        assert!(rest.is_empty() && !flags.help_requested());
        assert_eq!(flags.get::<Option<String>>("tpu")?, None);
        assert_eq!(flags.get::<String>("model_dir")?, "");
        assert_eq!((flags.get::<i64>("batch_size")?, flags.get::<u64>("batch_size")?), (128, 128));
        assert_eq!((flags.get::<f64>("learning_rate")?, flags.get::<bool>("use_tpu")?), (0.1, true));
        assert_eq!(flags.get::<String>("precision")?, "float32");
        assert_eq!(tutorial().to_string(), flags.to_string());
        Ok(())
    }

    #[test]
    fn a_value_read_as_another_type_is_refused() {
        let mut flags = tutorial();
        flags.parse(["--batch_size=-5"]).unwrap();
        let error = flags.get::<usize>("batch_size").unwrap_err();
        let expected = "FLAG007: flag `batch_size` is -5, which cannot be read as usize; read it as i64";
        assert_eq!((error.to_string().as_str(), error.exception().to_string().as_str()), (expected, "TypeError"));
        let error = flags.get::<String>("tpu").unwrap_err();
        let expected = "FLAG007: flag `tpu` is None, which cannot be read as String; read it as Option<String>";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_second_definition_is_refused() {
        let mut flags = tutorial();
        flags.define_integer("tpu", 1, "Another one.");
        let expected = "FLAG002: flag `tpu` is defined twice, first as \"The Cloud TPU to use for training.\"; \
                        keep one definition, or give the second one a name of its own";
        for error in [
            flags.parse([""; 0]).unwrap_err(),
            flags.get::<bool>("use_tpu").unwrap_err(),
            flags.set("use_tpu", true).unwrap_err(),
        ] {
            assert_eq!((error.to_string(), error.exception().to_string()), value_error(expected));
        }
    }

    #[test]
    fn a_name_that_no_command_line_can_hold_is_refused() {
        for name in ["", "a b", "a=b", "-a", "1", "batch-size"] {
            let mut flags = Flags::new();
            flags.define_bool(name, true, "");
            let expected = format!(
                "FLAG003: \"{name}\" cannot name a flag; \
                 use letters, digits and `_`, with a letter first, such as `batch_size`"
            );
            assert_eq!(flags.parse([""; 0]).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_default_outside_its_choice_is_refused() {
        let mut flags = Flags::new();
        flags.define_enum("precision", "bf16", &["float32", "float64"], "");
        let expected = "FLAG004: flag `precision`: expected one of float32, float64, found \"bf16\"";
        assert_eq!(flags.parse([""; 0]).unwrap_err().to_string(), expected);
    }

    #[test]
    fn flags_are_set_as_on_a_command_line() -> Result<()> {
        let mut flags = tutorial();
        flags.set("batch_size", 64)?;
        flags.set("use_tpu", false)?;
        flags.set("tpu", "x")?;
        assert_eq!(flags.set("batch_size", 0.5).unwrap_err().code(), "FLAG004");
        let expected = "tpu = \"x\"\nmodel_dir = \"\"\nbatch_size = 64\nlearning_rate = 0.1\nuse_tpu = false\n\
                        precision = \"float32\"";
        assert_eq!((flags.to_string().as_str(), format!("{flags:?}").as_str()), (expected, expected));
        Ok(())
    }

    #[test]
    fn help_names_each_flag_with_its_default() -> Result<()> {
        let mut flags = Flags::new();
        flags.define_integer("iterations", 500, "Iterations per TPU training loop.");
        flags.define_bool("use_tpu", true, "Run on the TPU.");
        flags.parse(["-h", "--iterations=5"])?;
        assert!(flags.help_requested());
        assert_eq!(
            flags.help(),
            "  --iterations: Iterations per TPU training loop.\n    (an integer; default: 500)\n  \
               --[no]use_tpu: Run on the TPU.\n    (true or false; default: true)\n"
        );
        Ok(())
    }
}
