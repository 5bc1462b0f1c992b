//! What words mean, where they stand and at the end of a page.

use std::fmt::Write;

use ackclock_report::escape;

use crate::text::{TERMS, meaning};

/// What the verdict of a page begins with: of the shares of time, recovery is more than stalls.
pub(super) const LOST: &str = "Lost in stalls";

/// Headings that are no terms themselves.
const HEADINGS: [(&str, &str); 19] = [
    (
        LOST,
        "time without progress; while losses are repaired and data goes on, the connection is in \
         recovery and not stalled",
    ),
    ("limited by", "what the time of the connection went into for the most part"),
    ("lost (s)", "time in stalls in which the application had something to send"),
    ("rtt (ms)", "median round trip of the end that the connection waited for"),
    (
        "stalls",
        "times without progress longer than max(2 SRTT, RTO / 2); without the application's pauses",
    ),
    ("rexmit", "retransmissions"),
    ("spurious timeout", "a timeout that was not needed: the segment had arrived"),
    ("timeouts", "expiries of the retransmission timer (RFC 6298)"),
    ("probes", "tail loss probes (RFC 8985)"),
    ("lost", "retransmissions that were lost themselves"),
    ("timeouts avoided", "timeouts that would not have happened, by a replay"),
    ("saved (s)", "how much sooner the losses would have been repaired"),
    ("class", "what had been retransmitted before the timer expired (Lin & Kung 1998)"),
    ("state before", "of the sender: open, disorder, recovery or loss, as Linux names it"),
    ("flight (segments)", "what was sent and not acknowledged"),
    (
        "cwnd (segments)",
        "the congestion window, estimated: the most that was in the network since it was lowered, \
         and in a recovery what is",
    ),
    ("waited", "since the last progress, not since the timer was set"),
    ("transmission", "which transmission of these bytes it is"),
    ("ended by frame", "the frame of the capture that ended it"),
];

/// What a heading or a term means.
fn known(word: &str) -> Option<&'static str> {
    let heading = HEADINGS.iter().find(|(name, _)| *name == word).map(|(_, meaning)| *meaning);
    heading.or_else(|| meaning(word))
}

/// A word as HTML, which tells what it means when a pointer rests on it.
pub(super) fn word(text: &str) -> String {
    match known(text) {
        Some(meaning) => format!("<abbr title=\"{}\">{}</abbr>", escape(meaning), escape(text)),
        None => escape(text),
    }
}

/// A list as HTML whose parts begin with words, perhaps behind a number: `recovery 54 %, path 4 %`,
/// `timeout, lost retransmission`, or `0 timeouts, 1 undecided (tail loss probe or timeout)`.
pub(super) fn list(text: &str) -> String {
    let part = |part: &str| {
        let begins = part.find(|c: char| !c.is_ascii_digit() && c != ' ').unwrap_or(part.len());
        let (number, named) = part.split_at(begins);
        let ends = named.find(|c: char| c.is_ascii_digit() || c == '(').unwrap_or(named.len());
        let known = named[..ends].trim_end();
        escape(number) + &word(known) + &escape(&named[known.len()..])
    };
    text.split(", ").map(part).collect::<Vec<_>>().join(", ")
}

/// All terms, folded up.
pub(super) fn glossary(html: &mut String) {
    html.push_str("<details class=\"words\">\n<summary>What the words mean</summary>\n<table>\n");
    for (term, meaning) in TERMS {
        let _ = writeln!(
            html,
            "<tr><td class=\"words\">{}</td><td class=\"text\">{}</td></tr>",
            escape(term),
            escape(meaning)
        );
    }
    html.push_str("</table>\n</details>\n");
}
