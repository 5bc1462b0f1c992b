//! The marks of a flow as columns: element `i` of each column of a struct belongs to one mark.
//! Columns keep the JSON small and the drawing fast.

use ackclock_tcp::Event;
use serde::Serialize;

use super::findings::Tone;

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

impl Recoveries {
    pub(crate) fn entered(&mut self, t: f64, recover: u64, flight: u64, by: &'static str) {
        // There is never more than one; what ended the last one has been thinned out.
        if let Some(t1 @ None) = self.t1.last_mut() {
            *t1 = Some(t);
        }
        self.t0.push(t);
        self.t1.push(None);
        self.by.push(by);
        self.recover.push(recover);
        self.flight.push(flight);
        self.by_timeout.push(false);
    }

    pub(crate) fn left(&mut self, t: f64, by_timeout: bool) {
        if let (Some(t1 @ None), Some(by)) = (self.t1.last_mut(), self.by_timeout.last_mut()) {
            (*t1, *by) = (Some(t), by_timeout);
        }
    }
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
pub(crate) struct Reduced {
    pub t: Vec<f64>,
    pub cwnd_before: Vec<u64>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Arrivals {
    pub t: Vec<f64>,
    pub seq: Vec<u64>,
    pub len: Vec<u32>,
    pub spurious: Vec<bool>,
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
    pub(crate) fn acked(&mut self, t: f64, ack: u64, edge: u64) {
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
    pub spurious: Vec<Option<&'static str>>,
}

/// Steps of cwnd, ssthresh (`None` while unset) and flight (`snd_nxt - snd_una`), only where one of
/// them changes.
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
    /// The greatest cwnd or flight at any time from the first to the second of these.
    pub(crate) fn greatest(&self, (from, to): (f64, f64)) -> u64 {
        // The step before the first one inside still holds.
        let first = self.t.partition_point(|t| *t <= from).saturating_sub(1);
        let end = self.t.partition_point(|t| *t <= to).max(first);
        let within = self.cwnd[first..end].iter().chain(&self.flight[first..end]);
        within.copied().max().unwrap_or(0)
    }

    pub(crate) fn step(&mut self, event: &Event) {
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
