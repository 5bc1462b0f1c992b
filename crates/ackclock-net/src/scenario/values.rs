//! Values that are written as one word but are no quantities.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use ackclock_tcp::Span;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::units::{Duration, UnitError, pattern};

/// Whether and how long ACKs wait: `off`, a duration, `bsd`, `linux` or `ns2:` and a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// Every segment is acknowledged at once.
    Off,
    /// As soon as more than a full segment is unacknowledged, or after this delay.
    After(Duration),
    /// As soon as more than a full segment is unacknowledged, or with the next tick of a timer of
    /// 200 ms with a random phase for each flow.
    Bsd,
    /// When a Linux receiver acknowledges.
    Linux,
    /// As soon as a second segment comes, or after this delay; a duplicate of the newest segment in
    /// order waits too, as in ns-2.
    Ns2(Duration),
}

/// The `nth` retransmission of a segment, written `14:1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retransmission {
    /// The segment, from 0.
    pub segment: u64,
    /// Which retransmission, from 1.
    pub nth: u32,
}

/// Segments from 0, the last one included, written `14` or `14-20`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentRange(pub RangeInclusive<u64>);

/// A longer range is taken for a mistake.
const LONGEST_RANGE: u64 = 1_000_000;

impl FromStr for SegmentRange {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let number = |part: &str| part.trim().parse::<u64>().ok();
        let ends = match text.split_once('-') {
            Some((first, last)) => number(first).zip(number(last)),
            None => number(text).map(|one| (one, one)),
        };
        match ends {
            Some((first, last)) if first > last => {
                Err(UnitError::new(format!("`{text}` is a range that ends before it begins")))
            }
            Some((first, last)) if last - first >= LONGEST_RANGE => {
                Err(UnitError::new(format!("`{text}` has more than {LONGEST_RANGE} segments")))
            }
            Some((first, last)) => Ok(SegmentRange(first..=last)),
            None => Err(UnitError::new(format!(
                "`{text}` is not a segment number, and no range such as `14-20`"
            ))),
        }
    }
}

impl<'de> Deserialize<'de> for SegmentRange {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct NumberOrRange;
        impl Visitor<'_> for NumberOrRange {
            type Value = SegmentRange;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number, 0 or more, or a range such as \"14-20\"")
            }

            fn visit_u64<E: de::Error>(self, n: u64) -> Result<SegmentRange, E> {
                Ok(SegmentRange(n..=n))
            }

            fn visit_i64<E: de::Error>(self, n: i64) -> Result<SegmentRange, E> {
                let number = u64::try_from(n);
                let wrong = |_| E::invalid_value(Unexpected::Signed(n), &self);
                number.map(|n| SegmentRange(n..=n)).map_err(wrong)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<SegmentRange, E> {
                text.parse().map_err(E::custom)
            }
        }
        d.deserialize_any(NumberOrRange)
    }
}

impl JsonSchema for SegmentRange {
    fn schema_name() -> Cow<'static, str> {
        "SegmentRange".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "string", "pattern": "^ *[0-9]+ *(- *[0-9]+ *)?$" }
            ],
            "description": "A segment, counted from 0, or a range with both ends.",
            "examples": [14, "14-20"]
        })
    }
}

impl FromStr for DelayedAck {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        match text.trim() {
            "off" => return Ok(DelayedAck::Off),
            "bsd" => return Ok(DelayedAck::Bsd),
            "linux" => return Ok(DelayedAck::Linux),
            _ => {}
        }
        let (ns2, time) = match text.trim().strip_prefix("ns2:") {
            Some(time) => (true, time),
            None => (false, text),
        };
        let delay: Duration = time
            .parse()
            .map_err(|e: UnitError| e.or("\"off\", \"bsd\", \"linux\" or \"ns2:200ms\""))?;
        if delay.0 > Span::from_millis(500) {
            return Err(UnitError::new(format!(
                "`{text}`: an ACK may wait for at most 500ms (RFC 5681 section 4.2)"
            )));
        }
        Ok(if ns2 { DelayedAck::Ns2(delay) } else { DelayedAck::After(delay) })
    }
}

impl FromStr for Retransmission {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let parts = text.trim().split_once(':');
        let parsed = parts.and_then(|(segment, nth)| {
            Some(Retransmission {
                segment: segment.parse().ok()?,
                nth: nth.parse().ok().filter(|n| *n > 0)?,
            })
        });
        parsed.ok_or_else(|| {
            UnitError::new(format!(
                "`{text}` is not SEGMENT:NTH; \"14:1\" is the first retransmission of segment 14, \
                 counted from 0"
            ))
        })
    }
}

impl fmt::Display for DelayedAck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DelayedAck::Off => f.write_str("off"),
            DelayedAck::After(delay) => delay.fmt(f),
            DelayedAck::Bsd => f.write_str("bsd"),
            DelayedAck::Linux => f.write_str("linux"),
            DelayedAck::Ns2(delay) => write!(f, "ns2:{delay}"),
        }
    }
}

impl fmt::Display for Retransmission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.segment, self.nth)
    }
}

macro_rules! word {
    ($type:ident, $schema:tt) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                Cow::<str>::deserialize(d)?.parse().map_err(de::Error::custom)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
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

word!(DelayedAck, {
    "type": "string",
    "pattern": format!("^(off|bsd|linux|(ns2:)?({}))$", pattern::time()),
    "description": "`off`, a duration of at most 500 ms, `bsd`, `linux`, or `ns2:` and such a duration.",
    "examples": ["off", "200ms", "bsd", "linux", "ns2:200ms"]
});

word!(Retransmission, {
    "type": "string",
    "pattern": "^[0-9]+:[1-9][0-9]*$",
    "description": "SEGMENT:NTH, the NTH retransmission (from 1) of SEGMENT (from 0).",
    "examples": ["14:1"]
});
