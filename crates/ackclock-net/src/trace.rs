//! Traces of links, as Mahimahi's `mm-link` has them (Netravali et al., "Mahimahi: Accurate
//! Record-and-Replay for HTTP", USENIX ATC 2015; `src/frontend/link_queue.cc`).
//!
//! A line is one opportunity to deliver 1,504 bytes: a whole number of milliseconds since the
//! beginning, not below that of the line before. After the last line the trace begins again, at the
//! time of that line. An opportunity that finds no packet is lost. Of one that finds packets, what
//! the first one leaves serves the next one; a packet may take several.

mod csv;

use std::sync::Arc;

use ackclock_tcp::Span;

/// Bytes of an opportunity (`PACKET_SIZE`).
pub(crate) const OPPORTUNITY: u64 = 1504;

/// Bytes that an IP packet takes more there: the header of Mahimahi's TUN device. So an opportunity
/// carries a packet of 1,500 bytes.
pub(crate) const TUN_HEADER: u64 = 4;

const MS: u64 = 1_000_000;

/// The most lines: a gigabit per second for two minutes.
const MOST: usize = 10_000_000;

/// When a link may deliver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Milliseconds.
    opportunities: Arc<[u32]>,
}

/// What is wrong with a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {message}")]
pub struct TraceError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl Trace {
    /// Reads a trace.
    ///
    /// # Errors
    /// The first line that is wrong.
    pub fn parse(text: &str) -> Result<Trace, TraceError> {
        let mut opportunities = Vec::new();
        for (line, at) in (1..).zip(text.lines()) {
            let wrong = |message: String| TraceError { line, message };
            let Ok(ms) = at.trim().parse::<u64>() else {
                let what = if at.trim().is_empty() {
                    "an empty line".into()
                } else {
                    format!("`{}`", at.trim())
                };
                return Err(wrong(format!(
                    "{what} is no time; a line is a whole number of milliseconds, such as `12`"
                )));
            };
            let Ok(ms) = u32::try_from(ms) else {
                return Err(wrong(format!("{ms} ms is too late; a time is at most {}", u32::MAX)));
            };
            if let Some(&last) = opportunities.last()
                && ms < last
            {
                return Err(wrong(format!("{ms} comes after {last}; times do not go back")));
            }
            if line > MOST {
                return Err(wrong(format!("a trace has at most {MOST} lines")));
            }
            opportunities.push(ms);
        }
        match opportunities.last() {
            None => Err(TraceError {
                line: 1,
                message: "this never delivers: it has no line; write `1` for 1504 bytes each \
                          millisecond"
                    .into(),
            }),
            Some(0) => Err(TraceError {
                line: opportunities.len(),
                message: "this never delivers after time 0: the last time is how long the trace \
                          lasts, so it is above 0"
                    .into(),
            }),
            Some(_) => Ok(Trace { opportunities: opportunities.into() }),
        }
    }

    /// The trace as text.
    pub fn to_text(&self) -> String {
        self.opportunities.iter().map(|ms| format!("{ms}\n")).collect()
    }

    /// How long it lasts until it begins again.
    pub fn period(&self) -> Span {
        Span(self.last_nanos())
    }

    /// Bits per second over all of it, the TUN device's headers included.
    pub fn mean_rate(&self) -> u64 {
        let bits = self.opportunities.len() as u128 * u128::from(OPPORTUNITY * 8);
        let rate = bits * 1_000_000_000 / u128::from(self.last_nanos());
        u64::try_from(rate).unwrap_or(u64::MAX).max(1)
    }

    /// When the opportunities of one pass are, in nanoseconds since it began.
    pub(crate) fn times(&self) -> impl Iterator<Item = u64> {
        self.opportunities.iter().map(|&ms| u64::from(ms) * MS)
    }

    fn last_nanos(&self) -> u64 {
        u64::from(self.opportunities.last().copied().unwrap_or(1)) * MS
    }
}

/// An opportunity of a trace that repeats.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    trace: Trace,
    /// When the present pass began.
    base: u64,
    index: usize,
}

impl Cursor {
    pub(crate) fn new(trace: Trace) -> Cursor {
        Cursor { trace, base: 0, index: 0 }
    }

    /// When it is.
    pub(crate) fn time(&self) -> u64 {
        let ms = self.trace.opportunities.get(self.index).copied().unwrap_or_default();
        self.base.saturating_add(u64::from(ms) * MS)
    }

    /// Goes to the next one.
    pub(crate) fn advance(&mut self) {
        self.index += 1;
        if self.index >= self.trace.opportunities.len() {
            self.index = 0;
            self.base = self.base.saturating_add(self.trace.last_nanos());
        }
    }

    /// Goes to the first one after `now`, unless it is there or later.
    pub(crate) fn skip(&mut self, now: u64) {
        if self.time() > now {
            return;
        }
        let period = self.trace.last_nanos();
        self.base = now - (now - self.base) % period;
        let passed = (now - self.base) / MS;
        // The last opportunity comes when the pass ends, which is later.
        self.index = self.trace.opportunities.partition_point(|&ms| u64::from(ms) <= passed);
    }
}

#[cfg(test)]
mod tests;
