//! What each layer of a picture looks like, in HTML and SVG alike.

use ackclock_tcp::Cause;
use serde::Serialize;

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

const fn layer(key: &'static str, label: &'static str, light: &'static str, dark: &'static str) -> Layer {
    Layer { key, label, light, dark, letter: "", why: "" }
}

const fn cause(cause: Cause, label: &'static str, colours: [&'static str; 2], sign: [&'static str; 2]) -> Layer {
    Layer { key: cause.name(), label, light: colours[0], dark: colours[1], letter: sign[0], why: sign[1] }
}

/// The layers of segments, in the order of [`Cause::ALL`]. Colours after Okabe and Ito, darkened for a light ground.
pub(crate) const CAUSES: [Layer; 8] = [
    cause(Cause::New, "new data", ["#3b4350", "#c3cad6"], ["", "new data that the window allowed"]),
    cause(
        Cause::FastRetransmit,
        "fast retransmit",
        ["#d1410c", "#ff7a3d"],
        ["F", "the retransmission that begins a recovery (RFC 5681 section 3.2)"],
    ),
    cause(
        Cause::PartialAck,
        "retransmit in recovery",
        ["#0062b3", "#56b4e9"],
        ["R", "a further hole: on a partial ACK (RFC 6582) or from the scoreboard (RFC 6675)"],
    ),
    cause(
        Cause::SlowStart,
        "slow-start retransmit",
        ["#007f5c", "#2fd0a0"],
        ["S", "sent again in the slow start that follows a timeout"],
    ),
    cause(Cause::Timeout, "timeout retransmit", ["#a3005c", "#ff6fb5"], ["T", "the retransmission timer expired"]),
    cause(
        Cause::Probe,
        "probe",
        ["#8a5a00", "#f0b429"],
        ["P", "a probe: zero window, tail loss, or new data that draws an ACK (RFC 3042)"],
    ),
    cause(
        Cause::LostRetransmission,
        "lost retransmission",
        ["#6a3fc4", "#b79cff"],
        ["L", "its retransmission was found lost too"],
    ),
    cause(
        Cause::LimitedData,
        "limited data",
        ["#8a5a00", "#f0b429"],
        ["D", "goes out in place of new data, to keep ACKs coming"],
    ),
];

/// All other layers; the ones of the lower strip last.
pub(crate) const OTHERS: [Layer; 12] = [
    layer("drop", "dropped", "#000000", "#ffffff"),
    layer("ack", "ACK line", "#2e8b57", "#58c98b"),
    layer("dupack", "duplicate ACK", "#2e8b57", "#58c98b"),
    layer("sack", "SACK blocks", "#9a6fd0", "#9f86d8"),
    layer("edge", "window edge", "#b07d2b", "#c9a25a"),
    layer("recovery", "recovery", "#e9a23b", "#e9a23b"),
    layer("rto", "timeout", "#a3005c", "#ff6fb5"),
    layer("undo", "undo", "#007f5c", "#2fd0a0"),
    layer("arrival", "arrivals", "#8795a8", "#7d8a9c"),
    layer("cwnd", "cwnd", "#0062b3", "#56b4e9"),
    layer("ssthresh", "ssthresh", "#d1410c", "#ff7a3d"),
    layer("flight", "flight", "#8795a8", "#7d8a9c"),
];
