//! The axes of a strategy: one trait for each question that loss recovery has to answer.
//!
//! A mechanism answers from what it is shown, the [`State`] of the connection and the summary of the ACK at hand
//! ([`AckSummary`]), and returns a *decision*. Only the connection changes windows, timers and the scoreboard.
//! A new mechanism implements one of these traits in one file; `ARCHITECTURE.md` has a worked example.

use crate::event::Cause;
use crate::recovery::DUPTHRESH;
use crate::scoreboard::Record;
use crate::sender::State;
use crate::time::{Span, Time};

/// What one ACK told, computed once for all mechanisms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AckSummary {
    /// Its acknowledgment number as a stream position.
    pub ack: u64,
    /// Bytes newly acknowledged cumulatively.
    pub newly_acked: u64,
    /// Of those, bytes that had been selectively acknowledged before.
    pub sacked_before: u64,
    /// Bytes newly acknowledged selectively.
    pub newly_sacked: u64,
    /// Bytes newly judged lost on this ACK (set once detection has run).
    pub newly_lost: u64,
    /// It counts as a duplicate: RFC 5681 section 2 without SACK; with it, it SACKs something new (RFC 6675 section 2, and
    /// [`Detect::counts_advances`]).
    pub duplicate: bool,
    /// Duplicates counted before it.
    pub prior_dupacks: u32,
    /// `snd_una` before it.
    pub prior_una: u64,
    /// Bytes outstanding before it.
    pub prior_flight: u64,
    /// The range that a D-SACK block reported (RFC 2883).
    pub dsack: Option<(u64, u64)>,
    /// The highest position that a SACK block of this ACK covered, 0 without one.
    pub sacked_to: u64,
    /// The round trip that it measured (RFC 6298 section 3, RFC 7323 section 4).
    pub rtt: Option<Span>,
    /// The timestamp that it echoed; `None` if timestamps were not negotiated.
    pub ts_echo: Option<u32>,
    /// When the last of those segments was sent that it newly acknowledged and that had been sent more than once; `None` if
    /// there was none.
    pub retransmission_acked: Option<Time>,
    /// When the segment that ends at its acknowledgment number was last sent; `None` if it acknowledged none.
    pub last_sent: Option<Time>,
    /// RFC 5681 section 2: acknowledgment number and window are those before it, and it carries no data. Whether anything was
    /// outstanding, or it carries SACK blocks, is not looked at.
    pub unchanged: bool,
    /// A retransmission was found lost on this ACK (set once that axis has run).
    pub retransmission_lost: bool,
}

/// What a detection mechanism judges lost. The connection does the marking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Nothing new.
    Nothing,
    /// The first unacknowledged segment.
    Head,
    /// Every segment ending at or below this position that is not sacked (RFC 6675 IsLost, FACK).
    Below(u64),
    /// Every segment that is not sacked and whose last transmission was sent before this time, or at this time with an
    /// end at or below the position (RFC 8985 section 6.2).
    SentBefore(Time, u64),
}

/// Whether and when the network tells a sender which of its transmissions were lost. No real network does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Told {
    /// Never.
    #[default]
    Never,
    /// When the ACK of the transmission would have come, had it not been lost.
    AfterRoundTrip,
    /// At the moment of the loss, and again when its ACK would have come.
    AtOnce,
}

