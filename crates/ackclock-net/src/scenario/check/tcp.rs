//! Settings of TCP.

use ackclock_tcp::Span;

use super::ranges::size_within;
use crate::scenario::error::{Checked, fail};
use crate::scenario::model::Tcp;
use crate::scenario::path::{Step, child, steps};
use crate::scenario::units::{Amount, Duration, Size};
use crate::scenario::values::DelayedAck;

/// Smallest MSS that a SYN can announce: every host takes IP packets of 68 bytes (RFC 791 section
/// 3.2).
const LEAST_HANDSHAKE_MSS: u64 = 28;

/// Largest MSS: an IPv4 packet of 65,535 bytes without its two headers.
const MOST_MSS: u64 = 65_495;

/// The same with timestamps, which take 12 bytes of each segment (RFC 7323 appendix A).
const MOST_MSS_WITH_TIMESTAMPS: u64 = MOST_MSS - 12;

/// `max_rto` where it is not given, with most timers (RFC 6298 section 2.5).
const MAX_RTO: Duration = Duration(Span::from_secs(60));

/// Largest receive buffer: what a window scaled by 14 can offer (RFC 7323 section 2.3).
const MOST_RWND: u64 = 1 << 30;

/// Checks the settings under the key `at`, each by itself.
pub(super) fn check_tcp(tcp: &Tcp, at: &[Step]) -> Checked {
    size_within(tcp.mss, MOST_MSS, &child(at, "mss"))?;
    let out = |key: &str, n: u32, range: &str| {
        fail(&child(at, key), format!("{n} is out of range: {range}"))
    };
    match tcp {
        Tcp { initial_window: Some(n), .. } if !(1..=10).contains(n) => {
            out("initial_window", *n, "1 to 10 segments")?
        }
        Tcp { ack_every: Some(n), .. } if !(1..=1000).contains(n) => {
            out("ack_every", *n, "1 to 1000 segments")?
        }
        Tcp { max_burst: Some(0), .. } => out("max_burst", 0, "1 segment or more")?,
        Tcp { window_scale: Some(n), .. } if *n > 14 => {
            out("window_scale", (*n).into(), "0 to 14 (RFC 7323)")?
        }
        Tcp { header: Some(n), .. } if *n > 1000 => out("header", *n, "0 to 1000 bytes")?,
        Tcp { ack_size: Some(n), .. } if *n > 1000 => out("ack_size", *n, "0 to 1000 bytes")?,
        _ => {}
    }
    if tcp.max_rto.is_some_and(|max| max.0 < Span::from_secs(1)) {
        fail(&child(at, "max_rto"), "at least 1s; RFC 6298 section 2.5 asks for 60s")?;
    }
    for (key, amount) in
        [("initial_ssthresh", tcp.initial_ssthresh), ("rwnd", tcp.rwnd), ("max_cwnd", tcp.max_cwnd)]
    {
        match amount {
            Some(Amount::Bytes(0) | Amount::Segments(0)) => {
                fail(&child(at, key), "at least 1 byte")?
            }
            Some(Amount::Bytes(n)) if n > MOST_RWND => fail(&child(at, key), "at most 1gb")?,
            _ => {}
        }
    }
    Ok(())
}

/// Checks which of a flow's settings go together: its `own` ones, and those of `shared` that it
/// does not set. The flow is under the key `at`.
pub(super) fn check_combinations(own: &Tcp, shared: &Tcp, at: &[Step]) -> Checked {
    let tcp = &own.or(shared);
    // The key where it is written down.
    let place = |key: &str, is_own: bool| {
        let table = steps!["tcp"];
        if is_own { child(&[at, &table[..]].concat(), key) } else { child(&table, key) }
    };
    let message = match tcp.delayed_ack {
        Some(DelayedAck::Off) => {
            "with `delayed_ack = \"off\"` every segment is acknowledged; \
             write a delay such as \"1ms\""
        }
        Some(DelayedAck::Linux) => {
            "with `delayed_ack = \"linux\"` it is two; write a delay such as \"40ms\""
        }
        Some(DelayedAck::Ns2(_)) => {
            "with `delayed_ack = \"ns2:...\"` it is two; write a delay such as \"40ms\""
        }
        _ => "",
    };
    if tcp.ack_every.is_some() && !message.is_empty() {
        fail(&place("ack_every", own.ack_every.is_some()), message)?;
    }
    if tcp.dctcp_echo == Some(true) && tcp.ecn != Some(true) {
        let message = "it echoes marks of ECN; add `ecn = true`";
        fail(&place("dctcp_echo", own.dctcp_echo.is_some()), message)?;
    }
    if let Some(min) = tcp.min_rto.filter(|min| *min > tcp.max_rto.unwrap_or(MAX_RTO)) {
        let message = match tcp.max_rto {
            Some(max) => format!("{min} is above `max_rto`, {max}; lower it, or raise `max_rto`"),
            None => format!("{min} is above {MAX_RTO}; lower it, or give `max_rto`, too"),
        };
        fail(&place("min_rto", own.min_rto.is_some()), message)?;
    }
    if let Tcp { timestamps: Some(true), mss: Some(Size(n)), .. } = tcp
        && *n > MOST_MSS_WITH_TIMESTAMPS
    {
        let message = format!(
            "{n} is out of range: 1 to {MOST_MSS_WITH_TIMESTAMPS} bytes with `timestamps = true`"
        );
        fail(&place("mss", own.mss.is_some()), message)?;
    }
    if let Tcp { window_scale: Some(scale), rwnd: Some(rwnd), mss, .. } = tcp
        && rwnd.bytes(mss.map_or(1460, |Size(n)| n as u32)) >> scale == 0
    {
        let message = format!("a buffer below {} is offered as 0; raise `rwnd`", Size(1 << scale));
        fail(&place("window_scale", own.window_scale.is_some()), message)?;
    }
    if let Tcp { handshake: Some(true), first_rtt: Some(_), .. } = tcp {
        let message = "a handshake measures the first round trip; leave out either of the two";
        fail(&place("first_rtt", own.first_rtt.is_some()), message)?;
    }
    if let Tcp { handshake: Some(true), mss: Some(Size(..LEAST_HANDSHAKE_MSS)), .. } = tcp {
        let message = format!(
            "a connection opens with an MSS of {LEAST_HANDSHAKE_MSS} bytes at least; raise `mss`"
        );
        fail(&place("handshake", own.handshake.is_some()), message)?;
    }
    Ok(())
}
