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
    flags: Vec<Flag>,
    /// The first definition that cannot stand; the definitions themselves return nothing.
    problem: Option<FlagError>,
    help_requested: bool,
}

#[derive(Clone)]
struct Flag {
    name: String,
    help: String,
    kind: Kind,
    default: FlagValue,
    value: FlagValue,
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

    /// Reads a command line without the program's name, and gives back what is no flag.
    ///
    /// Understands `--name=value`, `--name value`, one dash as well as two, `--flag` and `--noflag` for truth values;
    /// `--` ends the flags. Flags that are not named get their defaults, so the outcome depends on `arguments` alone.
    /// Nothing changes where an error is returned.
    ///
    /// # Errors
    /// `FLAG001` for a flag that is not defined, `FLAG004` to `FLAG006` for a value that does not fit, and `FLAG002`,
    /// `FLAG003` or `FLAG004` for a definition that cannot stand.
    pub fn parse<T: AsRef<str>>(&mut self, arguments: impl IntoIterator<Item = T>) -> Result<Vec<String>> {
        self.check_definitions()?;
        let mut parsed = self.clone();
        parsed.help_requested = false;
        for flag in &mut parsed.flags {
            flag.value = flag.default.clone();
        }
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_string());
        let rest = parsed.read(arguments)?;
        *self = parsed;
        Ok(rest)
    }

    fn read(&mut self, mut arguments: impl Iterator<Item = String>) -> Result<Vec<String>> {
        let mut rest = Vec::new();
        while let Some(argument) = arguments.next() {
            if argument == "--" {
                rest.extend(arguments);
                break;
            }
            let stripped = argument.strip_prefix("--").or(argument.strip_prefix('-'));
            let Some(text) = stripped.filter(|text| !text.is_empty()) else {
                rest.push(argument);
                continue;
            };
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (text, None),
            };
            self.read_flag(name, value, &mut arguments)?;
        }
        Ok(rest)
    }

    fn read_flag(&mut self, name: &str, value: Option<&str>, next: &mut impl Iterator<Item = String>) -> Result<()> {
        let Some(flag) = self.flags.iter_mut().find(|flag| flag.name == name) else {
            return self.read_special(name, value);
        };
        match value {
            Some(value) => flag.set(value),
            None if flag.kind == Kind::Bool => flag.set("true"),
            None => match next.next() {
                Some(value) => flag.set(&value),
                None => Err(FlagError::NoValue { name: name.to_string(), expected: flag.kind.to_string() }.into()),
            },
        }
    }

    /// A name that is no flag of the program: `noflag`, or a call for help.
    fn read_special(&mut self, name: &str, value: Option<&str>) -> Result<()> {
        let negated = name.strip_prefix("no");
        let flag = self.flags.iter_mut().find(|flag| flag.kind == Kind::Bool && Some(flag.name.as_str()) == negated);
        match (flag, value) {
            (Some(flag), None) => flag.set("false"),
            (Some(flag), Some(value)) => {
                Err(FlagError::Negated { name: flag.name.clone(), found: value.to_string() }.into())
            }
            (None, None) if matches!(name, "help" | "h") => {
                self.help_requested = true;
                Ok(())
            }
            _ => Err(self.unknown(name)),
        }
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

    fn check_definitions(&self) -> Result<()> {
        match &self.problem {
            Some(problem) => Err(problem.clone().into()),
            None => Ok(()),
        }
    }

    fn unknown(&self, name: &str) -> crate::core::Error {
        let known = self.flags.iter().map(|flag| flag.name.clone()).collect();
        FlagError::Unknown { name: name.to_string(), known }.into()
    }
}