/// Detection: what is lost now, or when will we know.
pub trait Detect: Send {
    /// The name under which events report what it judged.
    fn name(&self) -> &'static str {
        core::any::type_name::<Self>()
    }

    /// Whether [`on_delivered`](Self::on_delivered) wants to be called.
    fn watches_deliveries(&self) -> bool {
        false
    }

    /// The ACK at hand is the first to report this segment delivered, cumulatively or selectively; called for each such
    /// segment before [`on_ack`](Self::on_ack).
    fn on_delivered(&mut self, _r: &Record, _now: Time) {}

    /// DupThresh (RFC 5681 section 3.2) from the ACK at hand on; called before [`on_ack`](Self::on_ack), which finds it in the
    /// state.
    fn dupthresh(&mut self, _s: &State, _a: &AckSummary) -> u32 {
        DUPTHRESH
    }

    /// Judges on an ACK that says anything new, or is a duplicate.
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Lost;

    /// Whether, with SACK, an ACK with SACK news counts as a duplicate "regardless of its status as a cumulative
    /// acknowledgment" (RFC 6675 section 5), and not only if it does not advance.
    fn counts_advances(&self) -> bool {
        false
    }

    /// When [`on_deadline`](Self::on_deadline) wants to be called; [`Time::NEVER`] if it does not.
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// Judges because time has passed.
    fn on_deadline(&mut self, _s: &State) -> Lost {
        Lost::Nothing
    }

    /// Whether the network has to tell of losses ([`Sender::on_lost`](crate::Sender::on_lost)). With SACK, no retransmission
    /// timer runs then: every loss is told, and a timer could only be wrong.
    fn told(&self) -> Told {
        Told::Never
    }

    /// The retransmission timer has expired: besides the first unacknowledged segment, lost is what was last sent no later
    /// than this; [`Time::NEVER`] for all that is outstanding.
    fn on_timeout(&mut self, _s: &State) -> Time {
        Time::NEVER
    }
}

/// Ambiguity: may duplicate ACKs begin a recovery although they may stem from an earlier one, or from a timeout?
pub trait Ambiguity: Send {
    /// Whether recovery may begin on this ACK.
    fn admits(&mut self, s: &State, a: &AckSummary) -> bool;

    /// An ACK advanced `snd_una`.
    fn on_advance(&mut self, _s: &State, _a: &AckSummary) {}
}

/// What an ACK within recovery tells of retransmissions, that of the first unacknowledged segment above all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    /// Nothing.
    Nothing,
    /// It is lost.
    Lost,
    /// Lost is every retransmission, that of any segment, that was sent before the data that ends at this position.
    LostBefore(u64),
    /// Nothing yet: unless this ACK releases a segment anyway, send a new one whatever the window says, whose ACK will tell
    /// (Lin & Kung section 6.3).
    Mark,
    /// Its round trip is over: what was sent before it has left the network.
    RoundTrip,
}

/// Detection for a retransmission: is it lost too?
pub trait DetectRetransmission: Send {
    /// The name under which events report what it judged.
    fn name(&self) -> &'static str {
        core::any::type_name::<Self>()
    }

    /// Recovery began.
    fn on_enter(&mut self, s: &State);

    /// Judges on an ACK within recovery that does not end it.
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Tick;

    /// A segment was sent within recovery.
    fn on_transmit(&mut self, _s: &State, _cause: Cause) {}
}

/// New values of both windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// New ssthresh.
    pub ssthresh: u64,
    /// New cwnd.
    pub cwnd: u64,
}

/// Response to a lost retransmission, which is decided apart from its detection.
pub trait Response: Send {
    /// Recovery began.
    fn on_enter(&mut self) {}

    /// A retransmission was found lost within recovery.
    fn on_lost(&mut self, s: &State) -> Windows;

    /// Recovery ends with this cwnd; returns the one it shall end with.
    fn on_exit(&mut self, _s: &State, cwnd: u64) -> u64 {
        cwnd
    }
}

/// What has to happen on an ACK within recovery, window or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Urgent {
    /// Send the first unacknowledged segment again at once.
    pub retransmit_head: bool,
    /// Restart the retransmission timer.
    pub restart_timer: bool,
}

/// What to send next within recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The data at `snd_nxt`: new data, unless `snd_nxt` was set back.
    Sequential,
    /// Segment `index` of the scoreboard again. `counts` tells whether the retransmission enters the pipe.
    Retransmit {
        /// Index in the scoreboard.
        index: usize,
        /// Whether it counts in the pipe.
        counts: bool,
    },
}

/// Selection: what goes next in recovery, and when recovery is over.
pub trait Select: Send {
    /// Whether recovery is a slow start from the first unacknowledged segment (Tahoe) and not a phase of its own.
    fn goes_back(&self) -> bool {
        false
    }

    /// Whether a timeout discards SACK information (RFC 2018 section 8).
    fn forgets_sacks(&self) -> bool {
        true
    }

