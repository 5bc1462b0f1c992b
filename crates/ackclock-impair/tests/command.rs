//! The options of the command `ackclock-impair`.

use std::process::Command;

#[test]
fn an_option_says_which_numbers_are_right() {
    let run = |option: &str, value: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ackclock-impair"));
        let output = command.args(["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1"]);
        let output = output.args([option, value]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for (option, value, right) in [
        ("--seed <N>", "-1", "write a whole number from 0 to 18446744073709551615"),
        ("--max-connections <N>", "-1", "-1 is not in 1..=20000"),
    ] {
        let (code, text) = run(option.split(' ').next().unwrap(), value);
        let expected = format!("error: invalid value '{value}' for '{option}': {right}\n");
        assert_eq!((code, text.starts_with(&expected)), (Some(2), true), "{text}");
    }
}
