//! What an ACK does. One pass summarises it, then each axis in turn decides, and the connection
//! acts.

use super::machine::{MOST_DUPACKS, Sender, Turn};
use super::summarise::{self, Ranges};
use super::{by_rate, ecn, emit, one_timer, repair, undo};
use crate::event::EventKind;
use crate::recovery::timer::Timed;
use crate::segment::Segment;
use crate::state::Phase;
use crate::summary::AckSummary;
use crate::time::Span;

/// The position that the segment acknowledges, if it counts. RFC 9293 section 3.10.7.4: an ACK for
/// something not yet sent is dropped; one below SND.UNA is a duplicate to ignore, though its SACK
/// blocks still say what has arrived.
#[inline(always)]
pub(super) fn position(c: &Sender, segment: &Segment) -> Option<u64> {
    segment.ack.position(c.config.isn, c.s.snd_una).filter(|&ack| ack <= c.s.snd_max)
}

/// What any ACK does.
#[inline(never)]
pub(super) fn on_segment(c: &mut Sender, segment: &Segment, ack: u64) {
    (c.quiet, c.calm) = (false, false);
    if c.wants.rates {
        by_rate::before_ack(c);
    }
    let mut a = AckSummary {
        ack,
        prior_dupacks: c.s.dupacks,
        prior_una: c.s.snd_una,
        prior_flight: c.s.flight(),
        flight_size: c.flight_size(),
        ts_echo: segment.timestamps.filter(|_| c.config.timestamps).map(|t| t.ecr),
        // An old ACK says nothing of now.
        ece: c.config.ecn && segment.ecn.ece() && ack >= c.s.snd_una,
        ..AckSummary::default()
    };
    let mut ranges = Ranges::default();
    sum_up(c, segment, &mut a, &mut ranges);
    // Not even the numbers of the event are gathered for nobody.
    let event = if c.config.events { Some(report(c, &a, &ranges)) } else { None };
    before_response(c, &a);
    if asks_for_response(c, &a) {
        respond(c, &mut a);
    }
    if c.wants.times && a.newly_acked > 0 {
        time(c, &a);
    }
    after_response(c, &a);
    // tcp_ack: probes have seen the ACK before the timer is set.
    one_timer::after_ack(c);
    prepare_output(c, &a);
    if let Some(event) = event {
        show_windows(c, event);
    }
    fill_and_probe(c, &a);
}

/// Applies what the ACK says, and sums it up.
// Returned, the summary would be copied.
#[inline(always)]
fn sum_up(c: &mut Sender, segment: &Segment, a: &mut AckSummary, ranges: &mut Ranges) {
    c.stats.ecn_echoes += u64::from(a.ece);
    let prior_edge = c.s.window_edge;
    summarise::apply(c, segment, a, ranges);
    // A window that changes may begin a transmission, as data of the application does.
    if a.prior_flight == 0 && c.s.window_edge != prior_edge && c.s.written > c.s.snd_max {
        c.restart_if_idle();
    }
    if !a.duplicate && a.sacked_to > a.ack && c.strategy.detect.counts_repeat(&c.s, a) {
        a.duplicate = true;
        c.s.dupacks += 1;
    }
    if a.dsack.is_some() {
        a.dsack_of_probe = c.strategy.probes.iter().any(|p| p.reported(&c.s, a));
    }
}

/// Reports the ACK; returns the number of its event.
#[inline(never)]
fn report(c: &mut Sender, a: &AckSummary, ranges: &Ranges) -> usize {
    let number = c.events.len();
    c.event(EventKind::Acked {
        ack: a.ack,
        dupacks: c.s.dupacks,
        newly_acked: a.newly_acked,
        newly_sacked: a.newly_sacked,
        window_edge: c.s.window_edge,
        sack: ranges.ranges,
        sacks: ranges.count as u8,
        dsack: ranges.dsack,
    });
    number
}

/// The event of the ACK shows the windows that it left behind.
#[inline(never)]
fn show_windows(c: &mut Sender, number: usize) {
    if let Some(event) = c.events.get_mut(number) {
        event.cwnd = c.s.cwnd;
        event.ssthresh = c.s.ssthresh;
        event.snd_nxt = c.s.snd_nxt;
    }
}

/// Whether there is anything that the axes may respond to.
#[inline(always)]
fn asks_for_response(c: &Sender, a: &AckSummary) -> bool {
    let news = a.newly_acked > 0 || a.duplicate || a.newly_sacked > 0 || a.dsack.is_some();
    // After a timeout Linux looks at every duplicate, with SACK news or without (tcp_process_loss).
    let dubious = c.wants.by_marks && a.unchanged && c.s.phase == Phase::Loss;
    news || a.ece || dubious
}