    /// Whether the slow start after a timeout leaves out what SACK blocks report from then on (RFC 6675 section 5.1).
    fn uses_sacks_after_timeout(&self) -> bool {
        true
    }

    /// Recovery began; the connection sends the first unacknowledged segment by itself.
    fn on_enter(&mut self, _s: &State) {}

    /// Whether this ACK ends recovery.
    fn ends(&self, s: &State, a: &AckSummary) -> bool {
        a.ack >= s.recover
    }

    /// What an ACK that does not end recovery makes urgent.
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Urgent;

    /// What goes next, given that the window has room for a full segment; `None` for nothing.
    fn next(&mut self, s: &State) -> Option<Next>;

    /// A segment was sent within recovery.
    fn on_transmit(&mut self, _s: &State, _cause: Cause) {}
}

/// What takes the place of new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filler {
    /// Segment `index` of the scoreboard again.
    Again {
        /// Index in the scoreboard.
        index: usize,
    },
    /// A segment without data whose sequence number stands for this position.
    HeaderOnly {
        /// Stream position.
        position: u64,
    },
}

/// Filling: what an ACK within recovery releases when the window has room, but there is no data to send or no receive
/// window for it. Asked at most once for each ACK.
pub trait Fill: Send {
    /// Recovery began.
    fn on_enter(&mut self, _s: &State) {}

    /// What goes instead.
    fn next(&mut self, s: &State) -> Option<Filler>;
}

/// Regulation: how much an ACK within recovery may release. Each method that returns a number returns the new cwnd.
pub trait Regulate: Send {
    /// What counts against cwnd within recovery.
    fn in_flight(&self, s: &State) -> u64;

    /// Recovery began; `s.ssthresh` is the target.
    fn on_enter(&mut self, s: &State, a: &AckSummary) -> u64;

    /// An ACK arrived that does not end recovery.
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64;

    /// Time has told of losses, between two ACKs within recovery, by which the pipe has fallen so many bytes.
    fn on_lost(&mut self, s: &State, _bytes: u64) -> u64 {
        s.cwnd
    }

    /// An ACK ends recovery.
    fn on_exit(&mut self, s: &State, a: &AckSummary) -> u64;

    /// A segment was sent within recovery.
    fn on_transmit(&mut self, s: &State, _cause: Cause, _len: u64) -> u64 {
        s.cwnd
    }

    /// What was sent before the retransmission has left the network ([`Tick::RoundTrip`]); called before
    /// [`on_ack`](Self::on_ack).
    fn on_round_trip(&mut self, s: &State) -> u64 {
        s.cwnd
    }
}

/// What a probe sends when its time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeNow {
    /// Nothing.
    Nothing,
    /// One new segment, or the last outstanding one again if there is no new data (RFC 8985 section 7.3).
    NewOrLast,
}

/// Probing: what may be sent beyond the window before recovery begins. Several probes may work side by side; their
/// allowances do not add up, the largest counts.
pub trait Probe: Send {
    /// Bytes of new data that may be outstanding beyond cwnd; asked while duplicates are counted.
    fn allowance(&self, s: &State) -> u64;

    /// An ACK advanced `snd_una` outside recovery: how many duplicates remain counted.
    fn on_advance(&mut self, _s: &State, _a: &AckSummary) -> u32 {
        0
    }

    /// An ACK ended recovery: how many duplicates count already. If any do, one new segment goes out whatever the window
    /// says.
    fn on_exit(&mut self, _s: &State, _a: &AckSummary) -> u32 {
        0
    }

    /// An ACK has been dealt with. Whether it tells that a probe has repaired a loss by itself, to which the windows respond
    /// as at the end of a recovery (RFC 8985 section 7.4.2).
    fn on_ack(&mut self, _s: &State, _a: &AckSummary) -> bool {
        false
    }

    /// When [`on_deadline`](Self::on_deadline) wants to be called. If the retransmission timer would expire first, it is called
    /// then, in place of the timeout (RFC 8985 section 7.2).
    fn deadline(&self, _s: &State) -> Time {
        Time::NEVER
    }

    /// The time has come.
    fn on_deadline(&mut self, _s: &State) -> ProbeNow {
        ProbeNow::Nothing
    }
}

