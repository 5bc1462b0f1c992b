//! What each layer of a picture looks like, in HTML and SVG alike.

use ackclock_tcp::Cause;
use serde::Serialize;

use crate::drawing::{AMBER, BLUE, Colour, GREEN, PINK, PURPLE, SLATE, SOFT, VERMILION};

/// A layer that the legend names and can switch.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Layer {
    pub key: &'static str,
    pub label: &'static str,
    /// Colours on a light and on a dark ground.
    pub light: &'static str,
    pub dark: &'static str,
    /// The sign beside a retransmission, so that no cause is told by colour alone.
    pub letter: &'static str,
    /// Why such a segment is sent, for the reader who hovers over it.
    pub why: &'static str,
}

const fn layer(key: &'static str, label: &'static str, [light, dark]: Colour) -> Layer {
    Layer { key, label, light, dark, letter: "", why: "" }
}

const fn cause(cause: Cause, label: &'static str, [light, dark]: Colour, sign: [&'static str; 2]) -> Layer {
    Layer { key: cause.name(), label, light, dark, letter: sign[0], why: sign[1] }
}

/// The layers of segments, in the order of [`Cause::ALL`].
pub(crate) const CAUSES: [Layer; 8] = [
    cause(Cause::New, "new data", SLATE, ["", "new data that the window allowed"]),
    cause(
        Cause::FastRetransmit,
        "fast retransmit",
        VERMILION,
        ["F", "the retransmission that begins a recovery (RFC 5681 section 3.2)"],
    ),
    cause(
        Cause::PartialAck,
        "retransmit in recovery",
        BLUE,
        ["R", "a further hole: on a partial ACK (RFC 6582) or from the scoreboard (RFC 6675)"],
    ),
    cause(
        Cause::SlowStart,
        "slow-start retransmit",
        GREEN,
        ["S", "sent again in the slow start that follows a timeout"],
    ),
    cause(Cause::Timeout, "timeout retransmit", PINK, ["T", "the retransmission timer expired"]),
    cause(
        Cause::Probe,
        "probe",
        AMBER,
        ["P", "a probe: zero window, tail loss, or new data that draws an ACK (RFC 3042)"],
    ),
    cause(Cause::LostRetransmission, "lost retransmission", PURPLE, ["L", "its retransmission was found lost too"]),
    cause(Cause::LimitedData, "limited data", AMBER, ["D", "goes out in place of new data, to keep ACKs coming"]),
];

/// All other layers; the ones of the lower strip last.
pub(crate) const OTHERS: [Layer; 17] = [
    layer("drop", "lost", ["#000000", "#ffffff"]),
    layer("needless", "needless", PURPLE),
    layer("ack", "ACK line", ["#2e8b57", "#58c98b"]),
    layer("dupack", "duplicate ACK", ["#2e8b57", "#58c98b"]),
    layer("sack", "SACK blocks", ["#9a6fd0", "#9f86d8"]),
    layer("edge", "window edge", ["#b07d2b", "#c9a25a"]),
    layer("zero", "zero window", VERMILION),
    layer("loss", "stall: loss", PINK),
    layer("window", "stall: window", AMBER),
    layer("other", "stall: other", SOFT),
    layer("recovery", "recovery", ["#e9a23b", "#e9a23b"]),
    layer("rto", "timeout", PINK),
    layer("undo", "undo", GREEN),
    layer("arrival", "arrivals", ["#8795a8", "#7d8a9c"]),
    layer("cwnd", "cwnd", BLUE),
    layer("ssthresh", "ssthresh", VERMILION),
    layer("flight", "flight", ["#8795a8", "#7d8a9c"]),
];
