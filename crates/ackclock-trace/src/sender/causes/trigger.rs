//! What made a sender retransmit a segment: an ACK, a probe's timer or the retransmission timer.
//!
//! The retransmission timer sends the head, a probe's timer the tail, and both after silence. An
//! ACK sends what its evidence speaks against: within a millisecond, or, where time detects losses
//! (RACK, delayed early retransmit), after a fraction of the round trip. Where it may have been
//! either timer, what comes next decides ([`Probes`](super::probes::Probes)).

use ackclock_tcp::Span;

use crate::sender::stream::moments::{HOST_BUSY, HOST_IDLE};
use crate::sender::stream::rarely;
use crate::sender::stream::timers::{TICKS, Timers, nearly};

/// Between two segments of a sender that paces, at the least rate that matters here: 1500 bytes at
/// 1.2 Mbit/s. Chosen: from 5 to 20 ms all kinds are the same.
const PACE: Span = Span::from_millis(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    Ack,
    Probe,
    /// One of both timers: what follows has to say which.
    ProbeOrTimer,
    Timer,
    /// Nothing accounts for it.
    Unknown,
}

/// What is known at the moment at which a segment is retransmitted.
pub(crate) struct Situation<'a> {
    pub timers: &'a Timers,
    /// SACK is in use.
    pub sack: bool,
    /// It may be in use: options are cut off.
    pub cut: bool,
    /// As [`Terms::may_have_probes`](crate::sender::Terms::may_have_probes) has it.
    pub probes_exist: bool,
    /// The capture was taken at the sender, and shows all that it sends.
    pub at_sender: bool,
    /// It was taken there, or so near that its times are the sender's.
    pub near: bool,
    /// The segment begins with the first unacknowledged byte.
    pub is_head: bool,
    /// The segment ends with the last byte outstanding.
    pub is_tail: bool,
    /// Nothing is repaired.
    pub open: bool,
    /// An undo was due, but nothing says that the sender has made it.
    pub undo_in_doubt: bool,
    /// A tail loss probe is not over, so that no other one may follow.
    pub probe_open: bool,
    /// The timer has expired since the last progress.
    pub timed_out: bool,
    /// The head was not yet retransmitted in this phase.
    pub head_in_turn: bool,
    /// Data is SACKed.
    pub sacked: bool,
    /// Duplicates have come since the last progress.
    pub duplicates: bool,
    /// The last ACK said something about losses.
    pub fresh: bool,
    /// Since the first sign that the head is lost; `None` if there is none.
    pub since_evidence: Option<Span>,
    /// Since an ACK last spoke of a loss.
    pub since_news: Span,
    pub since_progress: Span,
    pub since_ack: Span,
    /// New data last followed an ACK at once.
    pub at_once: bool,
    /// Between the last two ACKs.
    pub ack_gap: Span,
    /// Since the last progress and the last new data.
    pub idle: Span,
    /// For so long no ACK has come and nothing was sent.
    pub silence: Span,
    /// Since the retransmission timer was set, at the least.
    pub waited: Span,
    /// The same of a timer that no retransmission sets anew (RFC 6298 section 5).
    pub waited_from_first: Span,
    /// The head has gone out since the last ACK.
    pub sent_since_ack: bool,
    /// D-SACKs so far.
    pub dsacks: u64,
}

