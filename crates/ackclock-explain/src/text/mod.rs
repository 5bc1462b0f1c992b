//! What people read: tables, and a sentence for each stall.

mod advice;
mod connections;
mod losses;
mod one;
mod overall;
mod sentence;
mod short;
mod shorter;
mod terms;
mod ways;
mod words;

use ackclock_report::printable;
use ackclock_trace::Jump;

pub(crate) use self::words::bounded;
use crate::clock::Back;
use crate::explained::{Capture, Explained};
use crate::names;

pub(crate) use advice::{Known, of as advice, of_one as advice_on};
pub(crate) use losses::{losses, queueing};
pub(crate) use one::{ended, position, recovered};
#[cfg(not(target_family = "wasm"))]
pub(crate) use sentence::retransmission;
pub(crate) use sentence::{marks, seconds_saved, stall};
pub(crate) use short::{
    below, counted_again, headed, headline, longest_stall, notes, round_trip, shares, timeouts,
    why, without_application, worst,
};
pub(crate) use shorter::shorter;
pub use terms::terms;
pub(crate) use terms::{TERMS, meaning};
pub(crate) use ways::ways;
pub(crate) use words::{count, date, time};

/// What the time went into, the connections that were held up for longest, and what to change. Of a
/// list at most `top` entries; 0 for all.
pub fn short(explained: &Explained, top: usize) -> String {
    captures(explained, top) + "\n" + &short::text(explained, top)
}

/// Everything as tables: the connections, the stalls in which most time was lost, and all
/// connections together. Of a list at most `top` entries; 0 for all. What of a table does not fit
/// into `width` columns is left out and named; `None` leaves nothing out.
pub fn table(explained: &Explained, top: usize, width: Option<usize>) -> String {
    let parts = [
        captures(explained, top),
        connections::table(explained, top, width),
        sentence::stalls(explained, top),
        overall::text(explained, width),
    ];
    parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("\n")
}

/// The same of one connection: all that happened to it. Of a list at most `top` entries; 0 for all.
pub fn one_connection(explained: &Explained, top: usize) -> String {
    let each = explained.connections.iter().map(|found| one::text(found, explained, top));
    each.collect::<Vec<_>>().join("\n")
}

pub(crate) fn captures(explained: &Explained, top: usize) -> String {
    let (shown, more) = bounded(explained.captures.len(), top);
    explained.captures[..shown].iter().map(capture).collect::<String>() + &more
}

/// A line on a capture.
fn capture(capture: &Capture) -> String {
    let Capture { path, packets, segments, filtered, dropped_by_capture, .. } = capture;
    let (path, packets) = (printable(path), count(*packets, "packet"));
    let mut line = format!("{path}: {packets}, {segments} with TCP");
    if *filtered > 0 {
        line.push_str(&format!(", {filtered} held back by the filter"));
    }
    let reasons = names::left_out(capture);
    if !reasons.is_empty() {
        line.push_str(&format!("; left out: {}", reasons.join(", ")));
    }
    if *dropped_by_capture > 0 {
        line.push_str(&format!("; the capture says that it missed {dropped_by_capture}"));
    }
    line.push('\n');
    order(capture).iter().for_each(|note| line.push_str(&format!("  {note}\n")));
    line
}

/// What to know of a capture whose frames are not in order of time.
pub(crate) fn order(capture: &Capture) -> Vec<String> {
    let mut notes = Vec::new();
    let Back { times, frame, by } = capture.set_back;
    if times > 0 {
        let often = if times > 1 { format!(" {times} times, by most") } else { String::new() };
        notes.push(format!(
            "the clock of the capture steps back{often} at frame {frame}, by {:.6} s: from there until \
             it is where it was, nothing is known of how long things took",
            by.secs_f64()
        ));
    }
    let Back { times, frame, by } = capture.out_of_order;
    if times > 0 {
        notes.push(format!(
            "{} out of order, by up to {:.6} s (frame {frame}): sort the capture with reordercap \
             first, or what is found may be wrong",
            if times == 1 { "a packet is".into() } else { format!("{times} packets are") },
            by.secs_f64()
        ));
    }
    notes.extend(capture.jumps.iter().map(jump));
    notes
}

/// What timestamps say of a silence.
fn jump(jump: &Jump) -> String {
    let Jump { frame, by, stood_still, .. } = jump;
    let by = by.secs_f64();
    match stood_still {
        None => format!(
            "the clock of the capture was set ahead by {by:.1} s before frame {frame}, by the \
             timestamps of both ends: all times from there on are told as if it had not been"
        ),
        Some(host) => format!(
            "{host} stood still for {by:.1} s before frame {frame}, as if it was suspended: its \
             timestamps have not moved, and those of another host have"
        ),
    }
}
