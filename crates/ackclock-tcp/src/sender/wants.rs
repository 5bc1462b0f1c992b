//! What the mechanisms of a strategy want of the sender.

use super::config::SenderConfig;
use crate::strategy::Strategy;

/// What the mechanisms answer alike all the time, asked once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wants {
    /// Detection is to be called for each segment delivered.
    pub deliveries: bool,
    /// The timer takes samples from SACK blocks too.
    pub samples_sacks: bool,
    /// Each segment delivered is looked at: by detection, for the timer, or for the rate of
    /// delivery.
    pub observed: bool,
    /// A segment whose SACK was forgotten is an original all the same when it is acknowledged
    /// (`FLAG_ORIG_SACK_ACKED`): where Linux detects, which goes on from an undo of that.
    pub takes_forgotten: bool,
    /// cwnd counts what is in flight in every phase.
    pub everywhere: bool,
    /// cwnd counts what is in flight, and selection chooses by marks, in every phase.
    pub by_marks: bool,
    /// What is retransmitted is cut, or joined with what follows, to fit.
    pub refits: bool,
    /// A segment of new data crosses no buffer of what was written.
    pub keeps_buffers: bool,
    /// The window law measures, and validates cwnd.
    pub measures: bool,
    /// The window law grows cwnd after detection has judged.
    pub after_detection: bool,
    /// The timer times one segment at a time itself.
    pub times: bool,
    /// Regulation limits what an ACK releases.
    pub limits: bool,
    /// Segmentation decides when new data leaves.
    pub segments: bool,
    /// Segments leave at a rate.
    pub paces: bool,
    /// The window law goes by the rate of delivery, and alone sets cwnd.
    pub rates: bool,
    /// What is sent next is not the window's question alone: `measures` or `paces`.
    pub asks: bool,
    /// Plain ACKs take the short path (`plain.rs`). Events, and what must be asked on every ACK,
    /// take the full one.
    pub plain: bool,
    /// Full segments of new data take a short path (`plain.rs`): windows and timers alone have a
    /// say in them.
    pub sends_plainly: bool,
    /// On that path cwnd counts what is in flight, the window law measures, or one timer serves all
    /// ends.
    pub sends_in_flight: bool,
    /// On a plain ACK the window law measures, or grows after detection.
    pub responds: bool,
    /// Detection need not be asked on a plain ACK.
    pub skips_detection: bool,
    /// Detection takes a plain ACK in one call.
    pub sums_plain_acks: bool,
    /// Detection is called for each segment that a plain ACK delivers.
    pub reports_plainly: bool,
    /// Ambiguity need not see a plain ACK.
    pub skips_advance: bool,
}

impl Wants {
    pub fn of(strategy: &mut Strategy, config: &SenderConfig, sack: bool) -> Wants {
        let deliveries = strategy.detect.watches_deliveries();
        let samples_sacks = strategy.timer.samples_sacks();
        let everywhere = strategy.regulate.everywhere();
        let measures = strategy.window.measures();
        let after_detection = strategy.window.after_detection();
        let (times, limits) = (strategy.timer.times(), strategy.regulate.limits());
        let segments = strategy.segmentation.is_some();
        let paces = strategy.pacing.is_some();
        let rates = strategy.window.by_rate().is_some();
        let always_asks = times || limits || segments || paces || rates;
        let serves_all = strategy.timer.serves_all();
        let plain = !config.events && !always_asks;
        let sums_plain_acks = sack && strategy.detect.sums_plain_acks();
        let asked = everywhere || measures || serves_all;
        Wants {
            deliveries,
            samples_sacks,
            observed: deliveries || samples_sacks || rates,
            takes_forgotten: !strategy.detect.judges_again(),
            everywhere,
            by_marks: everywhere && strategy.select.everywhere(),
            refits: strategy.select.refits(),
            keeps_buffers: strategy.window.counts_segments() && !segments,
            measures,
            after_detection,
            times,
            limits,
            segments,
            paces,
            rates,
            asks: measures || paces,
            plain,
            sends_plainly: plain && !config.ecn,
            sends_in_flight: asked,
            responds: measures || after_detection,
            skips_detection: strategy.detect.skips_plain_acks(),
            sums_plain_acks,
            reports_plainly: deliveries && !sums_plain_acks,
            skips_advance: strategy.ambiguity.skips_plain_acks(),
        }
    }
}
