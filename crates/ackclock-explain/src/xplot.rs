//! Time-sequence graphs as xplot files, in the signs of tcptrace's `_tsg.xpl`.
//!
//! Segments are lines between two arrows, the ACK line is green and the window edge yellow, SACK
//! blocks are purple with an S, or a D for a D-SACK. What tcptrace does not have: retransmissions
//! are coloured and have the letters of the pictures, with a cross over those that were lost and a
//! diamond on those that were spurious; stalls are boxes with their verdict. The sequence axis
//! counts from the first byte.

use std::collections::HashMap;
use std::io::{self, Write};

use ackclock_report::{TOO_BIG_LETTER, letter};
use ackclock_tcp::{Cause, Event, EventKind, Time};
use ackclock_trace::{Flow, Kind, Retransmission, Stall};

use crate::explained::{End, Found};
use crate::html::label;
use crate::names;

/// The name of the file for what an end sent.
pub(crate) fn file_name(number: usize, end: End) -> String {
    format!("connection-{number}-{}_tsg.xpl", end.name())
}

/// Writes what an end sent.
pub(crate) fn write(found: &Found, end: End, out: &mut impl Write) -> io::Result<()> {
    let (flow, c) = (found.flow(end), &found.connection);
    let (from, to) = match end {
        End::Client => (c.client, c.server),
        End::Server => (c.server, c.client),
    };
    let heading = "(time sequence graph)\nxlabel\ntime\nylabel\nsequence offset";
    writeln!(out, "timeval double\ntitle\n#{} {from}_==>_{to} {heading}", found.number)?;
    let retransmissions =
        flow.retransmissions.iter().map(|r| ((r.position, r.transmission), r)).collect();
    let mut graph = Graph { out, acked: None, retransmissions };
    flow.events.iter().try_for_each(|event| graph.event(event))?;
    for timeout in &flow.timeouts {
        let at = stamp(timeout.at);
        writeln!(
            graph.out,
            "rtext {at} {} orange\ntimeout: {}",
            timeout.position,
            names::class_text(timeout.class)
        )?;
    }
    for stall in &flow.stalls {
        graph.stall(stall, flow, &label(found, end, stall))?;
    }
    writeln!(graph.out, "go")
}

/// Seconds since 1970.
fn stamp(at: Time) -> String {
    let micros = at.0 / 1000;
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

struct Graph<'a, W> {
    out: &'a mut W,
    /// Time, acknowledgment and window edge of the last ACK.
    acked: Option<(String, u64, u64)>,
    retransmissions: HashMap<(u64, u32), &'a Retransmission>,
}

impl<W: Write> Graph<'_, W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        let at = stamp(event.at);
        match event.kind {
            EventKind::Sent { seq, len, cause, transmission, .. } => {
                let retransmission = self.retransmissions.get(&(seq, transmission)).copied();
                self.sent(&at, (seq, seq.saturating_add(len.into())), cause, retransmission)
            }
            EventKind::Acked { ack, dupacks, window_edge, sack, sacks, dsack, .. } => {
                self.acked(&at, ack, window_edge, dupacks)?;
                for (i, block) in sack.iter().take(sacks.into()).enumerate() {
                    self.block(&at, *block, if dsack && i == 0 { "D" } else { "S" })?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn sent(
        &mut self,
        at: &str,
        (seq, end): (u64, u64),
        cause: Cause,
        r: Option<&Retransmission>,
    ) -> io::Result<()> {
        // The list of retransmissions does not have probes with new data.
        let (letter, colour) = match r.map(|r| r.kind) {
            None => sign(cause),
            Some(Kind::TooBig) => (TOO_BIG_LETTER, "white"),
            Some(kind) => kind.cause().map_or(("?", "red"), sign),
        };
        let out = &mut self.out;
        writeln!(
            out,
            "darrow {at} {seq} {colour}\nuarrow {at} {end} {colour}\nline {at} {seq} {at} {end} \
             {colour}"
        )?;
        if !letter.is_empty() {
            writeln!(out, "atext {at} {end} {colour}\n{letter}")?;
        }
        let middle = seq + (end - seq) / 2;
        if r.is_some_and(|r| r.lost == Some(true)) {
            writeln!(out, "x {at} {middle} white")?;
        }
        if r.is_some_and(|r| r.spurious.is_some()) {
            writeln!(out, "diamond {at} {middle} white")?;
        }
        Ok(())
    }

    fn acked(&mut self, at: &str, ack: u64, edge: u64, dupacks: u32) -> io::Result<()> {
        let out = &mut self.out;
        if let Some((before, from, from_edge)) = &self.acked {
            for (colour, from, to) in [("green", from, ack), ("yellow", from_edge, edge)] {
                writeln!(out, "line {before} {from} {at} {from} {colour}")?;
                if *from != to {
                    writeln!(out, "line {at} {from} {at} {to} {colour}")?;
                }
            }
        }
        if dupacks > 0 {
            writeln!(out, "dtick {at} {ack} green")?;
        }
        if dupacks == 3 {
            writeln!(out, "atext {at} {ack} green\n3")?;
        }
        if edge <= ack {
            writeln!(out, "atext {at} {edge} yellow\nZ")?;
        }
        self.acked = Some((at.to_string(), ack, edge));
        Ok(())
    }

    fn block(&mut self, at: &str, (left, right): (u64, u64), letter: &str) -> io::Result<()> {
        writeln!(
            self.out,
            "line {at} {left} {at} {right} purple\nhtick {at} {left} purple\nhtick {at} {right} \
             purple\n\
             atext {at} {right} purple\n{letter}"
        )
    }

    /// A box from what was acknowledged to what was sent when it began, a segment high at least.
    fn stall(&mut self, stall: &Stall, flow: &Flow, label: &str) -> io::Result<()> {
        let before = flow.events.partition_point(|event| event.at <= stall.start);
        let state = before.checked_sub(1).and_then(|i| flow.events.get(i));
        let (low, sent) = state.map_or((0, 0), |event| (event.snd_una, event.snd_nxt));
        let high = sent.max(low.saturating_add(flow.mss.into()));
        let (start, end) = (stamp(stall.start), stamp(stall.end));
        for (t0, y0, t1, y1) in [
            (&start, low, &end, low),
            (&start, high, &end, high),
            (&start, low, &start, high),
            (&end, low, &end, high),
        ] {
            writeln!(self.out, "line {t0} {y0} {t1} {y1} magenta")?;
        }
        writeln!(self.out, "rtext {start} {high} magenta\n{label}")
    }
}

/// The letter of the pictures, and a colour.
fn sign(cause: Cause) -> (&'static str, &'static str) {
    let colour = match cause {
        Cause::FastRetransmit => "red",
        Cause::Recovery => "blue",
        Cause::SlowStart => "pink",
        Cause::Timeout | Cause::BackedOffTimeout => "orange",
        Cause::TailLossProbe => "yellow",
        _ => "white",
    };
    (letter(cause), colour)
}

#[cfg(test)]
mod tests;
