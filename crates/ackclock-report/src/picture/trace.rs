//! The layout model: what is drawn of a flow, in seconds and bytes. HTML and SVG draw the same one.

use std::collections::HashMap;

use ackclock_tcp::{Cause, Event, EventKind};
use serde::Serialize;

use super::findings::{Findings, Tone};
use super::{Panel, View, results};
use crate::drawing::widen;

/// One flow as columns: element `i` of each column of a struct belongs to one mark. Columns keep the JSON small and the
/// drawing fast.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Trace {
    pub name: String,
    pub mss: u64,
    /// One sentence of results under the name.
    pub results: String,
    pub segments: Segments,
    pub drops: Drops,
    pub acks: Acks,
    pub recoveries: Recoveries,
    pub timeouts: Timeouts,
    pub lost: Lost,
    pub undone: Undone,
    pub arrivals: Arrivals,
    pub windows: Windows,
    pub zero: Zero,
    pub stalls: Stalls,
    pub fates: Fates,
    /// Its own scales, of which times do not count; `None` if all panels share theirs.
    pub own: Option<View>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Segments {
    pub t: Vec<f64>,
    pub seq: Vec<u64>,
    pub len: Vec<u32>,
    /// Index into [`Cause::ALL`].
    pub cause: Vec<u8>,
    pub transmission: Vec<u32>,
    /// Index into [`Drops`].
    pub drop: Vec<Option<usize>>,
    pub cwnd: Vec<u64>,
    pub una: Vec<u64>,
    pub nxt: Vec<u64>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Drops {
    pub t: Vec<f64>,
    pub link: Vec<u32>,
    pub why: Vec<&'static str>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Acks {
    pub t: Vec<f64>,
    pub ack: Vec<u64>,
    pub dupacks: Vec<u32>,
    pub newly_acked: Vec<u64>,
    pub newly_sacked: Vec<u64>,
    pub edge: Vec<u64>,
    pub sack: Vec<Vec<(u64, u64)>>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Recoveries {
    pub t0: Vec<f64>,
    /// `None` while it lasts.
    pub t1: Vec<Option<f64>>,
    pub by: Vec<&'static str>,
    pub recover: Vec<u64>,
    pub flight: Vec<u64>,
    pub by_timeout: Vec<bool>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Timeouts {
    pub t: Vec<f64>,
    pub seq: Vec<u64>,
    pub class: Vec<&'static str>,
    pub backoff: Vec<u32>,
    pub flight: Vec<u64>,
    pub cwnd_before: Vec<u64>,
    /// Seconds.
    pub rto: Vec<f64>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Lost {
    pub t: Vec<f64>,
    pub seq: Vec<u64>,
    pub by: Vec<&'static str>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Undone {
    pub t: Vec<f64>,
    pub by: Vec<&'static str>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Arrivals {
    pub t: Vec<f64>,
    pub seq: Vec<u64>,
    pub len: Vec<u32>,
    pub needless: Vec<bool>,
}

/// Times in which the receiver's window was closed.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Zero {
    pub t0: Vec<f64>,
    /// `None` while it lasts.
    pub t1: Vec<Option<f64>>,
    pub edge: Vec<u64>,
}

impl Zero {
    fn acked(&mut self, t: f64, ack: u64, edge: u64) {
        let open = self.t1.last_mut().filter(|t1| t1.is_none());
        match (open, edge <= ack) {
            (Some(t1), false) => *t1 = Some(t),
            (None, true) => {
                self.t0.push(t);
                self.t1.push(None);
                self.edge.push(edge);
            }
            _ => {}
        }
    }
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Stalls {
    pub t0: Vec<f64>,
    pub t1: Vec<f64>,
    pub tone: Vec<Tone>,
    pub label: Vec<String>,
    pub why: Vec<String>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Fates {
    /// Index into [`Segments`].
    pub segment: Vec<usize>,
    pub lost: Vec<bool>,
    pub needless: Vec<Option<&'static str>>,
}

/// Steps of cwnd, ssthresh (`None` while unset) and flight (`snd_nxt - snd_una`), only where one of them changes.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Windows {
    pub t: Vec<f64>,
    pub cwnd: Vec<u64>,
    pub ssthresh: Vec<Option<u64>>,
    pub flight: Vec<u64>,
    /// When the last event happened.
    pub end: Option<f64>,
}

impl Windows {
    fn step(&mut self, event: &Event) {
        let t = event.at.secs_f64();
        let ssthresh = (event.ssthresh != u64::MAX).then_some(event.ssthresh);
        let flight = event.snd_nxt.saturating_sub(event.snd_una);
        self.end = Some(t);
        let now = (Some(&event.cwnd), Some(&ssthresh), Some(&flight));
        if (self.cwnd.last(), self.ssthresh.last(), self.flight.last()) == now {
            return;
        }
        // Several changes at one time are one step.
        if self.t.last() == Some(&t) {
            self.t.pop();
            self.cwnd.pop();
            self.ssthresh.pop();
            self.flight.pop();
        }
        self.t.push(t);
        self.cwnd.push(event.cwnd);
        self.ssthresh.push(ssthresh);
        self.flight.push(flight);
    }
}

impl Trace {
    pub(crate) fn new(panel: &Panel) -> Trace {
        let results = panel.summary.map_or_else(|| panel.note.to_string(), results);
        let mut trace = Trace { name: panel.name.into(), mss: panel.mss.max(1).into(), results, ..Trace::default() };
        let mut sent: HashMap<(u64, u32), usize> = HashMap::new();
        for event in panel.events {
            trace.event(event, &mut sent);
            trace.windows.step(event);
        }
        trace.findings(&panel.findings, &sent);
        trace
    }

    fn findings(&mut self, findings: &Findings, sent: &HashMap<(u64, u32), usize>) {
        for (t, class) in self.timeouts.t.iter().zip(&mut self.timeouts.class) {
            let found = findings.classes.binary_search_by(|c| c.0.secs_f64().total_cmp(t));
            *class = found.map_or(*class, |i| findings.classes[i].1);
        }
        for band in findings.stalls {
            self.stalls.t0.push(band.start.secs_f64());
            self.stalls.t1.push(band.end.secs_f64());
            self.stalls.tone.push(band.tone);
            self.stalls.label.push(band.label.clone());
            self.stalls.why.push(band.why.clone());
        }
        for fate in findings.fates.iter().filter(|f| f.lost || f.needless.is_some()) {
            if let Some(segment) = sent.get(&(fate.seq, fate.transmission)) {
                self.fates.segment.push(*segment);
                self.fates.lost.push(fate.lost);
                self.fates.needless.push(fate.needless);
            }
        }
    }

    /// `sent` finds a transmission of a segment by its first byte.
    fn event(&mut self, event: &Event, sent: &mut HashMap<(u64, u32), usize>) {
        let t = event.at.secs_f64();
        match event.kind {
            EventKind::Sent { seq, len, cause, transmission } => {
                let s = &mut self.segments;
                sent.insert((seq, transmission), s.t.len());
                s.t.push(t);
                s.seq.push(seq);
                s.len.push(len);
                s.cause.push(Cause::ALL.iter().position(|c| *c == cause).unwrap_or(0) as u8);
                s.transmission.push(transmission);
                s.drop.push(None);
                s.cwnd.push(event.cwnd);
                s.una.push(event.snd_una);
                s.nxt.push(event.snd_nxt);
            }
            EventKind::Acked { ack, dupacks, newly_acked, newly_sacked, window_edge, sack, sacks, .. } => {
                self.zero.acked(t, ack, window_edge);
                let a = &mut self.acks;
                a.t.push(t);
                a.ack.push(ack);
                a.dupacks.push(dupacks);
                a.newly_acked.push(newly_acked);
                a.newly_sacked.push(newly_sacked);
                a.edge.push(window_edge);
                a.sack.push(sack.iter().take(sacks.into()).copied().collect());
            }
            EventKind::Lost { seq, by, .. } => {
                self.lost.t.push(t);
                self.lost.seq.push(seq);
                self.lost.by.push(by);
            }
            EventKind::RecoveryEntered { recover, flight, by, .. } => {
                let r = &mut self.recoveries;
                // There is never more than one; what ended this one has been thinned out.
                if let Some(t1 @ None) = r.t1.last_mut() {
                    *t1 = Some(t);
                }
                r.t0.push(t);
                r.t1.push(None);
                r.by.push(by);
                r.recover.push(recover);
                r.flight.push(flight);
                r.by_timeout.push(false);
            }
            EventKind::RecoveryLeft { by_timeout, .. } => {
                let r = &mut self.recoveries;
                if let (Some(t1 @ None), Some(by)) = (r.t1.last_mut(), r.by_timeout.last_mut()) {
                    (*t1, *by) = (Some(t), by_timeout);
                }
            }
            EventKind::TimedOut { seq, class, backoff, flight, cwnd_before, rto } => {
                let o = &mut self.timeouts;
                o.t.push(t);
                o.seq.push(seq);
                o.class.push(class.name());
                o.backoff.push(backoff);
                o.flight.push(flight);
                o.cwnd_before.push(cwnd_before);
                o.rto.push(rto as f64 / 1e9);
            }
            EventKind::Undone { by } => {
                self.undone.t.push(t);
                self.undone.by.push(by);
            }
            EventKind::Arrived { seq, len, needless } => {
                let a = &mut self.arrivals;
                a.t.push(t);
                a.seq.push(seq);
                a.len.push(len);
                a.needless.push(needless);
            }
            EventKind::Dropped { seq, transmission, link, why, .. } => {
                if let Some(drop) = sent.get(&(seq, transmission)).and_then(|i| self.segments.drop.get_mut(*i)) {
                    *drop = Some(self.drops.t.len());
                }
                self.drops.t.push(t);
                self.drops.link.push(link);
                self.drops.why.push(why);
            }
            EventKind::Written { .. } | EventKind::MssChanged { .. } | EventKind::AckDropped { .. } => {}
        }
    }

    /// First and last time of any mark; `None` if there is none.
    pub(crate) fn times(&self) -> Option<(f64, f64)> {
        let events = self.windows.t.first().copied().zip(self.windows.end);
        self.stalls.t0.iter().copied().zip(self.stalls.t1.iter().copied()).map(Some).fold(events, widen)
    }

    /// Least and greatest stream position that the data reached; `None` if nothing was sent or acknowledged.
    pub(crate) fn positions(&self) -> Option<(u64, u64)> {
        let ends = self.segments.seq.iter().zip(&self.segments.len).map(|(seq, len)| seq.saturating_add((*len).into()));
        let low = self.segments.seq.iter().chain(&self.acks.ack).min()?;
        let high = ends.chain(self.acks.ack.iter().copied()).max()?;
        Some((*low, high))
    }

    /// The greatest of cwnd and flight.
    pub(crate) fn window(&self) -> u64 {
        self.windows.cwnd.iter().chain(&self.windows.flight).copied().max().unwrap_or(0)
    }
}
