use proptest::string::string_regex;
use proptest::test_runner::TestRunner;

use super::*;

fn rate(text: &str) -> Result<u64, String> {
    text.parse::<Rate>().map(|r| r.0).map_err(|e| e.to_string())
}

fn nanos(text: &str) -> Result<u64, String> {
    text.parse::<Duration>().map(|d| d.0.nanos()).map_err(|e| e.to_string())
}

fn bytes(text: &str) -> Result<u64, String> {
    text.parse::<Size>().map(|s| s.0).map_err(|e| e.to_string())
}

#[test]
fn rates_are_exact_and_follow_tc() {
    let cases = [
        ("800kbit", 800_000),
        ("1.2mbit", 1_200_000),
        ("0.1kbit", 100),
        ("10gbit", 10_000_000_000),
        ("1.000000000001tbit", 1_000_000_000_001),
        ("1bit", 1),
        ("100 Mbit", 100_000_000),
        ("1_000kbit", 1_000_000),
        ("1kibit", 1_024),
        ("0bit", 0),
        ("1.50mbit", 1_500_000),
    ];
    for (text, bits) in cases {
        assert_eq!(rate(text), Ok(bits), "{text}");
    }
}

#[test]
fn a_rate_in_bps_is_refused_with_both_readings() {
    for (text, bits, bytes) in [
        ("10mbps", "10mbit", "80mbit"),
        ("0.25 Kbps", "0.25kbit", "2kbit"),
        ("1.3gibps", "1.3gibit", "10.4gibit"),
        ("125bps", "125bit", "1000bit"),
    ] {
        let expected = format!(
            "`{text}` has two readings: bits per second, which is `{bits}`, and bytes per second \
             as in tc, which is `{bytes}`"
        );
        assert_eq!(rate(text), Err(expected));
    }
}

#[test]
fn a_bad_quantity_says_what_would_be_right() {
    let units = "write for example \"800kbit\" (units: bit, kbit, mbit, gbit, tbit)";
    assert_eq!(rate("8 mb"), Err(format!("`8 mb` is not a rate: there is no unit `mb`; {units}")));
    assert_eq!(rate("800"), Err(format!("`800` is not a rate: it has no unit; {units}")));
    assert_eq!(
        rate("fast"),
        Err(format!("`fast` is not a rate: it does not begin with a number; {units}"))
    );
    assert_eq!(
        rate("-1kbit"),
        Err(format!("`-1kbit` is not a rate: it does not begin with a number; {units}"))
    );
    assert_eq!(
        rate("1.5bit"),
        Err(format!(
            "`1.5bit` is not a rate: it is not a whole number of bits per second; {units}"
        ))
    );
    assert_eq!(
        rate("99999999tbit"),
        Err(format!("`99999999tbit` is not a rate: it is too large; {units}"))
    );
    let units = "write for example \"100ms\" (units: ns, us, ms, s)";
    assert_eq!(nanos("100"), Err(format!("`100` is not a duration: it has no unit; {units}")));
    assert_eq!(
        nanos("1min"),
        Err(format!("`1min` is not a duration: there is no unit `min`; {units}"))
    );
    assert_eq!(
        nanos("0.5ns"),
        Err(format!("`0.5ns` is not a duration: it is not a whole number of nanoseconds; {units}"))
    );
    let units = "write for example \"64kb\" (units: b, kb, mb, gb)";
    assert_eq!(
        bytes("64kbit"),
        Err(format!("`64kbit` is not a size: there is no unit `kbit`; {units}"))
    );
}

#[test]
fn durations_and_sizes_are_exact() {
    assert_eq!(nanos("100ms"), Ok(100_000_000));
    assert_eq!(nanos("1.5s"), Ok(1_500_000_000));
    assert_eq!(nanos("20us"), Ok(20_000));
    assert_eq!(nanos("0.1ms"), Ok(100_000));
    assert_eq!(nanos("3nsecs"), Ok(3));
    assert_eq!(nanos("0"), Ok(0));
    assert_eq!(bytes("1000"), Ok(1000));
    assert_eq!(bytes("1000b"), Ok(1000));
    assert_eq!(bytes("64kb"), Ok(65_536));
    assert_eq!(bytes("1mb"), Ok(1 << 20));
    assert_eq!(bytes("1.5kb"), Ok(1536));
    assert_eq!("64seg".parse(), Ok(Amount::Segments(64)));
    assert_eq!("64kb".parse(), Ok(Amount::Bytes(65_536)));
    assert_eq!("1000".parse(), Ok(Amount::Bytes(1000)));
    assert_eq!(Amount::Segments(64).bytes(1000), 64_000);
}

