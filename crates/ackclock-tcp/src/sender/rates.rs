//! Samples of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation-02; Linux's
//! `tcp_rate.c`), taken only for a window law that goes by them.
//!
//! Each transmission remembers what had been delivered, and when, as it was sent. The ACK that
//! delivers it gives a sample: what was delivered since, in the longer of the times that sending
//! and acknowledging took. What the application limited is marked as such (section 3.4).
//!
//! A transmission also remembers what was in flight and how many were lost by then, so that the law
//! knows the share of a round trip that was lost (draft-ietf-ccwg-bbr, "Transmitting a data
//! packet").

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::recovery::min_rtt::MinRtt;
use crate::recovery::window::by_rate::{ByRate, LostSegment, RateSample};
use crate::scoreboard::{Record, Scoreboard};
use crate::state::State;
use crate::summary::AckSummary;
use crate::time::{Span, Time};

/// What a transmission remembers (section 3.1.2).
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Its segment begins here.
    seq: u64,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    app_limited: bool,
    in_flight: u32,
    lost: u64,
}

/// The transmission that a sample goes by: the last one sent of those delivered.
#[derive(Clone, Copy, Debug)]
struct By {
    sent: Sent,
    /// Where its segment ends, and how long sending took.
    end: u64,
    took: Span,
}

/// Delivery of the connection (section 3.1.1).
#[derive(Debug)]
pub(super) struct Rates {
    /// `C.delivered`, in segments. The SYN is the first.
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    /// Where segments begin and end that were judged lost, of which the law has not heard yet.
    losses: Vec<(u64, u64)>,
    /// `C.app_limited`: the last segment that counts as limited; 0 for none.
    app_limited: u64,
    /// Transmissions in the order of their segments.
    sent: VecDeque<Sent>,
    by: Option<By>,
    prior_in_flight: u32,
    min_rtt: MinRtt,
}

impl Rates {
    pub fn new(handshake_rtt: Option<Span>) -> Box<Rates> {
        let mut min_rtt = MinRtt::default();
        if let Some(rtt) = handshake_rtt {
            min_rtt.sample(rtt, Time::ZERO);
        }
        Box::new(Rates {
            delivered: 1,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            lost: 0,
            losses: Vec::new(),
            app_limited: 0,
            sent: VecDeque::new(),
            by: None,
            prior_in_flight: 0,
            min_rtt,
        })
    }

    pub fn is_app_limited(&self) -> bool {
        self.app_limited > 0
    }

    /// Section 3.4: what is in the network now counts as limited.
    pub fn limit(&mut self, s: &State) {
        self.app_limited = self.delivered + u64::from(s.packets_in_flight());
    }

    /// A segment is judged lost.
    pub fn on_lost(&mut self, seq: u64, end: u64) {
        self.losses.push((seq, end));
    }

    /// The law hears of what was judged lost.
    pub fn report(&mut self, s: &State, law: &mut dyn ByRate) {
        for i in 0..self.losses.len() {
            let (seq, end) = self.losses[i];
            self.lost += 1;
            let Some(&sent) = self.last_sent(seq) else { continue };
            let lost = LostSegment {
                seq,
                end,
                tx_in_flight: sent.in_flight,
                lost: self.lost - sent.lost,
                app_limited: sent.app_limited,
                total_delivered: self.delivered,
            };
            law.on_lost(s, &lost);
        }
        self.losses.clear();
    }

    /// The last transmission of the segment at `seq`.
    fn last_sent(&self, seq: u64) -> Option<&Sent> {
        let i = self.sent.partition_point(|sent| sent.seq <= seq);
        i.checked_sub(1).and_then(|i| self.sent.get(i))
    }

