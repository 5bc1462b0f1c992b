//! What things are called: one word each for machines, and plain English for people.

use std::net::{IpAddr, SocketAddr};

use ackclock_tcp::{Time, TimeoutClass};
use ackclock_trace::{
    Ended, Kind, Limit, Reset, ResetBy, Retransmission, Spurious, Stall, StallCause, Timeout,
    Vantage,
};

use crate::explained::{Capture, End, Found, sent_by};

/// Without the class of a timeout.
pub(crate) const fn cause(cause: StallCause) -> &'static str {
    match cause {
        StallCause::Timeout(_) => "timeout",
        StallCause::TailLossProbe => "tail_loss_probe",
        StallCause::ProbeOrTimeout => "probe_or_timeout",
        StallCause::Recovery => "recovery",
        StallCause::Application => "application",
        StallCause::ReceiveWindow => "receive_window",
        StallCause::ZeroWindow => "zero_window",
        StallCause::CaptureGap => "capture_gap",
        StallCause::Network => "network",
        StallCause::Unknown => "unknown",
    }
}

/// What limits a sender, for people.
pub(crate) const fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Handshake => "handshake",
        Limit::Application => "application",
        Limit::ReceiveWindow => "receive window",
        Limit::CongestionWindow => "congestion window",
        Limit::Recovery => "recovery",
        Limit::Path => "path",
        Limit::Nagle => "Nagle",
    }
}

/// The same as the beginning of a sentence on this sender: `the path carried what it could`.
/// `full`: the bottleneck was busy for most of what the path limited.
pub(crate) fn limited(limit: Limit, sender: End, full: bool) -> String {
    let (from, to) = match sender {
        End::Client => ("client", "server"),
        End::Server => ("server", "client"),
    };
    match limit {
        // A lost SYN of either end holds up both.
        Limit::Handshake => "the handshake lasted".into(),
        Limit::Application => format!("the {from}'s application had nothing to send"),
        Limit::ReceiveWindow => format!("the {to}'s receive window held the {from} back"),
        Limit::CongestionWindow => {
            format!(
                "the {from}'s congestion window or send buffer held it back, with no loss to \
                 repair,"
            )
        }
        Limit::Recovery => format!("the {from} repaired losses or waited for its timer"),
        Limit::Path if full => "the path carried what it could".into(),
        Limit::Path => format!("all that the {from} had was on its way"),
        Limit::Nagle => format!("small segments of the {from} waited for ACKs (Nagle's algorithm)"),
    }
}

/// Why packets of a capture were left out, for people: `12 in IPsec ESP`.
pub(crate) fn left_out(capture: &Capture) -> Vec<String> {
    let links: Vec<String> = capture.links.iter().map(u16::to_string).collect();
    let said = |(why, packets): (&&str, &u64)| {
        let why = match *why {
            "link_type" => &format!("of link type {}", links.join(", ")),
            "icmp_too_big" => "ICMP of packets too big that say nothing of a TCP segment",
            "in_ipsec_esp" => "in IPsec ESP",
            "in_l2tp" => "in L2TP",
            "in_pptp" => "in PPTP",
            "in_gtp" => "in GTP",
            "in_wireguard" => "in WireGuard",
            "in_openvpn" => "in OpenVPN",
            "in_encrypted_wlan" => "in encrypted 802.11",
            "in_macsec" => "in MACsec",
            "in_pseudowire" => "in pseudowires over MPLS",
            "in_tzsp" => "in TZSP",
            "in_amsdu" => "in A-MSDUs",
            other => &other.replace('_', " "),
        };
        format!("{packets} {why}")
    };
    capture.ignored.iter().map(said).collect()
}

/// What shows the packets of a stall of this end in Wireshark, and those of no other connection:
/// two clients may have the same port. Wireshark knows nothing of what the clock was set ahead by.
/// The ACK that a stall begins with takes effect when it has reached the sender, and passes the
/// capture before.
pub(crate) fn display_filter(found: &Found, from: End, stall: &Stall) -> String {
    let acked = Time(stall.start.0.saturating_sub(found.way_to(from).0));
    let text = |micros: u64| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    // Of one time are what came last before a step and what came first after it.
    let shown = |at: Time, is_before: fn(&Time, &Time) -> bool| {
        let steps = found.set_ahead.iter().filter(|jump| is_before(&jump.from, &at));
        steps.fold(at, |at, jump| at + jump.by).0
    };
    let start = shown(acked, Time::lt) / 1000;
    let end = shown(stall.end, Time::le).div_ceil(1000);
    let address = |end: SocketAddr| match end.ip() {
        IpAddr::V4(ip) => format!("ip.addr == {ip}"),
        IpAddr::V6(ip) => format!("ipv6.addr == {ip}"),
    };
    let (client, server) = (found.connection.client, found.connection.server);
    format!(
        "{} && {} && tcp.port == {} && tcp.port == {} && frame.time_epoch >= {} && \
         frame.time_epoch <= {}",
        address(client),
        address(server),
        client.port(),
        server.port(),
        text(start),
        text(end)
    )
}

/// The class of the timeout that ended a stall.
pub(crate) const fn cause_class(cause: StallCause) -> Option<&'static str> {
    match cause {
        StallCause::Timeout(c) => Some(c.name()),
        _ => None,
    }
}

/// What a spurious timeout sent had arrived, so that no lost retransmission is named beside it.
pub(crate) fn is_contradicted(class: TimeoutClass, spurious: bool) -> bool {
    spurious && class == TimeoutClass::LostRetransmission
}

