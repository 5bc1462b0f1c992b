//! What things are called: one word each for machines, and plain English for people.

use ackclock_trace::{Class, Ended, Flow, Kind, Needless, Stall, StallCause, Vantage};

/// Without the class of a timeout.
pub(crate) const fn cause(cause: StallCause) -> &'static str {
    match cause {
        StallCause::Timeout(_) => "timeout",
        StallCause::TailLossProbe => "tail_loss_probe",
        StallCause::Recovery => "recovery",
        StallCause::Application => "application",
        StallCause::ReceiveWindow => "receive_window",
        StallCause::ZeroWindow => "zero_window",
        StallCause::CaptureGap => "capture_gap",
        StallCause::Network => "network",
        StallCause::Unknown => "unknown",
    }
}

/// The class of the timeout that ended a stall.
pub(crate) const fn cause_class(cause: StallCause) -> Option<&'static str> {
    match cause {
        StallCause::Timeout(c) => Some(c.name()),
        _ => None,
    }
}

/// Why nothing went on, for people: `needless timeout, lost retransmission`.
pub(crate) fn verdict(flow: &Flow, stall: &Stall) -> String {
    let needless = stall.timeout.and_then(|i| flow.timeouts.get(i)).is_some_and(|t| t.needless.is_some());
    match stall.cause {
        StallCause::Timeout(class) if needless => format!("needless timeout, {}", class_text(class)),
        StallCause::Timeout(class) => format!("timeout, {}", class_text(class)),
        other => cause(other).replace('_', " "),
    }
}

pub(crate) const fn needless(by: Needless) -> &'static str {
    match by {
        Needless::Dsack => "dsack",
        Needless::Timestamp => "timestamp",
        Needless::RoundTrip => "round_trip",
        Needless::Arrival => "arrival",
    }
}

pub(crate) const fn ended(ended: Ended) -> &'static str {
    match ended {
        Ended::Fin => "fin",
        Ended::Reset => "reset",
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
        Kind::FastRetransmit => "fast retransmission",
        Kind::Recovery => "retransmission in recovery",
        Kind::SlowStart => "slow-start retransmission",
        Kind::Timeout => "timeout",
        Kind::BackedOffTimeout => "backed-off timeout",
        Kind::TailLossProbe => "tail loss probe",
        Kind::Unknown => "retransmission of unknown cause",
    }
}

/// What a class says of the segment that the timer sent again.
pub(crate) const fn class_text(class: Class) -> &'static str {
    match class {
        Class::NonTrigger => "non-trigger",
        Class::MultipleLosses => "multiple losses",
        Class::LostRetransmission => "lost retransmission",
        Class::Backoff => "backed off",
        Class::Unknown => "class unknown",
    }
}

/// How a retransmission proved needless.
pub(crate) const fn needless_text(by: Needless) -> &'static str {
    match by {
        Needless::Dsack => "D-SACK",
        Needless::Timestamp => "timestamp echo",
        Needless::RoundTrip => "acknowledged too soon",
        Needless::Arrival => "the original arrived",
    }
}
