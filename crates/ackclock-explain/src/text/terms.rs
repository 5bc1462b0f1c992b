//! The glossary that `explain --terms` prints.

use std::fmt::Write;

/// What limits a sender, then what happens to segments, then causes of stalls, then what two
/// captures of the same traffic show.
pub(crate) const TERMS: [(&str, &str); 35] = [
    ("handshake", "the connection opens: a SYN, or a SYN/ACK, waits for its answer"),
    ("application", "all is acknowledged, and the application gives nothing more to send"),
    ("receive window", "the window that the receiver offers has no room for another segment"),
    (
        "congestion window",
        "the sender's own window (or its send buffer) is full, with nothing lost",
    ),
    ("recovery", "losses are repaired, or a timer is waited for"),
    ("path", "all that was given is on its way, or the bottleneck is busy"),
    (
        "Nagle",
        "a segment that is not full waits until all before it is acknowledged, which the receiver \
         may delay (Nagle's algorithm)",
    ),
    (
        "held up",
        "neither the application nor the path limits the sender: the time that recovery, windows, \
         Nagle's algorithm, and what a handshake takes beyond a round trip",
    ),
    ("goodput", "bits of payload a second, each byte counted once, over the whole connection"),
    (
        "round trip",
        "from a segment to its acknowledgment: the least, the median and the 99th percentile",
    ),
    ("queueing", "what a round trip takes beyond the shortest: packets wait in a queue"),
    ("bufferbloat", "queueing of half of the round trip or more, and of 20 ms or more"),
    ("policer", "drops what exceeds a rate for longer than a burst lasts, without a queue"),
    ("queue that overflows", "losses where the round trip is longest (drop-tail)"),
    ("random loss", "losses that depend on nothing that the sender does or measures"),
    ("fast retransmit", "the first retransmission of a recovery, on duplicate or selective ACKs"),
    ("tail loss probe", "the last segment again, after two round trips of silence (RFC 8985)"),
    ("slow start", "a retransmission in the slow start after a timeout: most was judged lost"),
    ("timeout", "the retransmission timer expired (RFC 6298)"),
    (
        "probe or timeout",
        "the last segment went out again alone, by a tail loss probe or a timeout: nothing tells \
         which",
    ),
    ("undecided", "probes or timeouts, which are counted as neither"),
    (
        "non-trigger",
        "a timeout with nothing retransmitted before: no fast retransmit was triggered",
    ),
    ("multiple losses", "a timeout of a segment, where others had been retransmitted before"),
    ("lost retransmission", "a timeout of a segment that had been retransmitted before"),
    ("backed off", "a timeout with nothing acknowledged since the one before"),
    ("spurious", "a retransmission that was not needed: the original arrived"),
    ("D-SACK", "the receiver's report that it got something twice (RFC 2883)"),
    ("stall", "no progress for longer than max(2 SRTT, RTO / 2)"),
    (
        "lost in stalls",
        "the time of all stalls but those of the application: less than recovery where data goes \
         on while losses are repaired",
    ),
    (
        "outage",
        "cause of a stall: nothing came through, and what timers sent before the last one was in \
         vain",
    ),
    ("network", "cause of a stall: acknowledgments came late"),
    ("zero window", "cause of a stall: the receiver had closed its window"),
    ("capture gap", "cause of a stall: the capture has missed packets"),
    (
        "lost between",
        "of two captures: bytes that went past that nearer the sender, and not past the other one",
    ),
    (
        "again behind",
        "of two captures: bytes that passed the second one more than once, lost after it or \
         retransmitted spuriously",
    ),
];

/// What a term means.
pub(crate) fn meaning(term: &str) -> Option<&'static str> {
    TERMS.iter().find(|(name, _)| *name == term).map(|(_, meaning)| *meaning)
}

/// A line for each term.
pub fn terms() -> String {
    let mut out = String::new();
    for (term, meaning) in TERMS {
        let _ = writeln!(out, "{term:<20} {meaning}");
    }
    out
}
