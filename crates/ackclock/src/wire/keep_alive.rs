//! Whether clients that say nothing are asked if they are there (RFC 9293 section 3.8.4).

use std::str::FromStr;

use ackclock_net::scenario::units::Duration;
use ackclock_tcp::Span;
use ackclock_tcp::connection::KeepAlive;
use serde::Deserialize;

/// Questions without an answer that end a connection.
const COUNT: u32 = 6;

/// `off`, or after how long a client is asked: who does not answer for as long again is gone.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct KeepAlives(pub Option<KeepAlive>);

impl FromStr for KeepAlives {
    type Err = String;

    fn from_str(text: &str) -> Result<KeepAlives, String> {
        if text == "off" {
            return Ok(KeepAlives(None));
        }
        let wrong = || format!("`{text}` is neither `off` nor a time of at least 1s, such as 60s");
        let Duration(idle) = text.parse().map_err(|_| wrong())?;
        if idle < Span::from_secs(1) {
            return Err(wrong());
        }
        let interval = Span(idle.0 / u64::from(COUNT));
        Ok(KeepAlives(Some(KeepAlive { idle, interval, count: COUNT })))
    }
}

impl TryFrom<String> for KeepAlives {
    type Error = String;

    fn try_from(text: String) -> Result<KeepAlives, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests;
