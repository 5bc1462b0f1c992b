//! While losses are repaired, for how long was the bottleneck busy all the same?
//!
//! What had been on its way for a round trip when the ACK before its own came had waited for the
//! bottleneck then (`rate.rs`): the bottleneck was busy between the two, at whatever rate it has by
//! now. Else it was busy for as long as it takes for what arrived.

use ackclock_tcp::{Span, Time};

/// What one ACK reports.
#[derive(Clone, Copy, Debug, Default)]
struct Report {
    at: Time,
    /// Since the one before.
    span: Span,
    bytes: u64,
    /// What it reports first had waited for the bottleneck.
    waited: bool,
}

#[derive(Debug, Default)]
pub(super) struct Kept {
    last: Report,
    before: Report,
    busy: Span,
    /// Bytes that arrived, and those of which it is not known that they had waited.
    all: u64,
    others: u64,
}

impl Kept {
    /// A segment is reported; of what has arrived the last went out at `sent`. `least`: the
    /// shortest round trip.
    pub fn arrived(&mut self, at: Time, sent: Time, bytes: u32, least: Span) {
        if at > self.last.at {
            self.count();
            let before = self.last.at;
            let span = at.since(before);
            // The first report has none before it, and some clocks know no round trip.
            let known = self.last.bytes > 0 && least > Span::ZERO;
            let waited = known && before.since(sent) >= least;
            self.before = std::mem::replace(&mut self.last, Report { at, span, bytes: 0, waited });
        }
        self.last.bytes += u64::from(bytes);
    }

    /// A busy bottleneck takes as long for each byte. Where one takes twice as long as those
    /// before, there was a silence, as in a delay spike.
    fn count(&mut self) {
        let [last, before] = [self.last, self.before];
        self.all += last.bytes;
        let per_byte = |of: Report, other: Report| of.span.0 as f64 * other.bytes as f64;
        if last.waited && per_byte(last, before) <= per_byte(before, last) * 2.0 {
            self.busy = self.busy + last.span;
        } else {
            self.others += last.bytes;
        }
    }

    /// At the end: for so long, at this rate in bits a second. Where ACKs come in bursts, only the
    /// rate tells.
    pub fn busy(&mut self, rate_bps: Option<f64>) -> Span {
        self.count();
        let took = |bytes: u64| {
            let at = |rate| Span((bytes as f64 * 8e9 / rate) as u64);
            rate_bps.filter(|rate| *rate > 0.0).map_or(Span::ZERO, at)
        };
        took(self.all).max(self.busy + took(self.others))
    }
}
