//! What is known of a capture itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ackclock_tcp::Time;
use ackclock_trace::{Damage, Fragments, Frame, Ignored, Jump, TooBig, Tracker, too_big};

use crate::clock::Back;

/// A capture that was read.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// What was asked for: a path, or `-`.
    pub path: String,
    /// Frames in it.
    pub packets: u64,
    /// Of these, TCP segments that the filter let through; one in fragments counts once.
    pub segments: u64,
    /// Of these, frames that the filter held back.
    pub filtered: u64,
    /// Frames that yield no segment, by reason.
    pub ignored: BTreeMap<&'static str, u64>,
    /// Of these, the link types that are not known, by number.
    pub links: BTreeSet<u16>,
    /// Packets that the capture itself says it missed.
    pub dropped_by_capture: u64,
    /// Where the clock of the capture was set back while it was taken.
    pub set_back: Back,
    /// Frames that come after later ones.
    pub out_of_order: Back,
    /// Where its clock was set ahead, or a host stood still.
    pub jumps: Vec<Jump>,
    /// When its first frame was captured.
    pub start: Option<Time>,
    /// Where it stops making sense.
    pub damage: Option<Damage>,
    /// Why reading it failed before its end.
    pub failed: Option<String>,
    /// Whether reading was interrupted before its end.
    pub interrupted: bool,
}

impl Capture {
    /// A frame yields no segment: it is left out, unless a router says in it that one was too big.
    pub(crate) fn without_segment(&mut self, frame: &Frame<'_>, why: Ignored) -> Option<TooBig> {
        let message = (why == Ignored::TooBig).then(|| too_big(frame).ok()).flatten();
        if message.is_none() {
            self.leave_out(frame, why);
        }
        message
    }

    fn leave_out(&mut self, frame: &Frame<'_>, why: Ignored) {
        if why == Ignored::Link {
            self.links.insert(frame.link.0);
        }
        self.ignore(why, 1);
    }

    pub(crate) fn ignore(&mut self, why: Ignored, frames: u64) {
        *self.ignored.entry(why.name()).or_default() += frames;
    }

    /// Adds the fragments that no packet came of, those that wait for others among them.
    pub(crate) fn fragmented(&mut self, fragments: &Fragments) {
        let waiting = Some((Ignored::Fragment, fragments.waiting()));
        let waiting = waiting.filter(|(_, frames)| *frames > 0);
        fragments.ignored().chain(waiting).for_each(|(why, frames)| self.ignore(why, frames));
    }

    /// Where its clock was set ahead.
    pub(crate) fn set_ahead(&self) -> Arc<[Jump]> {
        self.jumps.iter().filter(|jump| jump.stood_still.is_none()).copied().collect()
    }

    /// Adds what was found when its packets were sorted into connections.
    pub(crate) fn tracked(&mut self, tracker: &Tracker) {
        self.jumps.extend(tracker.jumps());
        let damaged = Some(tracker.damaged()).filter(|packets| *packets > 0);
        damaged.into_iter().for_each(|packets| self.ignore(Ignored::Damaged, packets));
    }
}
