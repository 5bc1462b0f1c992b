//! Connections explained while they go on: each when it ends, and all together at any time.

use std::sync::Arc;

use ackclock_tcp::{Span, Time};
use ackclock_trace::{
    Connection, Fragments, Frame, Ignored, Settings, Tracker, decode, hosts, translated,
};

use crate::explained::{Capture, Found};
use crate::json::ConnectionJson;
use crate::others;
use crate::summary::Summary;
use crate::text;

/// After this a connection is told of although it goes on: what is kept of it grows as it lasts.
const LONGEST: Span = Span::from_secs(3600);

/// An answer that takes so long is told of. Chosen: web servers seldom take longer.
const LONG_ANSWER: Span = Span::from_secs(1);

/// How often connections are looked for that last longer.
const LOOK: Span = Span::from_secs(60);

/// Follows connections as packets come. Memory is bounded by how many are open at a time. So steps
/// of the clock are not told of.
pub struct Monitor {
    tracker: Tracker,
    fragments: Fragments,
    /// What was seen of frames.
    capture: Capture,
    looked: Time,
    all: Summary,
    bad: Summary,
}

impl Monitor {
    /// Of what `name` is called in outputs.
    pub fn new(name: &str) -> Monitor {
        Monitor {
            tracker: Tracker::new(Settings::default()),
            fragments: Fragments::default(),
            capture: Capture { path: name.into(), ..Capture::default() },
            looked: Time::ZERO,
            all: Summary::default(),
            bad: Summary::default(),
        }
    }

    /// The next frame.
    pub fn frame(&mut self, frame: &Frame<'_>) {
        self.capture.packets += 1;
        let packet = match decode(frame) {
            Err(Ignored::Fragment) => self.fragments.put(frame),
            Err(why) => {
                if let Some(message) = self.capture.without_segment(frame, why) {
                    self.tracker.too_big(&message);
                }
                None
            }
            Ok(packet) => Some(packet),
        };
        if let Some(packet) = &packet {
            self.capture.segments += 1;
            self.tracker.packet(packet);
        }
    }

    /// It is `now`. Returns the connections that have ended since the last time, in which time was
    /// lost in stalls, or an answer took long; all count.
    pub fn turn(&mut self, now: Time) -> Vec<Found> {
        self.tracker.advance(now);
        self.tracker.forget_jumps();
        if now.since(self.looked) >= LOOK {
            self.looked = now;
            self.tracker.cut(Time(now.nanos().saturating_sub(LONGEST.nanos())));
        }
        let ended: Vec<Connection> = std::iter::from_fn(|| self.tracker.poll_ended()).collect();
        self.count(ended)
    }

    /// No more frames come: the same of what is open.
    pub fn finish(&mut self) -> Vec<Found> {
        self.tracker.flush();
        self.capture.tracked(&self.tracker);
        let tracker = std::mem::replace(&mut self.tracker, Tracker::new(Settings::default()));
        self.count(tracker.finish().collect())
    }

    fn count(&mut self, mut ended: Vec<Connection>) -> Vec<Found> {
        hosts::decide(&mut ended);
        let again = translated::again(&ended);
        let numbers: Vec<usize> = ended
            .iter()
            .map(|connection| usize::try_from(connection.number).unwrap_or(usize::MAX))
            .collect();
        let found = ended.into_iter().zip(again).zip(&numbers);
        let found = found.map(|((connection, again), &number)| Found {
            number,
            capture: 0,
            same_as: again.map(|again| numbers[again]),
            connection: Box::new(connection),
            set_ahead: Arc::default(),
            saved: Vec::new(),
            got_through: Vec::new(),
        });
        let mut found: Vec<Found> = found.collect();
        others::look(&mut found);
        let mut bad = Vec::new();
        // Both sides of a translator see a connection end at about the same time.
        for found in found.into_iter().filter(|found| found.same_as.is_none()) {
            self.all.add(&found);
            if found.counts().lost_time() > Span::ZERO || found.longest_answer() >= LONG_ANSWER {
                self.bad.add(&found);
                bad.push(found);
            }
        }
        bad
    }

    /// All connections that have ended.
    pub fn all(&self) -> &Summary {
        &self.all
    }

    /// Those of them that are told of.
    pub fn bad(&self) -> &Summary {
        &self.bad
    }

    /// Connections that are open.
    pub fn open(&self) -> usize {
        self.tracker.open()
    }

    /// What was seen of frames so far.
    pub fn capture(&self) -> Capture {
        let mut capture = self.capture.clone();
        capture.fragmented(&self.fragments);
        capture.tracked(&self.tracker);
        capture
    }

    /// A connection in a line: when it ended, why it took as long, and why it is told of: its
    /// longest stall, or the answer that took long.
    pub fn line(found: &Found) -> String {
        let mut line = format!("{} {}", text::date(found.connection.end), text::headed(found));
        line.extend(text::longest_stall(found).map(|stall| format!("; {stall}")));
        let answer = found.longest_answer();
        if answer >= LONG_ANSWER {
            line.push_str(&format!("; an answer took {}", text::time(answer)));
        }
        line + "\n"
    }

    /// A connection as a line of JSON, with the keys of `explain`.
    ///
    /// # Errors
    /// None that can be: what is written is not text alone.
    pub fn json(&self, found: &Found) -> serde_json::Result<String> {
        let document = ConnectionJson::of(found, &self.capture.path);
        Ok(serde_json::to_string(&document)? + "\n")
    }

    /// All connections that have ended, in two lines.
    pub fn headline(&self) -> String {
        text::headline(&self.all)
    }
}

#[cfg(test)]
mod tests;
