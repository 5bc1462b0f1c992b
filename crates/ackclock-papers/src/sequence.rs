//! The exact sequence of a connection: a step for each ACK and each timeout, with what the sender
//! did.

use ackclock_tcp::{Cause, Event, EventKind, Time};
use serde::{Serialize, Serializer};

use crate::format::{StepName, When};
use crate::measurement::{Measurement, Measurements};

/// One step. Segments and windows are in units of the SMSS; segments count from 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Seconds.
    pub time: f64,
    /// What came: `ack`, `timeout`, or `other` for an application that writes.
    pub event: &'static str,
    /// The segment that the ACK asks for, or that the timeout is for.
    pub segment: f64,
    /// Duplicate ACKs counted, this one included.
    pub dupacks: u32,
    /// Segments sent in response.
    pub sent: Vec<SentSegment>,
    /// The congestion window after it.
    pub cwnd: f64,
    /// The slow start threshold after it; `null` while it is unset.
    pub ssthresh: Option<f64>,
    /// Sent and not acknowledged after it.
    pub flight: f64,
    #[serde(skip)]
    covers: (f64, f64),
}

/// A segment sent in a step. In JSON it is an array of these three.
#[derive(Clone, Debug, PartialEq)]
pub struct SentSegment {
    /// Its number.
    pub segment: f64,
    /// Why it was sent.
    pub cause: &'static str,
    /// Which of its transmissions this is, from 1.
    pub transmission: u32,
}

impl Serialize for SentSegment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.segment, self.cause, self.transmission).serialize(serializer)
    }
}

/// What can be asked of a step: `STEP/STRATEGY/ASPECT`.
pub(crate) const ASPECTS: [&str; 7] =
    ["time", "sent", "causes", "cwnd", "ssthresh", "flight", "dupacks"];

/// The unit of such an aspect.
pub(crate) fn unit_of_aspect(aspect: &str) -> &'static str {
    match aspect {
        "time" => "s",
        "cwnd" | "ssthresh" | "flight" => "segments",
        _ => "",
    }
}

/// The steps in the events of one connection.
pub(crate) fn steps(events: &[Event], mss: u32) -> Vec<Step> {
    let mss = f64::from(mss.max(1));
    let segments = |bytes: u64| bytes as f64 / mss;
    let mut steps: Vec<Step> = Vec::new();
    let mut at = None;
    for event in events {
        let begins = match event.kind {
            EventKind::Acked { ack, dupacks, newly_acked, .. } => {
                let covers = (segments(ack.saturating_sub(newly_acked)), segments(ack));
                Some(("ack", segments(ack), dupacks, covers))
            }
            EventKind::TimedOut { seq, .. } => Some(("timeout", segments(seq), 0, (0.0, 0.0))),
            EventKind::Sent { .. } if at != Some(event.at) => {
                Some(("other", segments(event.snd_una), 0, (0.0, 0.0)))
            }
            _ => None,
        };
        if let Some((event_name, segment, dupacks, covers)) = begins {
            at = Some(event.at);
            steps.push(new_step(event.at, event_name, segment, dupacks, covers));
        }
        let Some(step) = steps.last_mut().filter(|_| at == Some(event.at)) else { continue };
        match event.kind {
            EventKind::Arrived { .. }
            | EventKind::Dropped { .. }
            | EventKind::AckDropped { .. } => continue,
            EventKind::Sent { seq, cause, transmission, .. } => {
                let (segment, cause) = (segments(seq), cause.name());
                step.sent.push(SentSegment { segment, cause, transmission });
            }
            _ => {}
        }
        step.cwnd = segments(event.cwnd);
        step.ssthresh = (event.ssthresh != u64::MAX).then(|| segments(event.ssthresh));
        step.flight = segments(event.snd_nxt.saturating_sub(event.snd_una));
    }
    steps
}

fn new_step(at: Time, event: &'static str, segment: f64, dupacks: u32, covers: (f64, f64)) -> Step {
    let time = at.secs_f64();
    Step {
        time,
        event,
        segment,
        dupacks,
        sent: Vec::new(),
        cwnd: 0.0,
        ssthresh: None,
        flight: 0.0,
        covers,
    }
}

impl Step {
    fn is(&self, when: &When) -> bool {
        match *when {
            When::Dupack { of, count } => {
                self.event == "ack"
                    && self.dupacks == count
                    && count > 0
                    && self.segment == of as f64
            }
            When::Acked(segment) => {
                self.covers.0 <= segment as f64 && (segment as f64) < self.covers.1
            }
            When::Sent { segment, transmission } => self
                .sent
                .iter()
                .any(|s| s.segment == segment as f64 && s.transmission == transmission),
            When::Timeout => self.event == "timeout",
        }
    }

    fn aspect(&self, aspect: &str) -> Measurement {
        let listed = |show: &dyn Fn(&SentSegment) -> String| {
            let all: Vec<String> = self.sent.iter().map(show).collect();
            Measurement::Text(if all.is_empty() { "nothing".into() } else { all.join(", ") })
        };
        let number = |n: f64| Measurement::Samples(vec![n]);
        match aspect {
            "time" => number(self.time),
            "sent" => listed(&|s| short(s.segment)),
            "causes" => listed(&|s| format!("{} {}", short(s.segment), s.cause)),
            "cwnd" => number(self.cwnd),
            "ssthresh" => self.ssthresh.map_or_else(|| Measurement::Text("unset".into()), number),
            "flight" => number(self.flight),
            _ => number(self.dupacks.into()),
        }
    }

    /// Its cells in the table of all steps.
    pub(crate) fn cells(&self) -> Vec<String> {
        let sent: Vec<String> = self
            .sent
            .iter()
            .map(|s| {
                if s.cause == Cause::New.name() {
                    short(s.segment)
                } else {
                    format!("{} ({})", short(s.segment), s.cause)
                }
            })
            .collect();
        vec![
            format!("{:.6}", self.time),
            format!("{} {}", self.event, short(self.segment)),
            self.dupacks.to_string(),
            short(self.cwnd),
            self.ssthresh.map_or_else(|| "-".into(), short),
            sent.join(", "),
        ]
    }
}

pub(crate) const HEADING: [&str; 6] = ["time (s)", "event", "dupacks", "cwnd", "ssthresh", "sent"];

/// The number with at most three decimals.
fn short(n: f64) -> String {
    let text = format!("{n:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// `STEP/STRATEGY/ASPECT` for each named step.
pub(crate) fn named(strategy: &str, names: &[StepName], steps: &[Step], into: &mut Measurements) {
    let find = |name: &StepName| {
        steps.iter().filter(|s| s.is(&name.when)).nth(name.nth.saturating_sub(1) as usize)
    };
    for name in names {
        let origin = names.iter().find(|n| name.since.as_ref() == Some(&n.name));
        for aspect in ASPECTS {
            let value = find(name).and_then(|step| match (aspect, origin) {
                ("time", Some(origin)) => {
                    Some(Measurement::Samples(vec![step.time - find(origin)?.time]))
                }
                _ => Some(step.aspect(aspect)),
            });
            let value = value.unwrap_or_else(|| Measurement::Text("never".into()));
            into.insert(format!("{}/{strategy}/{aspect}", name.name), value);
        }
    }
}
