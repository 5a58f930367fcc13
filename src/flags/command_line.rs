//! Reading flags from a command line.

use super::value::Kind;
use super::{FlagError, Flags};
use crate::core::Result;

impl Flags {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::flags::tests::tutorial;

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
    fn a_command_line_starts_from_the_defaults_and_changes_nothing_when_refused() -> Result<()> {
        let mut flags = tutorial();
        flags.parse(["--batch_size=64", "--help"])?;
        assert!(flags.parse(["--batch_size=32", "--unknown"]).is_err());
        assert_eq!((flags.get::<i64>("batch_size")?, flags.help_requested()), (64, true));
        flags.parse(["--tpu=x"])?;
        assert_eq!((flags.get::<i64>("batch_size")?, flags.help_requested()), (128, false));
        Ok(())
    }
}
