//! Which ways this sender has, by what only a sender with one of them does: a part for each.
//!
//! Only a capture at the sender shows what it did *not* send. So elsewhere the parts say nothing.

mod detection;
mod f_rto;
mod initial_window;
mod reductions;
mod restart;
mod timer;

use ackclock_tcp::{Span, Time};

use self::detection::Detection;
pub(crate) use self::detection::Sign;
use self::f_rto::FRto;
use self::initial_window::InitialWindow;
use self::reductions::Measured;
use self::restart::Restart;
use self::timer::Expiries;
use super::recovery::LossRecovery;
use super::stream::Stream;
use crate::connection::Kind;
use crate::ways::{Evidence, Ways};

/// Segments of the initial window where it is not known, at the most. RFC 6928 section 2 allows
/// fewer where they are longer than 1,460 bytes; Linux sends as many of any length
/// (`TCP_INIT_CWND`).
const INITIAL_WINDOW: u32 = 10;

/// The parts, each of which owns its fields.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    initial: InitialWindow,
    /// From the first pause on.
    restart: Option<Box<Restart>>,
    /// From the first retransmission on.
    losses: Option<Box<Losses>>,
}

/// What only losses show.
#[derive(Debug, Default)]
struct Losses {
    detection: Detection,
    f_rto: FRto,
    reductions: Measured,
    expiries: Expiries,
}

impl Watch {
    /// Whether new data and ACKs may tell something.
    #[inline]
    pub fn is_on(&self) -> bool {
        let open = |losses: &Losses| losses.f_rto.is_open() || losses.reductions.is_open();
        self.initial.is_open()
            || self.restart.as_ref().is_some_and(|restart| restart.is_open())
            || self.losses.as_deref().is_some_and(open)
    }

    /// New data has gone out.
    #[cold]
    pub fn new_data(&mut self, at: Time, stream: &Stream) {
        if stream.terms.at_sender() {
            let on_ack = stream.moments.on_ack(at);
            self.initial.new_data(on_ack);
            if let Some(restart) = &mut self.restart {
                let segments = self.initial.found().unwrap_or(INITIAL_WINDOW);
                restart.new_data(on_ack, u64::from(segments) * u64::from(stream.terms.mss));
            }
            if let Some(losses) = &mut self.losses {
                losses.f_rto.new_data(on_ack);
                losses.reductions.new_data(on_ack, stream);
            }
        }
    }

    /// Data goes out from this position on, after a pause with nothing outstanding that was longer
    /// than a retransmission timeout.
    #[cold]
    pub fn resumes(&mut self, position: u64, stream: &Stream) {
        if stream.terms.at_sender() {
            self.restart.get_or_insert_default().resumes(position, stream);
        }
    }

    /// A SYN or SYN/ACK goes out once more: that lowers the initial window to one segment (RFC 5681
    /// section 3.1).
    pub fn syn_retransmitted(&mut self) {
        self.initial.over();
    }

    /// New data goes out after silence: it may be a probe, or the application's next.
    pub fn after_silence(&mut self) {
        self.initial.over();
    }

    /// An ACK comes, for all below `ack`; `sacks` if it has SACK blocks. It is not yet taken in.
    #[cold]
    pub fn before_ack(&mut self, at: Time, ack: u64, sacks: bool, stream: &Stream) {
        if stream.terms.at_sender() {
            self.initial.acked(ack, sacks, stream);
            if let Some(restart) = &mut self.restart {
                restart.acked(ack, stream);
            }
            if let Some(losses) = &mut self.losses {
                losses.f_rto.next_ack();
                losses.reductions.next_ack(at, stream);
            }
        }
    }

    /// An ACK has advanced; `recovering`: in a recovery before it.
    pub fn advanced(
        &mut self,
        at: Time,
        recovering: bool,
        stream: &Stream,
        recovery: &LossRecovery,
    ) {
        let Some(losses) = &mut self.losses else { return };
        let complete = recovery.phases.is_complete(stream.outstanding.una());
        if recovering && recovery.phases.is_open() {
            losses.reductions.recovered(at, complete, stream);
        }
        let original = recovery.phases.reports_original();
        losses.f_rto.advanced(recovery.phases.is_loss() && !complete, original, stream);
    }

    /// Old data goes out, for this reason; `sign` is what spoke for a loss before. The state
    /// follows.
    pub fn retransmitted(&mut self, at: Time, kind: Kind, sign: &Sign, stream: &Stream) {
        self.initial.over();
        if !stream.terms.at_sender() {
            return;
        }
        if let Some(restart) = &mut self.restart {
            restart.over();
        }
        let losses = self.losses.get_or_insert_default();
        losses.detection.retransmitted(kind, sign, stream);
        losses.reductions.retransmitted(kind, stream);
        match kind {
            Kind::Timeout => losses.f_rto.timed_out(sign.open),
            Kind::SlowStart => losses.f_rto.goes_back(stream.moments.on_ack(at)),
            _ => losses.f_rto.over(),
        }
    }

    /// The timer expired for the first time, `waited` after the last progress, and nothing else
    /// can have sent the segment.
    pub fn expired(&mut self, waited: Span, stream: &Stream) {
        if stream.terms.at_sender() {
            self.losses.get_or_insert_default().expiries.add(waited, &stream.timers);
        }
    }

    /// At the end.
    pub fn into_ways(self, probes: Evidence) -> Ways {
        let losses = self.losses.unwrap_or_default();
        Ways {
            probes,
            rack: losses.detection.found(),
            f_rto: losses.f_rto.found(),
            least_rto: losses.expiries.found(),
            initial_window: self.initial.found(),
            reductions: losses.reductions.found(),
            restart: self.restart.map(|restart| restart.found()).unwrap_or_default(),
        }
    }
}
