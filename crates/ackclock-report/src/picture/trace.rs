//! The layout model: what is drawn of a flow, in seconds and bytes. HTML and SVG draw the same one.

use std::collections::HashMap;

use ackclock_tcp::{Cause, Event, EventKind};
use serde::Serialize;

use super::columns::{
    Acks, Arrivals, Drops, Fates, Lost, Recoveries, Reduced, Segments, Stalls, Timeouts, Undone,
    Windows, Zero,
};
use super::findings::{Fate, Findings};
use super::panel::Panel;
use super::style::TOO_BIG;
use crate::drawing::{padded, widen};
use crate::flow::FlowSummary;
use crate::number::rate;

/// One flow.
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
    pub reduced: Reduced,
    pub arrivals: Arrivals,
    pub windows: Windows,
    pub zero: Zero,
    pub stalls: Stalls,
    pub fates: Fates,
    /// Its own scales, of which times do not count; `None` if all panels share theirs.
    pub own: Option<View>,
    /// [`Picture::until`](super::Picture::until); 0 if it is left out.
    #[serde(skip)]
    pub until: f64,
}

/// What a panel shows at first, and what a double click returns to: seconds, and segments of its
/// SMSS.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct View {
    pub t0: f64,
    pub t1: f64,
    pub y0: f64,
    pub y1: f64,
    /// The top of the window strip, which begins at 0.
    pub w1: f64,
}

impl View {
    pub(crate) fn new<'a>(traces: impl IntoIterator<Item = &'a Trace>) -> View {
        let (mut t, mut y, mut w1, mut until) = (None, None, 0.0_f64, 0.0_f64);
        for trace in traces {
            let mss = trace.mss as f64;
            t = widen(t, trace.times());
            y = widen(
                y,
                trace.positions().map(|(low, high)| (low as f64 / mss, high as f64 / mss)),
            );
            w1 = w1.max(trace.windows.greatest((f64::MIN, f64::MAX)) as f64 / mss);
            until = until.max(trace.until);
        }
        // Where nothing happened, or all at once, there is the time of the run.
        let lasted = t.filter(|(from, to)| from < to);
        let t = lasted.or((until > 0.0).then_some((0.0, until))).or(t);
        let (t0, t1) = padded(t.unwrap_or((0.0, 1.0)), 0.02);
        let (y0, y1) = padded(y.unwrap_or((0.0, 1.0)), 0.04);
        View { t0, t1, y0, y1, w1: (w1 * 1.1).max(1.0) }
    }

    /// What there is to see of the traces: all, or what they do in the window.
    pub(crate) fn of(traces: &[Trace], window: Option<(f64, f64)>) -> View {
        window.map_or_else(|| View::new(traces), |window| View::within(traces, window))
    }

    /// What the traces do from the first to the second of these times, in seconds.
    pub(crate) fn within(traces: &[Trace], (from, to): (f64, f64)) -> View {
        let mut y = None;
        for trace in traces {
            let (mss, s) = (trace.mss as f64, &trace.segments);
            let sent = s.t.iter().zip(&s.seq).zip(&s.len);
            let sent = sent.map(|((t, seq), len)| (*t, *seq, seq.saturating_add((*len).into())));
            let acked = trace.acks.t.iter().zip(&trace.acks.ack).map(|(t, ack)| (*t, *ack, *ack));
            let inside = sent.chain(acked).filter(|(t, ..)| (from..=to).contains(t));
            y = inside
                .map(|(_, low, high)| Some((low as f64 / mss, high as f64 / mss)))
                .fold(y, widen);
        }
        let all = View::new(traces);
        let (y0, y1) = y.map_or((all.y0, all.y1), |y| padded(y, 0.04));
        let greatest = |t: &Trace| t.windows.greatest((from, to)) as f64 / t.mss as f64;
        let w1 = traces.iter().map(greatest).fold(0.0, f64::max);
        View { t0: from, t1: to, y0, y1, w1: (w1 * 1.1).max(1.0) }
    }
}