/// What an undo mechanism concludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing yet.
    Open,
    /// The loss response was needless: restore what was saved when it began.
    Spurious,
    /// After a timeout: send two new segments before any further retransmission, to find out (RFC 5682 section 2.1 step
    /// 2b). There has to be new data, and window for it.
    SendNew,
    /// After [`SendNew`](Self::SendNew): it was needed, go on with the retransmissions (step 3a).
    Needed,
    /// The retransmission timer has to go on from these estimates (RFC 4015 step 11).
    Retime {
        /// SRTT.
        srtt: Span,
        /// RTTVAR.
        rttvar: Span,
    },
}

/// Undo: was the response to a loss needless?
pub trait Undo: Send {
    /// The name under which events report what it judged.
    fn name(&self) -> &'static str {
        core::any::type_name::<Self>()
    }

    /// A loss response begins: a timeout or a recovery.
    fn on_response(&mut self, s: &State, timeout: bool);

    /// A segment is sent again (RFC 3708 section 3 counts them, RFC 3522 section 3.2 keeps the first one's timestamp).
    fn on_retransmit(&mut self, _s: &State, _seq: u64, _len: u32) {}

    /// Judges on an ACK, also after the response has ended: its verdict counts until the next response begins.
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Verdict;

    /// A verdict, its own or another mechanism's, is [`Verdict::Spurious`]: the windows to go on with, which this ACK then does
    /// not change any further (RFC 4015 step 9); `None` to restore those from before the response.
    fn respond(&mut self, _s: &State, _a: &AckSummary) -> Option<Windows> {
        None
    }
}

/// The window law: growth, and the target after a loss.
pub trait Window: Send {
    /// The new cwnd after an ACK that advanced `snd_una` outside recovery.
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64;

    /// The new ssthresh when recovery begins with `flight` bytes outstanding (limited transmit's excluded).
    fn on_loss(&mut self, s: &State, flight: u64) -> u64;

    /// The new ssthresh on a timeout with `flight` bytes outstanding; `repeated` if the segment timed out before.
    fn on_timeout(&mut self, s: &State, flight: u64, repeated: bool) -> u64;

    /// The cwnd with which a recovery of the go-back kind begins (Tahoe).
    fn on_go_back(&mut self, s: &State) -> u64 {
        s.mss
    }

    /// Asked after each [`on_ack`](Self::on_ack): whether slow start ends here, with ssthresh = cwnd (RFC 9406 section 4.2).
    fn ends_slow_start(&self, _s: &State) -> bool {
        false
    }

    /// The loss response was needless, and the connection has restored cwnd and ssthresh (RFC 9438 section 4.9). It is the
    /// one that began when no loss was being repaired, or the first since the last undo.
    fn on_undo(&mut self, _s: &State) {}
}

/// The retransmission timer.
pub trait Timer: Send {
    /// A valid round-trip sample: a segment sent at `sent` was acknowledged now. Returns whether it was made use of,
    /// which ends a back-off (RFC 6298 section 5.7).
    fn on_sample(&mut self, s: &State, sent: Time) -> bool;

    /// The timeout interval before back-off.
    fn rto(&self) -> Span;

    /// SRTT; zero before the first sample, and for a timer that keeps none.
    fn srtt(&self) -> Span {
        Span::ZERO
    }

    /// RTTVAR (RFC 6298 section 2); zero before the first sample, and for a timer that keeps none.
    fn rttvar(&self) -> Span {
        Span::ZERO
    }

    /// Goes on from these estimates ([`Verdict::Retime`]).
    fn retime(&mut self, _srtt: Span, _rttvar: Span) {}

    /// The smallest interval this model allows unless the configuration says otherwise.
    fn min_rto(&self) -> Span;

    /// Whether a retransmission for this cause restarts the timer. RFC 6298 restarts it on new acknowledgments only;
    /// BSD restarts it with the retransmission that begins a recovery, and RFC 6675 section 6 allows it for every one.
    fn restarts_on(&self, _cause: Cause) -> bool {
        false
    }

    /// When a timer set now for `rto` expires.
    fn expiry(&self, s: &State, rto: Span) -> Time {
        s.now + rto
    }
}