    /// Section 3.2: segment `seq` to `end` is sent; `first`: nothing was outstanding.
    pub fn on_sent(&mut self, s: &State, seq: u64, end: u64, first: bool) {
        if first {
            (self.first_sent, self.delivered_at) = (s.now, s.now);
        }
        let sent = Sent {
            seq,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.app_limited > 0,
            in_flight: s.packets_in_flight(),
            lost: self.lost,
        };
        if self.sent.back().is_none_or(|last| last.seq < seq) {
            while self.sent.get(1).is_some_and(|next| next.seq <= s.snd_una) {
                self.sent.pop_front();
            }
            self.sent.push_back(sent);
            return;
        }
        let i = self.sent.partition_point(|sent| sent.seq < seq);
        // Of a segment that was cut the rest is as it was.
        let before = self.sent.get(i).filter(|sent| sent.seq == seq).copied();
        let before = before.or_else(|| self.sent.get(i.checked_sub(1)?).copied());
        let next = self.sent.get(i + usize::from(before.is_some_and(|b| b.seq == seq)));
        let cut = next.map_or(s.snd_max, |next| next.seq) > end;
        match self.sent.get_mut(i).filter(|sent| sent.seq == seq) {
            Some(same) => *same = sent,
            None => self.sent.insert(i, sent),
        }
        if cut && let Some(before) = before {
            self.sent.insert(i + 1, Sent { seq: end, ..before });
        }
    }

    /// Section 3.3: a segment is delivered for the first time.
    #[inline(never)]
    pub fn on_delivered(&mut self, r: &Record) {
        let Some(&sent) = self.last_sent(r.seq) else { return };
        let later = |by: By| (r.last_sent, r.end()) > (self.first_sent, by.end);
        if self.by.is_none_or(later) {
            let took = whole_micros(r.last_sent.since(sent.first_sent));
            self.by = Some(By { sent, end: r.end(), took });
            self.first_sent = r.last_sent;
        }
    }

    /// Of what was to be judged lost, keeps what now waits to be retransmitted.
    pub fn keep_waiting(&mut self, board: &Scoreboard) {
        self.losses.retain(|&(seq, _)| board.get(board.find(seq)).is_some_and(|r| r.waits()));
    }

    /// An ACK arrives.
    pub fn begin(&mut self, s: &State) {
        self.prior_in_flight = s.packets_in_flight();
        self.by = None;
    }

    /// The totals, with no delivery.
    pub fn totals(&self) -> RateSample {
        RateSample {
            total_delivered: self.delivered,
            total_lost: self.lost,
            delivered_at: self.delivered_at,
            prior_in_flight: self.prior_in_flight,
            ..RateSample::default()
        }
    }

    /// What an ACK delivers; whether it may have been delayed.
    pub fn deliver(&mut self, s: &State, a: &AckSummary) -> bool {
        let delayed = a.delivered == 1
            && a.newly_acked > 0
            && a.newly_acked < s.mss
            && a.newly_sacked == 0
            && self.by.is_some_and(|by| by.sent.delivered == self.delivered);
        if let Some(rtt) = a.rtt_latest
            && !(delayed && self.min_rtt.get().is_some_and(|min| rtt > min))
        {
            self.min_rtt.sample(rtt, s.now);
        }
        self.delivered += u64::from(a.delivered);
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        if a.delivered > 0 {
            self.delivered_at = s.now;
        }
        delayed
    }

    /// Section 3.3: the sample of an ACK that has been dealt with.
    pub fn sample(&mut self, s: &State, a: &AckSummary, delayed: bool) -> RateSample {
        let totals = RateSample {
            acked: a.delivered,
            losses: a.lost,
            rtt: a.rtt_latest,
            delayed,
            ..self.totals()
        };
        let Some(By { sent, took, .. }) = self.by.take() else { return totals };
        let acked = whole_micros(s.now.since(sent.delivered_at));
        let interval = took.max(acked);
        let least = self.min_rtt.get().map_or(Span::ZERO, whole_micros);
        RateSample {
            delivered: Some(self.delivered - sent.delivered),
            interval: (interval >= least).then_some(interval),
            prior_delivered: sent.delivered,
            tx_in_flight: sent.in_flight,
            lost: self.lost - sent.lost,
            app_limited: sent.app_limited,
            ..totals
        }
    }
}

/// Without its part of a microsecond.
fn whole_micros(span: Span) -> Span {
    Span::from_micros(span.micros())
}
