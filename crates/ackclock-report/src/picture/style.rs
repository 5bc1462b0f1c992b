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

const fn cause(
    cause: Cause,
    label: &'static str,
    [light, dark]: Colour,
    sign: [&'static str; 2],
) -> Layer {
    Layer { key: cause.name(), label, light, dark, letter: sign[0], why: sign[1] }
}

/// The place of what a router had asked for, which no engine sends.
pub(crate) const TOO_BIG: usize = Cause::ALL.len();

/// The layers of segments, in the order of [`Cause::ALL`], and behind them [`TOO_BIG`].
pub(crate) const CAUSES: [Layer; TOO_BIG + 1] = [
    cause(Cause::New, "new data", SLATE, ["", "new data that the window allowed"]),
    cause(
        Cause::LimitedTransmit,
        "limited transmit",
        AMBER,
        ["L", "new data on duplicates, beyond cwnd (RFC 3042; Lin & Kung section 4.2)"],
    ),
    cause(
        Cause::FastRetransmit,
        "fast retransmit",
        VERMILION,
        ["F", "the first retransmission of a recovery (RFC 5681 section 3.2)"],
    ),
    cause(
        Cause::Recovery,
        "recovery",
        BLUE,
        ["R", "a later retransmission of a recovery: of a hole or of a lost retransmission"],
    ),
    cause(
        Cause::SlowStart,
        "slow start",
        GREEN,
        ["S", "a retransmission in the slow start after a timeout"],
    ),
    cause(Cause::Timeout, "timeout", PINK, ["T", "the retransmission timer expired"]),
    cause(
        Cause::BackedOffTimeout,
        "backed-off timeout",
        PINK,
        ["B", "the timer expired again, and nothing was acknowledged since"],
    ),
    cause(
        Cause::FRto,
        "F-RTO",
        AMBER,
        ["U", "new data that decides whether the timeout was spurious (RFC 5682)"],
    ),
    cause(
        Cause::TailLossProbe,
        "tail loss probe",
        AMBER,
        ["P", "a probe after two round trips without an ACK (RFC 8985 section 7)"],
    ),
    cause(
        Cause::Marker,
        "marker",
        AMBER,
        ["M", "new data whose ACK times a retransmission (Lin & Kung section 6.3)"],
    ),
    cause(
        Cause::Filler,
        "filler",
        AMBER,
        ["D", "in place of new data, to keep ACKs coming (Lin & Kung section 6.5)"],
    ),
    cause(
        Cause::WindowProbe,
        "window probe",
        AMBER,
        ["W", "a probe of a closed window (RFC 9293 section 3.8.6.1)"],
    ),
    cause(Cause::Handshake, "handshake", SLATE, ["H", "a SYN, SYN/ACK or FIN again"]),
    cause(
        Cause::Unknown,
        "undecided",
        SLATE,
        ["?", "a retransmission, and the capture does not show by what"],
    ),
    Layer {
        letter: TOO_BIG_LETTER,
        why: "in shorter packets, since a router had asked for that (ICMP, RFC 1191)",
        ..layer("packet_too_big", "packet too big", AMBER)
    },
];

/// The letter of what goes out in shorter packets since a router has asked for that by ICMP.
pub const TOO_BIG_LETTER: &str = "I";

/// The letter that stands beside a segment which was sent for this cause; empty for new data.
pub fn letter(cause: Cause) -> &'static str {
    CAUSES[cause as usize].letter
}

/// All other layers; the ones of the lower strip last.
pub(crate) const OTHERS: [Layer; 18] = [
    layer("drop", "lost", ["#000000", "#ffffff"]),
    layer("spurious", "spurious", PURPLE),
    layer("ack", "ACK line", ["#2e8b57", "#58c98b"]),
    layer("dupack", "duplicate ACK", ["#2e8b57", "#58c98b"]),
    layer("sack", "SACK blocks", ["#9a6fd0", "#9f86d8"]),
    layer("edge", "window edge", ["#b07d2b", "#c9a25a"]),
    layer("zero", "zero window", VERMILION),
    layer("loss", "stall: loss, timer", PINK),
    layer("window", "stall: window", AMBER),
    layer("other", "stall: pause, other", SOFT),
    layer("in_recovery", "in recovery", ["#e9a23b", "#e9a23b"]),
    layer("rto", "timer expires", PINK),
    layer("undo", "undo", GREEN),
    layer("arrival", "arrivals", ["#8795a8", "#7d8a9c"]),
    layer("cwnd", "cwnd", BLUE),
    layer("ssthresh", "ssthresh", VERMILION),
    layer("reduced", "lowered for ECN", PURPLE),
    layer("flight", "flight", ["#8795a8", "#7d8a9c"]),
];