impl Flag {
    fn set(&mut self, text: &str) -> Result<()> {
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
mod tests {
    use super::*;

    fn tutorial() -> Flags {
        let mut flags = Flags::new();
        flags.define_string("tpu", None, "The Cloud TPU to use for training.");
        flags.define_string("model_dir", Some(""), "Where checkpoints go.");
        flags.define_integer("batch_size", 128, "Global batch size, not per shard.");
        flags.define_float("learning_rate", 0.1, "The optimizer's step.");
        flags.define_bool("use_tpu", true, "Run on the TPU.");
        flags.define_enum("precision", "float32", &["float32", "float64"], "The arithmetic.");
        flags
    }

    fn parsed(arguments: &[&str]) -> Result<(Flags, Vec<String>)> {
        let mut flags = tutorial();
        let rest = flags.parse(arguments)?;
        Ok((flags, rest))
    }

    fn refused(arguments: &[&str]) -> (String, String) {
        let error = parsed(arguments).unwrap_err();
        assert_eq!(error.section(), Some("Define hyperparameters"));
        (error.to_string(), error.exception().to_string())
    }

    fn value_error(text: &str) -> (String, String) {
        (text.to_string(), "ValueError".to_string())
    }

    #[test]
    fn an_empty_command_line_leaves_the_defaults() -> Result<()> {
        let (flags, rest) = parsed(&[])?;
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
    fn values_follow_an_equals_sign_or_a_space_after_one_dash_or_two() -> Result<()> {
        for arguments in [
            ["--tpu=x", "--batch_size=-5"].as_slice(),
            &["-tpu", "x", "-batch_size", "-5"],
            &["--tpu", "x", "--batch_size", "-5"],
        ] {
            let (flags, rest) = parsed(arguments)?;
            assert_eq!((flags.get::<String>("tpu")?.as_str(), flags.get::<i64>("batch_size")?), ("x", -5));
            assert!(rest.is_empty());
        }
        // As in absl, what follows belongs to the flag, whatever it looks like, and an empty text is a text.
        assert_eq!(parsed(&["--tpu", "--use_tpu"])?.0.get::<String>("tpu")?, "--use_tpu");
        assert_eq!(parsed(&["--tpu="])?.0.get::<Option<String>>("tpu")?.as_deref(), Some(""));
        assert_eq!(parsed(&["--tpu=a=b"])?.0.get::<String>("tpu")?, "a=b");
        Ok(())
    }

    #[test]
    fn truth_values_are_set_by_their_name_alone() -> Result<()> {
        for (argument, expected) in [
            ("--use_tpu", true),
            ("--nouse_tpu", false),
            ("-nouse_tpu", false),
            ("--use_tpu=F", false),
            ("--use_tpu=1", true),
        ] {
            assert_eq!(parsed(&[argument])?.0.get::<bool>("use_tpu")?, expected, "{argument}");
        }
        let (flags, rest) = parsed(&["--use_tpu", "false"])?;
        assert_eq!((flags.get::<bool>("use_tpu")?, rest), (true, vec!["false".to_string()]));
        Ok(())
    }

    #[test]
    fn what_is_no_flag_is_given_back() -> Result<()> {
        let (flags, rest) = parsed(&["a", "--tpu=x", "-", "", "b", "--", "--tpu=y", "--"])?;
        assert_eq!(rest, ["a", "-", "", "b", "--tpu=y", "--"]);
        assert_eq!(flags.get::<String>("tpu")?, "x");
        Ok(())
    }

    #[test]
    fn the_last_of_several_values_holds() -> Result<()> {
        assert_eq!(parsed(&["--tpu=x", "--tpu=y"])?.0.get::<String>("tpu")?, "y");
        Ok(())
    }

    #[test]
    fn an_unknown_flag_is_refused_with_the_nearest_one() {
        let known = "there are `tpu`, `model_dir`, `batch_size`, `learning_rate`, `use_tpu`, `precision`";
        let expected = format!("FLAG001: no flag `batch-size`; {known}; did you mean `batch_size`?");
        assert_eq!(refused(&["--batch-size=3"]), (expected, "KeyError".to_string()));
        assert_eq!(refused(&["--optimizer=x"]).0, format!("FLAG001: no flag `optimizer`; {known}"));
        assert_eq!(refused(&["--notpu"]).0, format!("FLAG001: no flag `notpu`; {known}; did you mean `tpu`?"));
        assert_eq!(refused(&["--help=me"]).0, format!("FLAG001: no flag `help`; {known}"));
        assert_eq!(Flags::new().parse(["--x"]).unwrap_err().to_string(), "FLAG001: no flag `x`; there are none");
        assert_eq!(tutorial().get::<f64>("rate").unwrap_err().code(), "FLAG001");
        assert_eq!(tutorial().set("rate", 1).unwrap_err().code(), "FLAG001");
    }

    #[test]
    fn malformed_values_are_refused() {
        for (argument, expected) in [
            ("--batch_size=1e3", "FLAG004: flag `batch_size`: expected an integer, found \"1e3\""),
            ("--batch_size=", "FLAG004: flag `batch_size`: expected an integer, found \"\""),
            ("--learning_rate=abc", "FLAG004: flag `learning_rate`: expected a number, found \"abc\""),
            ("--use_tpu=yes", "FLAG004: flag `use_tpu`: expected true or false, found \"yes\""),
            ("--precision=bf16", "FLAG004: flag `precision`: expected one of float32, float64, found \"bf16\""),
        ] {
            assert_eq!(refused(&[argument]), value_error(expected));
        }
    }

    #[test]
    fn a_flag_without_its_value_is_refused() {
        let expected = "FLAG005: flag `batch_size` has no value; write `--batch_size=…` with an integer";
        assert_eq!(refused(&["--batch_size"]), value_error(expected));
    }

    #[test]
    fn a_negated_flag_takes_no_value() {
        let expected = "FLAG006: `--nouse_tpu` takes no value, found \"true\"; \
                        write `--use_tpu=true` or `--use_tpu=false`";
        assert_eq!(refused(&["--nouse_tpu=true"]), value_error(expected));
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
    fn a_command_line_starts_from_the_defaults_and_changes_nothing_when_refused() -> Result<()> {
        let mut flags = tutorial();
        flags.parse(["--batch_size=64", "--help"])?;
        assert!(flags.parse(["--batch_size=32", "--unknown"]).is_err());
        assert_eq!((flags.get::<i64>("batch_size")?, flags.help_requested()), (64, true));
        flags.parse(["--tpu=x"])?;
        assert_eq!((flags.get::<i64>("batch_size")?, flags.help_requested()), (128, false));
        Ok(())
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