/// How much may go out now, and how: a law by rate sets cwnd, regulation limits the burst, pacing
/// has its rate and segmentation its sizes, and a probe may let one segment out beyond cwnd.
#[inline(always)]
fn prepare_output(c: &mut Sender, a: &AckSummary) {
    if c.wants.rates {
        match a.prior_flight > 0 && !a.is_old() {
            true => by_rate::after_ack(c, a),
            // An old ACK may show a loss.
            false => by_rate::between_acks(c),
        }
    }
    if c.wants.limits {
        c.burst = c.burst.min(c.strategy.regulate.most(&c.s, a));
    }
    if c.wants.paces {
        c.strategy.update_pacing(&c.s);
    }
    if c.wants.segments
        && let Some(segmentation) = &mut c.strategy.segmentation
    {
        segmentation.on_ack(&c.s, a);
    }
    if a.duplicate {
        c.one = c.strategy.probes.iter().find_map(|p| p.one(&c.s, a));
    }
}

/// Fills the send buffer, and has the receiver's window probed if it holds back what there is to
/// send (RFC 9293 section 3.8.6.1).
#[inline(always)]
fn fill_and_probe(c: &mut Sender, a: &AckSummary) {
    let waits = a.prior_flight == 0 && c.s.written > c.s.snd_max;
    if waits && c.s.buffers.is_some() {
        // tcp_ack_probe: the window may have room for what is not yet filled, and then not for it.
        wait_for_window(c);
    }
    emit::fill_buffer(c);
    if waits {
        wait_for_window(c);
    } else {
        c.arm_persist();
    }
}

/// Nothing was outstanding as the ACK came, and there is something to send.
fn wait_for_window(c: &mut Sender) {
    c.arm_persist();
    one_timer::wait_for_window(c);
}

/// Probes see the ACK before anything has responded to it.
#[inline(always)]
pub(super) fn before_response(c: &mut Sender, a: &AckSummary) {
    for i in 0..c.strategy.probes.len() {
        let first = c.strategy.probes[i].on_ack_first(&c.s, a, &mut *c.strategy.window);
        if let Some(windows) = first {
            c.take(windows);
            // tcp_process_tlp_ack: it begins and ends CWR.
            (c.s.cwr, c.cwr_due) = (false, c.config.ecn);
        }
    }
}

/// Probes see the ACK after everything has responded to it.
#[inline(always)]
pub(super) fn after_response(c: &mut Sender, a: &AckSummary) {
    let mut repaired = None;
    for probe in &mut c.strategy.probes {
        repaired = probe.on_ack(&c.s, a, &mut *c.strategy.window).or(repaired);
    }
    if let Some(windows) = repaired {
        c.save(false);
        c.take(windows);
        if c.config.ecn {
            // RFC 3168 section 6.1.2: marks of the same window of data lower nothing again.
            (c.cwr_due, c.s.cwr_point) = (true, c.s.snd_max);
        }
    }
}

/// The timer looks whether the segment that it times was acknowledged.
#[inline(never)]
fn time(c: &mut Sender, a: &AckSummary) {
    let timed = c.strategy.timer.on_advance(&c.s, a);
    if timed == Timed::Nothing {
        return;
    }
    let backoff = c.timers.backoff;
    c.take_estimates(c.strategy.timer.estimates());
    if timed == Timed::Sampled {
        c.timers.backoff = backoff;
    }
    // A partial ACK has restarted the timer already, if selection wanted that.
    if c.s.phase != Phase::Recovery {
        c.restart_rto();
    }
}

/// The axes decide in turn: undo, detection, retransmission lost, then windows.
pub(super) fn respond(c: &mut Sender, a: &mut AckSummary) {
    if c.wants.measures {
        measure(c, a);
    }
    observe(c, a);
    ecn::note(c, a);
    if let Some(wait) = reneged(c, a) {
        return wait_for_timeout(c, a, wait);
    }
    let repairing = c.s.recovering();
    let undo::Judged { cwnd_decided, hold, ignores_ece } = undo::judge(c, a);
    if repairing && !c.s.recovering() {
        // The response was undone, and has given up nothing.
        a.flight_size = a.prior_flight.saturating_sub(c.s.limited);
    }
    if a.newly_acked > 0 {
        c.strategy.ambiguity.on_advance(&c.s, a);
    }
    if hold {
        return c.regulate_cwnd(a);
    }
    match c.s.phase {
        Phase::Open => {
            let cwnd_decided = ecn::leave(c, a) || cwnd_decided;
            if a.newly_acked > 0 {
                on_advance_open(c, a, cwnd_decided);
            }
            repair::detect(c, a);
        }
        Phase::Recovery if c.strategy.select.ends(&c.s, a) => {
            repair::leave(c, a);
            // What was found lost above the recovery point may begin the next one at once.
            repair::detect(c, a);
        }
        Phase::Recovery => repair::within(c, a),
        Phase::Loss => after_timeout(c, a, cwnd_decided),
    }
    if !ignores_ece {
        ecn::respond(c, a);
    }
    // Nothing grows on an ACK that others have overtaken (tcp_ack, old_ack).
    if c.wants.after_detection && c.s.phase != Phase::Recovery && !a.is_old() {
        grow(c, a);
    }
}

