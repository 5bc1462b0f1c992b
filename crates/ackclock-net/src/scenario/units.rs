//! Quantities with units, written as iproute2 writes them (tc(8), "PARAMETERS"), and read exactly:
//! no value passes through floating point on its way to bits, bytes or nanoseconds.

pub(super) mod pattern;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use ackclock_tcp::Span;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A rate in bits per second: `800kbit`, `1.2mbit`, `10gbit`. `bps` and its multiples are refused:
/// they are bytes per second in tc, and bits per second elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(pub u64);

/// A length of time: `100ms`, `1.5s`, `20us`, `5ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Duration(pub Span);

/// A number of bytes: `1000`, `1000b`, `64kb`, `1mb`; `kb` is 1024 bytes, as in tc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// A window or an amount of data: bytes as in [`Size`], or full segments (`64seg`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// Segments of `mss` bytes.
    Segments(u64),
}

/// A probability from 0 to 1: `0.01` or `1%`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default)]
pub struct Probability(f64);

/// Why a text is not the quantity it should be; says what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnitError(String);

impl UnitError {
    pub(super) fn new(message: String) -> Self {
        UnitError(message)
    }

    /// Names a further form that would have been right.
    pub(super) fn or(self, form: &str) -> Self {
        UnitError(format!("{self}, or {form}"))
    }
}

/// A kind of quantity: its name, an example, and each unit with what it is worth in the base unit.
struct Kind {
    article: &'static str,
    example: &'static str,
    base: &'static str,
    units: &'static [(&'static str, u64)],
    /// Other spellings that are read but never written or suggested.
    aliases: &'static [(&'static str, u64)],
}

const RATE: Kind = Kind {
    article: "a rate",
    example: "800kbit",
    base: "bits per second",
    units: &[
        ("bit", 1),
        ("kbit", 1_000),
        ("mbit", 1_000_000),
        ("gbit", 1_000_000_000),
        ("tbit", 1_000_000_000_000),
    ],
    aliases: &[("kibit", 1 << 10), ("mibit", 1 << 20), ("gibit", 1 << 30), ("tibit", 1 << 40)],
};