/// Why nothing went on, for people: `timeout, lost retransmission`, or `outage`.
pub(crate) fn verdict(found: &Found, from: End, stall: &Stall) -> String {
    let flow = found.flow(from);
    // That the last timeout of an outage was spurious only says that an ACK was lost.
    if found.outage(from, stall).is_some() {
        return "outage".into();
    }
    let timeout = stall.timeout.and_then(|i| flow.timeouts.get(i));
    let spurious =
        timeout.is_some_and(|t| t.spurious.is_some()) && !lost_answer(found, from, stall);
    let sent = timeout.and_then(|timeout| sent_by(flow, timeout));
    let cause_said = match stall.cause {
        StallCause::Timeout(_) if sent.is_some_and(|r| r.syn) => {
            StallCause::Timeout(TimeoutClass::Handshake)
        }
        other => other,
    };
    match cause_said {
        StallCause::Timeout(class) if is_contradicted(class, spurious) => "spurious timeout".into(),
        StallCause::Timeout(class) if spurious => {
            format!("spurious timeout, {}", class_text(class))
        }
        StallCause::Timeout(class) => format!("timeout, {}", class_text(class)),
        other => cause(other).replace('_', " "),
    }
}

/// The client's SYN had arrived, but the answer to it had been lost, as the server's own timer
/// found in the same stall.
fn lost_answer(found: &Found, from: End, stall: &Stall) -> bool {
    let needed = |t: &Timeout| t.class == TimeoutClass::Handshake && t.spurious.is_none();
    let within = |t: &Timeout| (stall.start..=stall.end).contains(&t.at);
    let other = &found.flow(from.other()).timeouts;
    stall.cause == StallCause::Timeout(TimeoutClass::Handshake)
        && other.iter().any(|t| needed(t) && within(t))
}

pub(crate) const fn spurious(by: Spurious) -> &'static str {
    match by {
        Spurious::Dsack => "dsack",
        Spurious::Timestamp => "timestamp",
        Spurious::RoundTrip => "round_trip",
        Spurious::Arrival => "arrival",
        Spurious::FRto => "f_rto",
        Spurious::DuplicateAck => "duplicate_ack",
    }
}

pub(crate) const fn ended(ended: Ended) -> &'static str {
    match ended {
        Ended::Fin => "fin",
        Ended::Reset(_) => "reset",
        Ended::Refused => "refused",
        Ended::Open => "open",
        Ended::Reused => "reused",
        Ended::Idle => "idle",
    }
}

pub(crate) const fn vantage(vantage: Vantage) -> &'static str {
    match vantage {
        Vantage::Client => "client",
        Vantage::Server => "server",
        Vantage::Middle => "middle",
        Vantage::Unknown => "unknown",
    }
}

/// The kind of a retransmission for people.
pub(crate) const fn kind_text(kind: Kind) -> &'static str {
    match kind {
        Kind::FastRetransmit => "fast retransmit",
        Kind::Recovery => "retransmission in recovery",
        Kind::SlowStart => "slow-start retransmission",
        Kind::Timeout => "timeout",
        Kind::BackedOffTimeout => "backed-off timeout",
        Kind::TailLossProbe => "tail loss probe",
        Kind::ProbeOrTimeout => "tail loss probe or timeout",
        Kind::TooBig => "retransmission for which a router had asked",
        Kind::Unknown => "retransmission of unknown cause",
    }
}

/// The kind of a retransmission from this end for people, with what is to be said of its
/// probability.
pub(crate) fn kind_said(found: &Found, from: End, r: &Retransmission) -> String {
    let sure = found.is_sure(from, r);
    let probably = if sure || r.kind == Kind::Unknown { "" } else { "probably " };
    if r.kind == Kind::Unknown && r.syn {
        return match from {
            End::Client => "SYN, since the one before was not answered by a SYN/ACK".into(),
            End::Server => "SYN/ACK, since the SYN came again".into(),
        };
    }
    let what = if r.len == 0 && !r.syn { "FIN, " } else { "" };
    format!("{what}{probably}{}", kind_text(r.kind))
}

/// Who has reset a connection.
pub(crate) const fn reset_by(ended: Ended) -> Option<&'static str> {
    match ended {
        Ended::Reset(Reset { by: ResetBy::Client, .. }) => Some("client"),
        Ended::Reset(Reset { by: ResetBy::Server, .. }) => Some("server"),
        Ended::Reset(Reset { by: ResetBy::Both, .. }) => Some("both"),
        _ => None,
    }
}

/// Whether a reset has cut off what the other end had sent.
pub(crate) const fn cut_off(ended: Ended) -> bool {
    matches!(ended, Ended::Reset(Reset { cuts_off: true, .. }))
}

/// What a class says of the segment that the timer retransmitted.
pub(crate) const fn class_text(class: TimeoutClass) -> &'static str {
    match class {
        TimeoutClass::NonTrigger => "non-trigger",
        TimeoutClass::MultipleLosses => "multiple losses",
        TimeoutClass::LostRetransmission => "lost retransmission",
        TimeoutClass::BackedOff => "backed off",
        TimeoutClass::Handshake => "handshake",
        _ => "class unknown",
    }
}

/// How a retransmission proved spurious.
pub(crate) const fn spurious_text(by: Spurious) -> &'static str {
    match by {
        Spurious::Dsack => "D-SACK",
        Spurious::Timestamp => "timestamp echo",
        Spurious::RoundTrip => "acknowledged too soon",
        Spurious::Arrival => "the original arrived",
        Spurious::FRto => "what was not retransmitted was acknowledged next",
        Spurious::DuplicateAck => "a duplicate ACK answered it",
    }
}
