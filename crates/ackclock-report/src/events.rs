//! Events as JSON lines.

use std::io::{self, Write};

use ackclock_tcp::{Event, EventKind, Time};

/// Writes events as JSON lines: one object per event, one line per object.
///
/// Every line begins with the same fields in this order, `null` where the event has no such thing:
///
/// | field | meaning |
/// | --- | --- |
/// | `t` | seconds since the origin of time, nine decimals |
/// | `flow` | number of the flow |
/// | `name` | its name |
/// | `strategy` | its strategy |
/// | `event` | [`EventKind::name`] |
/// | `seq`, `len` | first byte as a stream position, and bytes |
/// | `cause` | [`Cause::name`](ackclock_tcp::Cause::name), only of `sent` |
/// | `cwnd`, `ssthresh` | bytes, right after the event; `ssthresh` is `null` while unset |
/// | `snd_una`, `snd_nxt` | stream positions, right after the event |
///
/// The fields that only this kind of event has follow under the names they bear in [`EventKind`]:
/// `transmission`, `detected_by`; `ack`, `dupacks`, `newly_acked`, `newly_sacked`, `window_edge`,
/// `sack` (a list of `[left, right]`); `by`; `recover`, `flight`; `by_timeout`; `class`, `backoff`,
/// `cwnd_before`, `rto` (nanoseconds); `spurious`; `link`, `why`.
///
/// Lines are formatted into a buffer that is kept, and `out` sees one write per line: hand in a
/// [`BufWriter`](std::io::BufWriter), and flush it at the end.
pub struct EventWriter<W> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> EventWriter<W> {
    /// A writer of lines into `out`.
    pub fn new(out: W) -> Self {
        EventWriter { out, line: Vec::with_capacity(512) }
    }

    /// Writes one event of flow number `flow`, which has this name and runs `strategy`.
    ///
    /// # Errors
    /// What writing to `out` returns.
    pub fn record(
        &mut self,
        flow: u32,
        name: &str,
        strategy: &str,
        event: &Event,
    ) -> io::Result<()> {
        let mut line = Line { buffer: &mut self.line };
        line.buffer.clear();
        line.time(event.at);
        line.number("flow", flow.into());
        line.string("name", name);
        line.string("strategy", strategy);
        line.string("event", event.kind.name());
        match event.kind {
            EventKind::Sent { seq, len, .. }
            | EventKind::Lost { seq, len, .. }
            | EventKind::Arrived { seq, len, .. }
            | EventKind::Dropped { seq, len, .. } => {
                line.number("seq", seq);
                line.number("len", len.into());
            }
            EventKind::TimedOut { seq, .. } => {
                line.number("seq", seq);
                line.null("len");
            }
            _ => {
                line.null("seq");
                line.null("len");
            }
        }
        match event.kind {
            EventKind::Sent { cause, .. } => line.string("cause", cause.name()),
            _ => line.null("cause"),
        }
        line.number("cwnd", event.cwnd);
        match event.ssthresh {
            u64::MAX => line.null("ssthresh"),
            ssthresh => line.number("ssthresh", ssthresh),
        }
        line.number("snd_una", event.snd_una);
        line.number("snd_nxt", event.snd_nxt);
        line.own_fields(&event.kind);
        line.buffer.extend_from_slice(b"}\n");
        self.out.write_all(&self.line)
    }

    /// Flushes `out` and returns it.
    ///
    /// # Errors
    /// What flushing `out` returns.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// One line under construction. Names are ours and need no escaping; values of type string may.
struct Line<'a> {
    buffer: &'a mut Vec<u8>,
}