const TIME: Kind = Kind {
    article: "a duration",
    example: "100ms",
    base: "nanoseconds",
    units: &[("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)],
    aliases: &[
        ("nsec", 1),
        ("nsecs", 1),
        ("usec", 1_000),
        ("usecs", 1_000),
        ("msec", 1_000_000),
        ("msecs", 1_000_000),
        ("sec", 1_000_000_000),
        ("secs", 1_000_000_000),
    ],
};

const SIZE: Kind = Kind {
    article: "a size",
    example: "64kb",
    base: "bytes",
    units: &[("b", 1), ("kb", 1 << 10), ("mb", 1 << 20), ("gb", 1 << 30)],
    aliases: &[("", 1), ("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30)],
};

const SEGMENTS: [&str; 3] = ["seg", "segment", "segments"];

/// A non-negative decimal number: `digits / 10^scale`.
struct Decimal {
    digits: u128,
    scale: u32,
}

impl Decimal {
    /// So many times this number, without zeros at its end.
    fn times(&self, factor: u128) -> String {
        let (product, unit) = (self.digits.saturating_mul(factor), 10u128.pow(self.scale));
        let fraction = format!("{:0width$}", product % unit, width = self.scale as usize);
        match fraction.trim_end_matches('0') {
            "" => (product / unit).to_string(),
            fraction => format!("{}.{fraction}", product / unit),
        }
    }
}

/// Splits `text` into its number and the lower-case unit behind it. Or says why it cannot.
fn split(text: &str) -> Result<(Decimal, String), &'static str> {
    let text = text.trim();
    let end =
        text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    if !whole.starts_with(|c: char| c.is_ascii_digit()) {
        return Err("it does not begin with a number");
    }
    if fraction.contains('.') {
        return Err("its number has two points");
    }
    if fraction.starts_with('_') {
        return Err("`_` stands between digits only");
    }
    let digits = |text: &str| text.replace('_', "");
    let (whole, fraction) = (digits(whole), digits(fraction));
    // Thirty digits are more than any quantity here has, and they fit u128.
    if whole.len() + fraction.len() > 30 {
        return Err("its number has more than 30 digits");
    }
    let scale = fraction.len() as u32;
    let digits = (whole + &fraction).bytes().fold(0, |sum, c| sum * 10 + u128::from(c - b'0'));
    Ok((Decimal { digits, scale }, unit.trim().to_ascii_lowercase()))
}

impl Kind {
    fn units(&self) -> String {
        self.units.iter().map(|&(name, _)| name).collect::<Vec<_>>().join(", ")
    }

    fn bad(&self, text: &str, why: &str) -> UnitError {
        let (article, example, units) = (self.article, self.example, self.units());
        UnitError(format!(
            "`{text}` is not {article}: {why}; write for example \"{example}\" (units: {units})"
        ))
    }

    fn parse(&self, text: &str) -> Result<u64, UnitError> {
        let (number, unit) = split(text).map_err(|why| self.bad(text, why))?;
        let Some(&(_, factor)) =
            self.units.iter().chain(self.aliases).find(|(name, _)| *name == unit)
        else {
            let why = if unit.is_empty() {
                "it has no unit".into()
            } else {
                format!("there is no unit `{unit}`")
            };
            return Err(self.bad(text, &why));
        };
        let too_large = || self.bad(text, "it is too large");
        let scaled = number.digits.checked_mul(u128::from(factor)).ok_or_else(too_large)?;
        let divisor = 10u128.pow(number.scale);
        if scaled % divisor != 0 {
            return Err(self.bad(text, &format!("it is not a whole number of {}", self.base)));
        }
        u64::try_from(scaled / divisor).map_err(|_| too_large())
    }

    /// Writes `value` in the largest of the first `n` units that does not exceed it, exactly.
    fn write(&self, f: &mut fmt::Formatter<'_>, value: u64, n: usize) -> fmt::Result {
        let units = &self.units[..n];
        let &(name, factor) =
            units.iter().rev().find(|(_, factor)| *factor <= value).unwrap_or(&units[0]);
        let (whole, rest) = (value / factor, value % factor);
        if rest == 0 {
            return write!(f, "{whole}{name}");
        }
        let width = factor.ilog10() as usize;
        write!(f, "{whole}.{}{name}", format!("{rest:0width$}").trim_end_matches('0'))
    }
}

impl FromStr for Rate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        if let Ok((number, unit)) = split(text)
            && let Some(prefix) = unit.strip_suffix("bps")
        {
            let (bits, bytes) = (number.times(1), number.times(8));
            return Err(UnitError(format!(
                "`{text}` has two readings: bits per second, which is `{bits}{prefix}bit`, and \
                 bytes per second as in tc, which is `{bytes}{prefix}bit`"
            )));
        }
        RATE.parse(text).map(Rate)
    }
}

impl FromStr for Duration {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        // A bare zero needs no unit.
        if text.trim() == "0" {
            return Ok(Duration(Span::ZERO));
        }
        TIME.parse(text).map(|ns| Duration(Span(ns)))
    }
}

impl FromStr for Size {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        SIZE.parse(text).map(Size)
    }
}

impl FromStr for Amount {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        match split(text) {
            Ok((number, unit)) if SEGMENTS.contains(&unit.as_str()) => {
                if number.scale != 0 {
                    return Err(UnitError(format!("`{text}` is not a whole number of segments")));
                }
                let segments =
                    u64::try_from(number.digits).ok().filter(|n| *n <= u64::from(u32::MAX));
                segments
                    .map(Amount::Segments)
                    .ok_or_else(|| UnitError(format!("`{text}`: too many segments")))
            }
            _ => {
                SIZE.parse(text).map(Amount::Bytes).map_err(|e| e.or("\"64seg\" for full segments"))
            }
        }
    }
}

impl FromStr for Probability {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let bad = || {
            UnitError(format!(
                "`{text}` is not a probability: write a number from 0 to 1, or \"1%\""
            ))
        };
        // With an exponent, too, as TOML and JSON write numbers.
        if text.trim().starts_with(|c: char| c.is_ascii_digit())
            && let Ok(value) = text.trim().parse()
        {
            return Probability::new(value).ok_or_else(bad);
        }
        let (number, unit) = split(text).map_err(|_| bad())?;
        let exponent = match unit.as_str() {
            "" => number.scale,
            "%" => number.scale + 2,
            _ => return Err(bad()),
        };
        // The float nearest to the decimal number, percent or not.
        let value: f64 = format!("{}e-{exponent}", number.digits).parse().map_err(|_| bad())?;
        Probability::new(value).ok_or_else(bad)
    }
}

