//! Any text is a scenario or an error with a line of that text; a scenario survives being written
//! and read again.
//!
//! Half of the inputs are edits of a valid scenario, so that no corpus is needed to get past the
//! first key.
#![no_main]

use ackclock_net::scenario::Scenario;
use ackclock_tcp::Registry;
use libfuzzer_sys::fuzz_target;

const BASE: &str = include_str!("scenario_base.toml");

/// Applies edits of five bytes and more: position, bytes to delete, bytes to insert and their
/// number.
fn edited(mut edits: &[u8]) -> Vec<u8> {
    let mut text = BASE.as_bytes().to_vec();
    while let [high, low, delete, insert, rest @ ..] = edits {
        let insert = usize::from(insert % 16).min(rest.len());
        let at = usize::from(u16::from_be_bytes([*high, *low])) % (text.len() + 1);
        let end = (at + usize::from(delete % 32)).min(text.len());
        text.splice(at..end, rest[..insert].iter().copied());
        edits = &rest[insert..];
    }
    text
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let text = if first % 2 == 0 { rest.to_vec() } else { edited(rest) };
    let Ok(text) = String::from_utf8(text) else { return };
    match Scenario::from_toml(&text, &Registry::default()) {
        Err(error) => {
            assert!(!error.message.is_empty() && !error.to_string().is_empty());
            let lines = text.split('\n').count();
            assert!(
                error.line.is_none_or(|line| (1..=lines).contains(&line)),
                "{error} in {lines} lines"
            );
        }
        Ok(scenario) => {
            let Ok(again) = scenario.to_toml() else { return };
            assert_eq!(
                Scenario::from_toml(&again, &Registry::default()).as_ref(),
                Ok(&scenario),
                "{again}"
            );
        }
    }
});