impl Line<'_> {
    fn time(&mut self, at: Time) {
        let nanos = at.nanos();
        self.buffer.extend_from_slice(b"{\"t\":");
        self.digits(nanos / 1_000_000_000);
        let mut decimals = *b".000000000";
        let mut rest = nanos % 1_000_000_000;
        for digit in decimals[1..].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.buffer.extend_from_slice(&decimals);
    }

    fn digits(&mut self, value: u64) {
        self.buffer.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    fn name(&mut self, name: &str) {
        self.buffer.extend_from_slice(b",\"");
        self.buffer.extend_from_slice(name.as_bytes());
        self.buffer.extend_from_slice(b"\":");
    }

    fn number(&mut self, name: &str, value: u64) {
        self.name(name);
        self.digits(value);
    }

    fn null(&mut self, name: &str) {
        self.name(name);
        self.buffer.extend_from_slice(b"null");
    }

    fn boolean(&mut self, name: &str, value: bool) {
        self.name(name);
        self.buffer.extend_from_slice(if value { b"true" } else { b"false" });
    }

    fn string(&mut self, name: &str, value: &str) {
        self.name(name);
        // Writing a string into a Vec cannot fail.
        let _ = serde_json::to_writer(&mut *self.buffer, value);
    }

    fn ranges<'r>(&mut self, name: &str, ranges: impl Iterator<Item = &'r (u64, u64)>) {
        self.name(name);
        self.buffer.push(b'[');
        for (i, (left, right)) in ranges.enumerate() {
            self.buffer.extend_from_slice(if i == 0 { b"[" } else { b",[" });
            self.digits(*left);
            self.buffer.push(b',');
            self.digits(*right);
            self.buffer.push(b']');
        }
        self.buffer.push(b']');
    }

    /// The fields that only this kind of event has.
    fn own_fields(&mut self, kind: &EventKind) {
        match *kind {
            EventKind::Sent { transmission, detected_by, .. } => {
                self.number("transmission", transmission.into());
                match detected_by {
                    Some(by) => self.string("detected_by", by),
                    None => self.null("detected_by"),
                }
            }
            EventKind::Acked {
                ack,
                dupacks,
                newly_acked,
                newly_sacked,
                window_edge,
                sack,
                sacks,
                dsack,
            } => {
                self.number("ack", ack);
                self.number("dupacks", dupacks.into());
                self.number("newly_acked", newly_acked);
                self.number("newly_sacked", newly_sacked);
                self.number("window_edge", window_edge);
                self.ranges("sack", sack.iter().take(sacks.into()));
                self.boolean("dsack", dsack);
            }
            EventKind::Written { seq, len } => {
                self.number("from", seq);
                self.number("bytes", len);
            }
            EventKind::Lost { transmission, by, .. } => {
                self.number("transmission", transmission.into());
                self.string("by", by);
            }
            EventKind::Reduced { cwnd_before } => self.number("cwnd_before", cwnd_before),
            EventKind::Undone { by } => self.string("by", by),
            EventKind::RecoveryEntered { recover, flight, pipe, by } => {
                self.number("recover", recover);
                self.number("flight", flight);
                self.number("pipe", pipe);
                self.string("by", by);
            }
            EventKind::RecoveryLeft { by_timeout, cwnd_before } => {
                self.boolean("by_timeout", by_timeout);
                self.number("cwnd_before", cwnd_before);
            }
            EventKind::TimedOut { seq: _, class, backoff, flight, cwnd_before, rto } => {
                self.string("class", class.name());
                self.number("backoff", backoff.into());
                self.number("flight", flight);
                self.number("cwnd_before", cwnd_before);
                self.number("rto", rto);
            }
            EventKind::MssChanged { mss, lost } => {
                self.number("mss", mss.into());
                self.number("lost", lost);
            }
            EventKind::Arrived { spurious, .. } => self.boolean("spurious", spurious),
            EventKind::Dropped { transmission, link, why, .. } => {
                self.number("transmission", transmission.into());
                self.number("link", link.into());
                self.string("why", why);
            }
            EventKind::AckDropped { ack, link, why } => {
                self.number("ack", ack);
                self.number("link", link.into());
                self.string("why", why);
            }
        }
    }
}