impl Probability {
    /// `None` unless `value` lies between 0 and 1.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Probability(value))
    }

    /// The value, 0 to 1.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Amount {
    /// In bytes, with segments of `mss` bytes.
    pub fn bytes(self, mss: u32) -> u64 {
        match self {
            Amount::Bytes(bytes) => bytes,
            Amount::Segments(segments) => segments.saturating_mul(u64::from(mss)),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        RATE.write(f, self.0, 5)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.nanos() {
            0 => f.write_str("0s"),
            ns => TIME.write(f, ns, 4),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shift = match self.0 {
            0 => 0,
            n => (n.trailing_zeros() / 10 * 10).min(30),
        };
        write!(f, "{}{}", self.0 >> shift, SIZE.units[shift as usize / 10].0)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Amount::Bytes(bytes) => Size(bytes).fmt(f),
            Amount::Segments(n) => write!(f, "{n}{}", SEGMENTS[0]),
        }
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Reads a quantity from a TOML string or, where `T` allows it, a bare number.
struct Quantity<T> {
    expecting: &'static str,
    integer: fn(u64) -> Result<T, UnitError>,
    float: fn(f64) -> Result<T, UnitError>,
}

impl<T: FromStr<Err = UnitError>> Visitor<'_> for Quantity<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, n: u64) -> Result<T, E> {
        (self.integer)(n).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, n: i64) -> Result<T, E> {
        match u64::try_from(n) {
            Ok(n) => self.visit_u64(n),
            Err(_) => Err(E::custom(format!("`{n}` is negative; expected {}", self.expecting))),
        }
    }

    fn visit_f64<E: de::Error>(self, x: f64) -> Result<T, E> {
        (self.float)(x).map_err(E::custom)
    }
}

macro_rules! quantity {
    ($type:ident, $expecting:literal, $schema:tt, $integer:expr, $float:expr, $write:expr) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                d.deserialize_any(Quantity {
                    expecting: $expecting,
                    integer: $integer,
                    float: $float,
                })
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                let write: fn(&$type, S) -> Result<S::Ok, S::Error> = $write;
                write(self, s)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

quantity!(
    Rate,
    "a rate such as \"800kbit\"",
    {
        "type": "string",
        "pattern": pattern::rate(),
        "description": "A rate: bit, kbit, mbit, gbit, tbit, as in tc.",
        "examples": ["800kbit", "1.2mbit", "10gbit"]
    },
    |n| RATE.parse(&n.to_string()).map(Rate),
    |x| Err(RATE.bad(&format!("{x:?}"), "it has no unit")),
    |v, s| s.collect_str(v)
);

quantity!(
    Duration,
    "a duration such as \"100ms\"",
    {
        "type": ["string", "integer"],
        "pattern": format!("^({})$", pattern::time()),
        "maximum": 0,
        "description": "A duration: ns, us, ms, s. Only 0 needs no unit.",
        "examples": ["100ms", "1.5s", "20us"]
    },
    |n| n.to_string().parse(),
    |x| Err(TIME.bad(&format!("{x:?}"), "it has no unit")),
    |v, s| s.collect_str(v)
);

quantity!(
    Size,
    "a size such as \"64kb\" or a number of bytes",
    {
        "type": ["string", "integer"],
        "pattern": format!("^({})$", pattern::size()),
        "minimum": 0,
        "description": "Bytes: a plain number, or b, kb (1024 bytes), mb, gb.",
        "examples": [1000, "64kb", "1mb"]
    },
    |n| Ok(Size(n)),
    |x| Err(SIZE.bad(&format!("{x:?}"), "it is not a whole number of bytes")),
    |v, s| s.collect_str(v)
);

quantity!(
    Amount,
    "a size such as \"64kb\", a number of bytes, or \"64seg\" for full segments",
    {
        "type": ["string", "integer"],
        "pattern": format!(
            "^({}|{} ?[sS][eE][gG]([mM][eE][nN][tT][sS]?)?)$",
            pattern::size(),
            pattern::number(0)
        ),
        "minimum": 0,
        "description": "Bytes (a plain number, b, kb, mb, gb) or full segments (seg).",
        "examples": [65535, "64kb", "64seg"]
    },
    |n| Ok(Amount::Bytes(n)),
    |x| Err(SIZE.bad(&format!("{x:?}"), "it is not a whole number of bytes")),
    |v, s| s.collect_str(v)
);

quantity!(
    Probability,
    "a probability such as 0.01 or \"1%\"",
    {
        "type": ["string", "number"],
        "pattern": pattern::PROBABILITY,
        "minimum": 0,
        "maximum": 1,
        "description": "A probability from 0 to 1, or a percentage.",
        "examples": [0.01, "1%"]
    },
    |n| n.to_string().parse(),
    |x| Probability::new(x).ok_or_else(|| UnitError(format!(
        "`{x}` is not a probability: write a number from 0 to 1, or \"1%\""
    ))),
    |v, s| s.serialize_f64(v.0)
);

#[cfg(test)]
mod tests;