/// The ACK ends just below what was SACKed, which the receiver must have discarded (RFC 2018
/// section 8): how soon the retransmission timer is to expire for that.
#[inline(always)]
fn reneged(c: &Sender, a: &AckSummary) -> Option<Span> {
    let head = c.s.board.head().filter(|_| a.newly_acked > 0)?;
    if head.sacked { c.strategy.detect.reneges(&c.s) } else { None }
}

/// Until then nothing goes again (tcp_fastretrans_alert returns).
#[cold]
fn wait_for_timeout(c: &mut Sender, a: &AckSummary, wait: Span) {
    one_timer::expire_in(c, wait);
    c.turn = Turn::NothingAgain;
    if c.s.phase == Phase::Recovery { c.regulate_cwnd(a) } else { grow(c, a) }
}

/// An ACK in the slow start after a timeout.
#[inline(always)]
fn after_timeout(c: &mut Sender, a: &mut AckSummary, cwnd_decided: bool) {
    if a.newly_acked > 0 {
        if c.strategy.select.ends_loss(&c.s) {
            c.s.phase = Phase::Open;
            c.s.snd_nxt = c.s.snd_max;
            c.event(EventKind::RecoveryLeft { by_timeout: false, cwnd_before: c.s.cwnd });
        }
        on_advance_open(c, a, cwnd_decided);
    }
    // tcp_process_loss (`recovered`): the phase goes on without SACK, but not its retransmissions.
    let recovered = c.s.phase == Phase::Loss && c.s.snd_una >= c.s.recover;
    if c.wants.by_marks && !c.s.sack && recovered {
        c.turn = Turn::NothingAgain;
    }
    repair::detect(c, a);
}

/// The window law measures, and may end slow start for what it finds.
#[inline(always)]
pub(super) fn measure(c: &mut Sender, a: &AckSummary) {
    if let Some(ssthresh) = c.strategy.window.on_measured(&c.s, a) {
        c.s.ssthresh = ssthresh;
    }
}

/// Detection takes note of what was delivered.
#[inline(always)]
pub(super) fn observe(c: &mut Sender, a: &mut AckSummary) {
    if !c.s.sack
        && let Some(emulated) = c.strategy.detect.emulate(&c.s, a)
    {
        (c.s.emulated, a.delivered) = (emulated.segments, emulated.delivered);
    }
    if c.wants.deliveries {
        c.strategy.detect.observe(&c.s, a);
    }
}

/// New data acknowledged outside recovery: the window grows, unless cwnd is decided.
#[inline(always)]
fn on_advance_open(c: &mut Sender, a: &AckSummary, cwnd_decided: bool) {
    if !cwnd_decided && !c.wants.after_detection {
        grow(c, a);
    }
    advance_probes(c, a);
}

/// Probes see that ACK.
#[inline(always)]
pub(super) fn advance_probes(c: &mut Sender, a: &AckSummary) {
    let mut counted = 0;
    for probe in &mut c.strategy.probes {
        counted = probe.on_advance(&c.s, a).max(counted);
    }
    c.s.dupacks += counted.min(MOST_DUPACKS);
    // What cwnd has grown by is no longer sent beyond it.
    let beyond = c.s.flight().saturating_sub(c.s.cwnd);
    c.s.limited = if counted > 0 {
        c.s.limited.saturating_sub(a.newly_acked).min(beyond)
    } else if c.wants.everywhere {
        // What SACK blocks above another gap made room for in flight.
        c.s.limited.min(beyond)
    } else {
        0
    };
}

#[inline(always)]
pub(super) fn grow(c: &mut Sender, a: &AckSummary) {
    // RFC 3168 section 6.1.2: no growth on an ECN-Echo. After a timeout the receiver echoes until
    // new data carries CWR, and none goes before all is repaired: without growth that took one
    // segment a round trip. Linux grows on an echo, too.
    let echo = a.ece && c.s.phase == Phase::Open && !c.strategy.regulate.cwr_is_a_state();
    if c.s.cwr || echo {
        return;
    }
    grow_window(c, a);
}

/// The same without ECN.
#[inline(always)]
pub(super) fn grow_window(c: &mut Sender, a: &AckSummary) {
    let cwnd = c.strategy.window.on_ack(&c.s, a).min(c.config.max_cwnd);
    c.set_cwnd(cwnd);
    if c.s.cwnd < c.s.ssthresh && c.strategy.window.ends_slow_start(&c.s) {
        c.s.ssthresh = c.s.cwnd;
    }
}
