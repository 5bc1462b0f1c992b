//! The smallest round trip of the last five minutes, from which reordering windows and the length
//! of super-segments are taken (`tcp_update_rtt_min`).

use super::minmax::MinFilter;
use crate::time::{Span, Time};

/// `tcp_min_rtt_wlen`.
const WINDOW: Span = Span::from_secs(300);

/// The smallest round trip.
#[derive(Debug, Default)]
pub(crate) struct MinRtt(MinFilter);

impl MinRtt {
    #[inline(always)]
    pub fn sample(&mut self, rtt: Span, now: Time) {
        self.0.update(WINDOW.0, now.0, rtt.0);
    }

    #[inline(always)]
    pub fn get(&self) -> Option<Span> {
        self.0.get().map(Span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// That of the handshake has no time, and the clock of a host runs since long.
    #[test]
    fn of_a_handshake() {
        let mut min = MinRtt::default();
        min.sample(Span::from_millis(20), Time::ZERO);
        let hour = Time::ZERO + Span::from_secs(3600);
        min.sample(Span::from_millis(200), hour);
        assert_eq!(min.get(), Some(Span::from_millis(20)));
        min.sample(Span::from_millis(200), hour + Span::from_secs(301));
        assert_eq!(min.get(), Some(Span::from_millis(200)));
    }

    /// A round trip of 10 ms, and then 20 ms a second: the first counts for five minutes.
    #[test]
    fn five_minutes() {
        for began in [1, 200, 299] {
            let mut min = MinRtt::default();
            let mut after = |seconds: u64, millis| {
                min.sample(Span::from_millis(millis), Time::ZERO + Span::from_secs(seconds));
                min.get()
            };
            for second in 0..began {
                after(second, 30);
            }
            for second in 0..=301 {
                let expected = if second <= 300 { 10 } else { 20 };
                let rtt = if second == 0 { 10 } else { 20 };
                assert_eq!(
                    after(began + second, rtt),
                    Some(Span::from_millis(expected)),
                    "{second}"
                );
            }
        }
    }
}
