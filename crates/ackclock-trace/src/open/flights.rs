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
mod tests {
    use ackclock_tcp::Seq;

    use super::*;
    use crate::sender::Acked;

    const MSS: u64 = 1000;

    fn at(ms: f64) -> Time {
        Time((ms * 1e6).round() as u64)
    }

    fn data(ms: f64, position: u64, len: u32) -> (usize, Input) {
        let (seq, fin, again, cwr) = (Seq(position as u32), false, false, false);
        let data = Data {
            frame: 0,
            at: at(ms),
            position,
            seq,
            len,
            fin,
            again,
            tsval: None,
            ip_id: None,
            missing: 0,
            counted: false,
            cwr,
        };
        (0, Input::Data(data))
    }

    fn acked(ms: f64, ack: u64) -> (usize, Input) {
        let acked = Acked {
            frame: 0,
            at: at(ms),
            ack,
            window: 60_000,
            scaled: true,
            sack: Default::default(),
            sacks: 0,
            dsack: false,
            tsecr: None,
            with_data: false,
            ece: false,
            timed: true,
        };
        (0, Input::Acked(acked))
    }

    /// Flights of so many segments, each when it begins, in which a segment takes 1 ms. The
    /// receiver answers every second one, and the last one, 0.2 ms later. `last`: the size of the
    /// last one.
    fn sent(flights: &[(f64, u64)], last: u32) -> Vec<(usize, Input)> {
        let (mut all, mut position) = (Vec::new(), 0);
        for &(begins, segments) in flights {
            for n in 1..=segments {
                let ms = begins + (n - 1) as f64;
                let len = if n == segments { last } else { MSS as u32 };
                all.push(data(ms, position, len));
                position += u64::from(len);
                if n % 2 == 0 || n == segments {
                    all.push(acked(ms + 0.2, position));
                }
            }
        }
        all
    }

    fn trip(flights: &[(f64, u64)], last: u32) -> Option<f64> {
        let trip = round_trip(0, &sent(flights, last), MSS as u32)?;
        Some(trip.0 as f64 / 1e6)
    }

    /// The first ACK of two segments comes 1.2 ms after the first of them, and the next flight
    /// 50 ms after that.
    #[test]
    fn slow_start() {
        assert_eq!(trip(&[(0.0, 2), (51.2, 3), (102.4, 5)], 1000), Some(50.0));
    }

    /// The silence is shorter later, as ACKs of a flight let others go while it arrives. The first
    /// ACK counts.
    #[test]
    fn the_first_ack_of_a_flight_counts() {
        assert_eq!(trip(&[(0.0, 10), (13.2, 15)], 1000), Some(12.0));
        assert_eq!(trip(&[(0.0, 4), (60.0, 6), (111.2, 9)], 1000), Some(50.0));
        // Each segment is acknowledged at once.
        let mut all = sent(&[(0.0, 2), (51.0, 3)], 1000);
        all.insert(1, acked(0.0, 1000));
        assert_eq!(round_trip(0, &all, 1000), Some(Span(51_000_000)));
    }

    /// An application that pauses writes what it has: as much each time, much more, less, single
    /// segments, or with a rest.
    #[test]
    fn an_application_pauses() {
        for flights in [[3, 3], [3, 10], [10, 3], [1, 2]] {
            let [before, next] = flights;
            assert_eq!(trip(&[(0.0, before), (700.0, next)], 1000), None, "{flights:?}");
        }
        assert_eq!(trip(&[(0.0, 3), (700.0, 4)], 999), None);
    }

    /// The bottleneck is busy all the time: one flight follows the other without a silence.
    #[test]
    fn no_silence() {
        assert_eq!(trip(&[(0.0, 4), (4.0, 8)], 1000), None);
        assert_eq!(trip(&[(0.0, 4), (4.9, 8)], 1000), None);
        assert_eq!(trip(&[(0.0, 4), (5.1, 8)], 1000), Some(3.9));
    }

    /// What comes behind a retransmission says nothing, nor does the other end.
    #[test]
    fn other_segments() {
        let mut all = sent(&[(0.0, 2), (51.2, 3)], 1000);
        assert_eq!(round_trip(1, &all, 1000), None);
        if let Some((_, Input::Data(data))) = all.get_mut(3) {
            data.again = true;
        }
        assert_eq!(round_trip(0, &all, 1000), None);
        assert_eq!(round_trip(0, &[], 1000), None);
        assert_eq!(round_trip(0, &sent(&[(0.0, 2), (51.2, 3)], 1000), 0), Some(Span(50_000_000)));
    }
}
