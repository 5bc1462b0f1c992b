//! Options as clap reads them, with numbers of which it says what would be right.

use std::any::TypeId;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, Error, FromArgMatches};

/// Reads options, the first of `args` being the name of the command.
///
/// # Errors
/// What is wrong with them, as it is to be printed; help and version are such errors, too.
#[doc(hidden)]
pub fn options<T: CommandFactory + FromArgMatches>(
    args: impl IntoIterator<Item = OsString>,
) -> Result<T, Error> {
    let mut command = numbers_may_be_negative(T::command());
    let matches = command.try_get_matches_from_mut(args).map_err(|error| {
        // Else clap knows of an option what it prints only for the command in use.
        command.build();
        in_words(&command, &error).unwrap_or(error)
    })?;
    T::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Options take what looks like a negative number for their value, and not for another option: so
/// their own range is what is said of it.
fn numbers_may_be_negative(command: Command) -> Command {
    command
        .mut_args(|arg| match arg.get_action().takes_values() && !arg.is_positional() {
            true => arg.allow_negative_numbers(true),
            false => arg,
        })
        .mut_subcommands(numbers_may_be_negative)
}

/// An error that says which numbers are right, in the place of the standard library's.
fn in_words(command: &Command, error: &Error) -> Option<Error> {
    let (Some(ContextValue::String(option)), Some(ContextValue::String(value))) =
        (error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue))
    else {
        return None;
    };
    let source = std::error::Error::source(error)?;
    let right = if source.is::<ParseFloatError>() {
        "a number such as 2.5".into()
    } else {
        let kind = source.downcast_ref::<ParseIntError>()?.kind();
        // For those with fewer bits clap says their range, unless it is no number at all.
        match kind {
            _ if is_of_64_bits(command, option) => format!("a whole number from 0 to {}", u64::MAX),
            IntErrorKind::InvalidDigit | IntErrorKind::Empty => "a whole number".into(),
            _ => return None,
        }
    };
    let text = format!(
        "invalid value '{value}' for '{option}': write {right}\n\nFor more information, try \
         '--help'.\n"
    );
    Some(Error::raw(ErrorKind::ValueValidation, text).with_cmd(command))
}

/// Whether an option of the command or of one below it is such a number.
fn is_of_64_bits(command: &Command, option: &str) -> bool {
    let is_it = |arg: &clap::Arg| {
        let kind = arg.get_value_parser().type_id();
        (kind == TypeId::of::<u64>() || kind == TypeId::of::<usize>()) && arg.to_string() == option
    };
    command.get_arguments().any(is_it)
        || command.get_subcommands().any(|below| is_of_64_bits(below, option))
}

#[cfg(test)]
mod tests {
    use clap::{Args, Parser};

    use super::options;

    #[derive(Debug, Parser)]
    enum Verb {
        Other(Go),
        Go(Go),
    }

    #[derive(Debug, Args)]
    struct Go {
        #[arg(long, value_name = "N")]
        seed: Option<u64>,
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9))]
        runs: Option<u32>,
        #[arg(long, value_name = "N")]
        share: Option<f64>,
    }

    /// Its option is missed only once everything is read.
    #[derive(Debug, Parser)]
    #[command(name = "late")]
    struct Late {
        #[arg(long, required = false)]
        _needed: u32,
    }

    #[test]
    fn what_is_no_number_is_answered_with_what_would_be_right() {
        let error = |option: &str, value: &str| {
            let args = ["all", "go", option, value].map(Into::into);
            options::<Verb>(args).unwrap_err().to_string()
        };
        let whole = "write a whole number from 0 to 18446744073709551615";
        for (option, value, right) in [
            ("--seed", "-1", whole),
            ("--seed", "x", whole),
            ("--seed", "18446744073709551616", whole),
            ("--runs", "-1", "-1 is not in 1..=9"),
            ("--runs", "x", "write a whole number"),
            ("--runs", "", "write a whole number"),
            ("--share", "x", "write a number such as 2.5"),
        ] {
            let expected = format!(
                "error: invalid value '{value}' for '{option} <N>': {right}\n\nFor more \
                 information, try '--help'.\n"
            );
            assert_eq!(error(option, value), expected);
        }
        // What clap's derived code finds wrong has the form of what clap itself does.
        let error = options::<Late>(["late".into()]).unwrap_err().to_string();
        assert!(error.contains("\n\nUsage: late [OPTIONS]\n\nFor more"), "{error}");
        let go = options(["all", "go", "--share", "-2.5"].map(Into::into)).unwrap();
        let Verb::Go(go) = go else { panic!("{go:?}") };
        assert_eq!((go.seed, go.runs, go.share), (None, None, Some(-2.5)));
    }
}
