//! Options as clap reads them, with numbers of which it says what would be right.

use std::any::TypeId;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::path::PathBuf;

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
/// their own range is what is said of it. Those of a quantity take `-5ms`, too; `in_words` says
/// where that is another option.
fn numbers_may_be_negative(command: Command) -> Command {
    let texts = [TypeId::of::<String>(), TypeId::of::<OsString>(), TypeId::of::<PathBuf>()];
    command
        .mut_args(|arg| {
            if !arg.get_action().takes_values() || arg.is_positional() {
                return arg;
            }
            let kind = arg.get_value_parser().type_id();
            let quantity = arg.get_num_args().is_none()
                && arg.get_possible_values().is_empty()
                && !texts.iter().any(|text| kind == *text);
            arg.allow_negative_numbers(true).allow_hyphen_values(quantity)
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
    if value.starts_with("--") {
        let text = format!(
            "a value is required for '{option}' but none was supplied\n\nFor more information, try \
             '--help'.\n"
        );
        return Some(Error::raw(ErrorKind::InvalidValue, text).with_cmd(command));
    }
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
mod tests;
