use ackclock_net::scenario::units::Duration;
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
    #[arg(long, value_name = "N")]
    delay: Option<Duration>,
    #[arg(long)]
    name: Option<String>,
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
        (
            "--delay",
            "-5ms",
            "`-5ms` is not a duration: it does not begin with a number; write for example \"100ms\" \
             (units: ns, us, ms, s)",
        ),
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
    assert_eq!((go.seed, go.runs, go.share, go.delay), (None, None, Some(-2.5), None));
    // A value that is left out is missed, and not the next option in its place.
    for option in ["--name <NAME>", "--seed <N>", "--delay <N>"] {
        let name = option.split(' ').next().unwrap();
        let error = options::<Verb>(["all", "go", name, "--share"].map(Into::into)).unwrap_err();
        let missed = format!("error: a value is required for '{option}' but none was supplied");
        assert!(error.to_string().starts_with(&missed), "{error}");
    }
}
