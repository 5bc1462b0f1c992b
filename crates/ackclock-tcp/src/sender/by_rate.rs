//! A window law that goes by the rate of delivery: when it hears of which [samples](super::rates),
//! and what follows from its answers.

use super::machine::Sender;
use crate::recovery::window::by_rate::RateSample;
use crate::summary::AckSummary;

/// draft-cheng-iccrg-delivery-rate-estimation-02 section 3.4, at the beginning of each input: there
/// is less than a segment to send, though cwnd has room and no loss waits for its retransmission.
pub(super) fn check_app_limited(c: &mut Sender) {
    let Some(rates) = &mut c.rates else { return };
    let s = &c.s;
    let room = u64::from(s.packets_in_flight()) * s.mss < s.cwnd;
    let waits = s.board.lost_segments() > s.board.retransmitted_segments();
    if s.written - s.snd_max < s.mss && room && !waits {
        rates.limit(s);
    }
}

/// An ACK arrives.
#[inline(never)]
pub(super) fn before_ack(c: &mut Sender) {
    check_app_limited(c);
    if let Some(rates) = &mut c.rates {
        rates.begin(&c.s);
    }
}

/// An ACK has been dealt with: the window law sets cwnd (`tcp_rate_gen`, `tcp_cong_control`).
#[inline(never)]
pub(super) fn after_ack(c: &mut Sender, a: &AckSummary) {
    let (Some(rates), Some(law)) = (&mut c.rates, c.strategy.window.by_rate()) else { return };
    let departs = c.strategy.pacing.as_ref().map_or(c.s.now, |pacing| pacing.next(&c.s));
    let delayed = rates.deliver(&c.s, a);
    rates.report(&c.s, law);
    let sample = RateSample { departs, ..rates.sample(&c.s, a, delayed) };
    let controlled = law.control(&c.s, &sample);
    if controlled.app_limited {
        rates.limit(&c.s);
    }
    c.s.ssthresh = controlled.ssthresh;
    c.set_cwnd(controlled.cwnd.min(c.config.max_cwnd));
}

/// Detection has judged between two ACKs.
#[inline(never)]
pub(super) fn between_acks(c: &mut Sender) {
    let (Some(rates), Some(law)) = (&mut c.rates, c.strategy.window.by_rate()) else { return };
    rates.report(&c.s, law);
}

/// The retransmission timer has expired, and is about to mark what is lost.
pub(super) fn before_expiry(c: &mut Sender) {
    let Some(rates) = &mut c.rates else { return };
    for r in c.s.board.iter().filter(|r| r.on_its_way()) {
        rates.on_lost(r.seq, r.end());
    }
}

/// What the retransmission timer gives up is marked lost.
pub(super) fn on_expired(c: &mut Sender) {
    let (Some(rates), Some(law)) = (&mut c.rates, c.strategy.window.by_rate()) else { return };
    rates.keep_waiting(&c.s.board);
    rates.report(&c.s, law);
    law.on_expired(&c.s, &RateSample { losses: 1, ..rates.totals() });
}

/// New data is about to be sent with none in the network.
pub(super) fn on_start(c: &mut Sender) {
    let (Some(rates), Some(law)) = (&c.rates, c.strategy.window.by_rate()) else { return };
    if rates.is_app_limited() {
        let cwnd = law.on_restart(&c.s);
        c.set_cwnd(cwnd);
    }
}
