//! Linux's timer (`tcp_rtt_estimator`): a sample with every ACK, the mean deviation's maximum over a round trip, and a
//! variance term of at least 200 ms.

use crate::axes::Timer;
use crate::sender::State;
use crate::time::{Span, Time};

const MIN: Span = Span::from_millis(200);

/// The timer of Linux.
#[derive(Clone, Debug, Default)]
pub struct LinuxTimer {
    srtt: Span,
    mdev: Span,
    mdev_max: Span,
    rttvar: Span,
    /// The round trip over which `mdev_max` is taken ends when this position is acknowledged.
    rtt_seq: u64,
}

impl LinuxTimer {
    /// A round trip of `m`, measured while `snd_una` and `snd_nxt` stand here.
    pub fn sample(&mut self, m: Span, snd_una: u64, snd_nxt: u64) {
        let m = Span(m.0.max(1));
        if self.srtt == Span::ZERO {
            self.srtt = m;
            self.mdev = Span(m.0 / 2);
            self.rttvar = Span(self.mdev.0.max(MIN.0 / 4));
            self.mdev_max = self.rttvar;
            self.rtt_seq = snd_nxt;
            return;
        }
        let error = m.0.abs_diff(self.srtt.0);
        // A sample far below the mean must not raise the variance as much as one above it.
        let gain = if m < self.srtt && error > self.mdev.0 { 32 } else { 4 };
        self.mdev = if error > self.mdev.0 {
            Span(self.mdev.0 + (error - self.mdev.0) / gain)
        } else {
            Span(self.mdev.0 - (self.mdev.0 - error) / 4)
        };
        self.srtt = if m > self.srtt { Span(self.srtt.0 + error / 8) } else { Span((self.srtt.0 - error / 8).max(1)) };
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        if snd_una > self.rtt_seq {
            if self.mdev_max < self.rttvar {
                self.rttvar = Span(self.rttvar.0 - (self.rttvar.0 - self.mdev_max.0) / 4);
            }
            self.rtt_seq = snd_nxt;
            self.mdev_max = Span(MIN.0 / 4);
        }
    }
}

impl Timer for LinuxTimer {
    fn on_sample(&mut self, s: &State, sent: Time) -> bool {
        self.sample(s.now.since(sent), s.snd_una, s.snd_nxt);
        true
    }

    fn rto(&self) -> Span {
        if self.srtt == Span::ZERO {
            return Span::from_secs(1);
        }
        self.srtt + self.rttvar.times(4)
    }

    fn srtt(&self) -> Span {
        self.srtt
    }

    fn rttvar(&self) -> Span {
        self.rttvar
    }

    fn retime(&mut self, srtt: Span, rttvar: Span) {
        (self.srtt, self.mdev) = (srtt, rttvar);
        self.rttvar = rttvar.max(Span(MIN.0 / 4));
        self.mdev_max = self.rttvar;
    }

    fn min_rto(&self) -> Span {
        MIN
    }
}