impl Situation<'_> {
    pub fn trigger(&self) -> Trigger {
        if !self.is_head {
            return self.behind_head();
        }
        if self.is_by_ack() {
            return Trigger::Ack;
        }
        if self.is_tail && self.may_probe() && !self.sacked {
            return self.by_either_timer();
        }
        // No timer is shorter than a round trip or than two ticks; but that of NewReno may go on
        // from before a partial ACK (RFC 6582 section 4).
        let least = nearly(self.timers.min_rtt()).max(TICKS);
        let sooner = self.nothing_repaired() && !self.timed_out && self.since_progress < least;
        if sooner || self.waited < TICKS && (self.sack || self.open) && !self.goes_on_from_first() {
            return Trigger::Unknown;
        }
        Trigger::Timer
    }

    /// The timer may be one that a fast retransmit just before has not set anew, where nothing was
    /// sent at once.
    fn goes_on_from_first(&self) -> bool {
        let due = self.waited_from_first >= nearly(self.timers.backed_off());
        let later = self.waited.min(self.since_ack) > HOST_BUSY;
        self.near && !self.open && later && due
    }

    /// Behind the head ACKs and probes send; and the timer, if this is the sender's head, but the
    /// ACK that made it so is not in the capture.
    fn behind_head(&self) -> Trigger {
        let disorder = self.is_recent() || self.sacked || self.duplicates;
        // Two round trips after the last progress (RFC 8985 section 7.2). If nothing else sends the
        // tail again, it is a probe whatever the sender's estimate of them is.
        let pto = if disorder { self.timers.pto(false) } else { self.timers.min_rtt() };
        let pto = nearly(pto);
        // Where the retransmission timer is due before, counted from when the head was sent,
        // Linux's probe takes its time (`tcp_rto_delta_us`).
        let instead = !disorder && self.waited >= nearly(self.timers.rto());
        let in_time = self.idle >= pto && self.since_ack >= pto || instead;
        if self.is_tail && self.may_probe() && in_time {
            Trigger::Probe
        } else if self.at_sender && !self.may_be_late_probe() && self.outlasts_repairs() {
            Trigger::Timer
        } else if self.nothing_repaired() && !disorder {
            Trigger::Unknown
        } else {
            Trigger::Ack
        }
    }

    /// The tail may be a probe whose recovery has ended with an ACK that is not in the capture.
    fn may_be_late_probe(&self) -> bool {
        self.is_tail && self.probes_exist && (self.sack || self.cut)
    }

    /// The silence is a timeout's, and longer than a round trip, after which slow start goes on.
    fn outlasts_repairs(&self) -> bool {
        let srtt = self.timers.srtt();
        self.silence >= nearly(self.timers.rto()).max(srtt + Span(srtt.0 / 4) + TICKS)
    }

    /// Whether an ACK sends the head.
    fn is_by_ack(&self) -> bool {
        let due = self.waited >= nearly(self.timers.backed_off()) && !self.is_restarted();
        let Some(since_evidence) = self.since_evidence else {
            let by_ack = self.coincides() || self.is_recent() && !due && self.follows_ack();
            return by_ack && !self.may_be_early_timer();
        };
        // Without SACK only the ACK itself retransmits; with it time may have to pass (RFC 8985
        // section 6.2). What a repair has sent before, it sends again on the first ACK that speaks
        // against it, if it does so at all.
        let settle = self.settle();
        let (settling, prompt) = if self.sack {
            (since_evidence <= self.latest_settle(), self.since_ack <= settle)
        } else {
            let first = self.head_in_turn || since_evidence <= self.pace();
            (false, self.follows_ack() && first)
        };
        // Away from the sender only the shortest time that an answer takes is known.
        let prompt = prompt || !self.near;
        settling || prompt && !due || self.coincides()
    }

    /// A partial ACK has restarted the timer (RFC 6298 section 5.3), and none expires so soon after
    /// that. Away from the sender what the ACK let out may have waited in a queue since.
    fn is_restarted(&self) -> bool {
        self.sack && !self.open && self.head_in_turn && self.timers.is_early(self.since_progress)
    }

    /// Nothing speaks against the last transmission of the head, which a repair has sent before: a
    /// timer may have expired while ACKs came. Some timers expire earlier than Linux's: those that
    /// follow RFC 6298 but for its least interval of 1 s. What an ACK sends follows it at once, and
    /// no ACK sends the head twice.
    fn may_be_early_timer(&self) -> bool {
        let since = self.waited >= nearly(self.timers.min_rtt()) && self.since_ack > HOST_IDLE;
        let since = since || self.sent_since_ack && self.waited > HOST_BUSY;
        self.near && !self.head_in_turn && (since || self.goes_on_from_first())
    }

    /// A single segment is outstanding. Linux sets the probe's timer to the earlier of its own time
    /// and the retransmission timer's.
    fn by_either_timer(&self) -> Trigger {
        let latest = self.timers.latest_probe();
        let late = latest + Span(latest.0 / 10) + TICKS;
        match () {
            () if self.idle < nearly(self.timers.pto(false)) => Trigger::Unknown,
            () if self.timers.outwaits_probes(self.idle) => Trigger::Timer,
            () if self.idle <= late => Trigger::ProbeOrTimer,
            () => Trigger::Timer,
        }
    }

    /// No repair goes on, nor may one go on whose undo is in doubt.
    fn nothing_repaired(&self) -> bool {
        self.open && !self.undo_in_doubt
    }

    fn may_probe(&self) -> bool {
        self.sack && self.probes_exist && self.nothing_repaired() && !self.probe_open
    }

    fn is_recent(&self) -> bool {
        self.since_news <= self.settle()
    }

    fn settle(&self) -> Span {
        self.timers.settle(self.dsacks, self.near)
    }

    /// The same where no retransmission timer can have expired yet: then a reordering window as
    /// long as RFC 8985 section 6.2 lets it become is what is left.
    fn latest_settle(&self) -> Span {
        let longest = self.timers.srtt() + TICKS;
        if self.timers.is_early(self.waited) { self.settle().max(longest) } else { self.settle() }
    }

    /// An ACK with news came just before, and not because ACKs come all the time: that a timer
    /// expires by chance in such a small part of the time between two ACKs has one chance in fifty.
    /// Where the timer is due to the millisecond, both are coincidences, and the ACK must have been
    /// followed at once.
    fn coincides(&self) -> bool {
        let soon = if self.timers.expires_now(self.waited) { HOST_IDLE } else { HOST_BUSY };
        (self.fresh || self.undo_in_doubt)
            && self.since_ack <= soon
            && self.since_ack <= rarely(self.ack_gap)
    }

    /// Whether the last ACK may have sent the head: it does so at once, or as fast as the sender
    /// paces.
    fn follows_ack(&self) -> bool {
        self.since_ack <= self.pace()
    }

    /// The first retransmission of a segment may have to wait for a pace of up to a segment in a
    /// round trip. Where no repair goes on, and new data had to wait for none, it waits for an
    /// early retransmit at the most (RFC 5827 section 3.3).
    fn pace(&self) -> Span {
        let srtt = self.timers.srtt();
        let calm = self.nothing_repaired() && !self.timed_out;
        let unpaced = self.near && self.at_once && calm && !self.sack && !self.cut;
        match self.head_in_turn {
            true if unpaced => self.settle(),
            true => srtt,
            false => Span(srtt.0 / 4).min(PACE),
        }
    }
}