#[test]
fn a_percentage_is_the_nearest_float() {
    assert_eq!("1%".parse::<Probability>().map(Probability::get), Ok(0.01));
    assert_eq!("0.01".parse::<Probability>().map(Probability::get), Ok(0.01));
    assert_eq!("12.5%".parse::<Probability>().map(Probability::get), Ok(0.125));
    assert_eq!("0.3%".parse::<Probability>().map(Probability::get), Ok(0.003));
    assert_eq!("100%".parse::<Probability>().map(Probability::get), Ok(1.0));
    let e = |t: &str| format!("`{t}` is not a probability: write a number from 0 to 1, or \"1%\"");
    assert_eq!("101%".parse::<Probability>().map_err(|e| e.to_string()), Err(e("101%")));
    assert_eq!("1ms".parse::<Probability>().map_err(|e| e.to_string()), Err(e("1ms")));
    assert_eq!("1e-3".parse::<Probability>().map(Probability::get), Ok(0.001));
    assert_eq!("1e3".parse::<Probability>().map_err(|e| e.to_string()), Err(e("1e3")));
    assert_eq!(Probability::new(f64::NAN), None);
}

#[test]
fn what_is_written_reads_back() {
    for bits in [0, 1, 999, 1000, 1_200_000, 800_000, 8_000_001, 10_000_000_000, u64::MAX] {
        assert_eq!(Rate(bits).to_string().parse(), Ok(Rate(bits)));
    }
    for ns in [0, 1, 999, 100_000, 100_000_000, 1_500_000_000, 1_000_000_001, u64::MAX] {
        let d = Duration(Span(ns));
        assert_eq!(d.to_string().parse(), Ok(d));
    }
    for n in [0, 1, 1000, 1024, 65_536, 65_000, 1 << 20, 3 << 30, u64::MAX] {
        assert_eq!(Size(n).to_string().parse(), Ok(Size(n)));
    }
    assert_eq!(Rate(1_200_000).to_string(), "1.2mbit");
    assert_eq!(Rate(800_000).to_string(), "800kbit");
    assert_eq!(Duration(Span(100_000)).to_string(), "100us");
    assert_eq!(Duration(Span(1_050_000_000)).to_string(), "1.05s");
    assert_eq!(Size(65_536).to_string(), "64kb");
    assert_eq!(Size(1000).to_string(), "1000b");
    assert_eq!(Amount::Segments(64).to_string(), "64seg");
}

#[test]
fn nothing_panics_on_odd_texts() {
    for text in [
        "",
        ".",
        "_",
        "1_",
        "1..2",
        "9".repeat(400).as_str(),
        "1.",
        ".5s",
        "é",
        "1é",
        "\0",
        "0x10",
        "1e3s",
        "∞s",
        "NaN",
        "0.0000000000000000000000000000001s",
    ] {
        let _ = (
            rate(text),
            nanos(text),
            bytes(text),
            text.parse::<Amount>(),
            text.parse::<Probability>(),
        );
    }
    assert!(nanos("1.").is_err());
    assert_eq!(nanos("1.s"), Ok(1_000_000_000));
}

#[test]
fn what_is_wrong_with_a_number_is_named() {
    let why = |text: &str| rate(text).unwrap_err().to_string();
    for (text, reason) in [
        ("mbit", "it does not begin with a number"),
        ("1.2.3mbit", "its number has two points"),
        ("1._5mbit", "`_` stands between digits only"),
        ("0.1234567890123456789012345678901mbit", "its number has more than 30 digits"),
        ("1234567890123456789012345678901bit", "its number has more than 30 digits"),
    ] {
        let known = "write for example \"800kbit\" (units: bit, kbit, mbit, gbit, tbit)";
        assert_eq!(why(text), format!("`{text}` is not a rate: {reason}; {known}"));
    }
}

/// Every text that the schema of a quantity takes is read, but for what no pattern can say. A rate
/// is above zero, as every key asks for.
#[test]
fn what_the_schema_takes_is_read() {
    fn check<T: JsonSchema>(read: impl Fn(&str) -> Result<(), String>) {
        let schema = schemars::schema_for!(T);
        let pattern = schema.get("pattern").unwrap().as_str().unwrap();
        let texts = string_regex(pattern.strip_prefix('^').unwrap().strip_suffix('$').unwrap());
        let unsayable =
            ["it is too large", "too many segments", "it is not a whole number of bytes"];
        let run = |text: String| {
            let binary = |unit| text.to_lowercase().contains(unit);
            match read(&text) {
                Err(_) if text.chars().filter(char::is_ascii_digit).count() > 30 => {}
                Err(why) if unsayable.iter().any(|reason| why.contains(reason)) => {}
                Err(why) if why.contains("not a whole number of bits") && binary("ibit") => {}
                read => assert_eq!(read, Ok(()), "{text}"),
            }
            Ok(())
        };
        TestRunner::deterministic().run(&texts.unwrap(), run).unwrap();
    }
    fn any<T: FromStr<Err = UnitError>>(text: &str) -> Result<(), String> {
        text.parse::<T>().map(drop).map_err(|error| error.to_string())
    }
    check::<Rate>(|text| match text.parse::<Rate>() {
        Ok(Rate(0)) => Err("no rate".into()),
        read => read.map(drop).map_err(|error| error.to_string()),
    });
    check::<Duration>(any::<Duration>);
    check::<Size>(any::<Size>);
    check::<Amount>(any::<Amount>);
    check::<Probability>(any::<Probability>);
}