impl Trace {
    pub(crate) fn new(panel: &Panel) -> Trace {
        let results = panel.summary.map_or_else(|| panel.note.to_string(), results);
        let mut trace = Trace {
            name: panel.name.into(),
            mss: panel.mss.max(1).into(),
            results,
            ..Trace::default()
        };
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
        let tells = |f: &&Fate| f.lost || f.spurious.is_some() || f.too_big;
        for fate in findings.fates.iter().filter(tells) {
            let Some(segment) = sent.get(&(fate.seq, fate.transmission)) else { continue };
            if fate.too_big {
                self.segments.cause[*segment] = TOO_BIG as u8;
            }
            if fate.lost || fate.spurious.is_some() {
                self.fates.segment.push(*segment);
                self.fates.lost.push(fate.lost);
                self.fates.spurious.push(fate.spurious);
            }
        }
    }

    /// `sent` finds a transmission of a segment by its first byte.
    fn event(&mut self, event: &Event, sent: &mut HashMap<(u64, u32), usize>) {
        let t = event.at.secs_f64();
        match event.kind {
            EventKind::Sent { seq, len, cause, transmission, .. } => {
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
            EventKind::Acked {
                ack,
                dupacks,
                newly_acked,
                newly_sacked,
                window_edge,
                sack,
                sacks,
                ..
            } => {
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
                self.recoveries.entered(t, recover, flight, by);
            }
            EventKind::RecoveryLeft { by_timeout, .. } => self.recoveries.left(t, by_timeout),
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
            EventKind::Reduced { cwnd_before } => {
                self.reduced.t.push(t);
                self.reduced.cwnd_before.push(cwnd_before);
            }
            EventKind::Arrived { seq, len, spurious } => {
                let a = &mut self.arrivals;
                a.t.push(t);
                a.seq.push(seq);
                a.len.push(len);
                a.spurious.push(spurious);
            }
            EventKind::Dropped { seq, transmission, link, why, .. } => {
                if let Some(drop) =
                    sent.get(&(seq, transmission)).and_then(|i| self.segments.drop.get_mut(*i))
                {
                    *drop = Some(self.drops.t.len());
                }
                self.drops.t.push(t);
                self.drops.link.push(link);
                self.drops.why.push(why);
            }
            EventKind::Written { .. }
            | EventKind::MssChanged { .. }
            | EventKind::AckDropped { .. } => {}
        }
    }

    /// First and last time of any mark; `None` if there is none.
    pub(crate) fn times(&self) -> Option<(f64, f64)> {
        let events = self.windows.t.first().copied().zip(self.windows.end);
        self.stalls
            .t0
            .iter()
            .copied()
            .zip(self.stalls.t1.iter().copied())
            .map(Some)
            .fold(events, widen)
    }

    /// Least and greatest stream position that the data reached; `None` if nothing was sent or
    /// acknowledged.
    pub(crate) fn positions(&self) -> Option<(u64, u64)> {
        let ends = self
            .segments
            .seq
            .iter()
            .zip(&self.segments.len)
            .map(|(seq, len)| seq.saturating_add((*len).into()));
        let low = self.segments.seq.iter().chain(&self.acks.ack).min()?;
        let high = ends.chain(self.acks.ack.iter().copied()).max()?;
        Some((*low, high))
    }
}

/// The results in one line.
fn results(s: &FlowSummary) -> String {
    if s.segments_sent == 0 {
        return "nothing was sent".into();
    }
    let plural = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut parts = vec![match s.completion_s {
        Some(seconds) => format!("done in {seconds:.3}s"),
        None => "unfinished".into(),
    }];
    parts.extend(s.goodput_bps.map(|bps| rate(bps, 3)));
    parts.push(plural(s.retransmissions, "retransmission"));
    let classes = [
        (s.timeouts_non_trigger, "non-trigger"),
        (s.timeouts_multiple_losses, "multiple losses"),
        (s.timeouts_lost_retransmission, "lost retransmission"),
        (s.timeouts_backed_off, "backed off"),
    ];
    let classes: Vec<String> =
        classes.iter().filter(|c| c.0 > 0).map(|(n, name)| format!("{n} {name}")).collect();
    let timeouts = plural(s.timeouts, "timeout");
    parts.push(if classes.is_empty() {
        timeouts
    } else {
        format!("{timeouts} ({})", classes.join(", "))
    });
    parts.join(" · ")
}
