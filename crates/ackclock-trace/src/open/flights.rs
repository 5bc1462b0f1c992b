//! The round trip between the capture and a sender, where no handshake was seen and no timestamp is
//! echoed: by slow start (Jiang & Dovrolis, "Passive Estimation of TCP Round-Trip Times", ACM CCR
//! 32(3), 2002, the SS estimation).
//!
//! While the window is smaller than what the path holds, a sender sends a flight, falls silent, and
//! sends the next one when the first ACK of the flight reaches it. So the time from that ACK to the
//! next flight is the round trip between the capture and the sender. An application that pauses
//! looks alike, but for two things: what it writes seldom ends with a full segment, and in slow
//! start a flight is larger than the one before and at most twice as large. A single segment is too
//! little to tell.

use ackclock_tcp::{Span, Time};

use super::input::{Data, Input};

/// Segments that follow each other.
#[derive(Clone, Copy, Debug)]
struct Flight {
    start: u64,
    end: u64,
    /// When its first and its last segment passed.
    first: Time,
    last: Time,
    /// When the first ACK passed that acknowledges some of it.
    acked: Option<Time>,
    /// All its segments are full.
    full: bool,
}

impl Flight {
    fn bytes(&self) -> u64 {
        self.end - self.start
    }

    /// It has several segments, and the next one is larger, and at most twice as large.
    fn grows_to(&self, next: &Flight, mss: u32) -> bool {
        let several = self.full && self.bytes() > u64::from(mss);
        several && (self.bytes() + 1..=self.bytes() * 2).contains(&next.bytes())
    }
}

/// The shortest round trip that the flights of `end` show, of segments of `mss` bytes.
pub(super) fn round_trip(end: usize, inputs: &[(usize, Input)], mss: u32) -> Option<Span> {
    let flights = flights(end, inputs, mss);
    let pairs = flights.iter().zip(flights.iter().skip(1));
    let grown = pairs.filter(|(before, next)| before.grows_to(next, mss));
    grown.filter_map(|(before, next)| Some(next.first.since(before.acked?))).min()
}

/// What `end` sends, divided by silences. These become shorter while the flights grow, and are all
/// the longest times between two segments: one that is shorter than half of the longest is none.
fn flights(end: usize, inputs: &[(usize, Input)], mss: u32) -> Vec<Flight> {
    let inputs = || before_retransmissions(end, inputs);
    let times = || inputs().filter_map(|input| Some(data(input)?.at));
    let longest = times().zip(times().skip(1)).map(|(a, b)| b.since(a)).max();
    let silence = Span(longest.unwrap_or_default().0 / 2);
    let mut all: Vec<Flight> = Vec::new();
    for input in inputs() {
        if let (Input::Acked(a), Some(last)) = (input, all.last_mut())
            && a.ack > last.start
        {
            last.acked = last.acked.or(Some(a.at));
        }
        let Some(data) = data(input) else { continue };
        let (at, start, end) = (data.at, data.position, data.end());
        let full = data.len % mss.max(1) == 0;
        match all.last_mut().filter(|last| at.since(last.last) < silence) {
            Some(last) => (last.last, last.end, last.full) = (at, end, last.full && full),
            None => all.push(Flight { start, end, first: at, last: at, acked: None, full }),
        }
    }
    all
}

/// What is known of `end` before it sends something again.
fn before_retransmissions(
    end: usize,
    inputs: &[(usize, Input)],
) -> impl Iterator<Item = &Input> + Clone {
    let of_end = inputs.iter().filter(move |(of, _)| *of == end).map(|(_, input)| input);
    of_end.take_while(|input| !data(input).is_some_and(|data| data.again))
}

fn data(input: &Input) -> Option<&Data> {
    if let Input::Data(data) = input { Some(data).filter(|data| data.len > 0) } else { None }
}

#[cfg(test)]
mod tests;
