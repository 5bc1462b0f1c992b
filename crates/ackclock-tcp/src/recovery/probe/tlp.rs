//! Tail loss probe: RFC 8985 section 7.
//!
//! - Section 7.3 skips a probe while another one is in flight, and before a new round-trip sample.
//!   Here no probe is scheduled then. In the section it is, and puts the timeout off by an RTO
//!   although nothing is sent.
//! - So section 7.2's PTO of 1 s "when there is no SRTT estimate available" is for a timer that
//!   keeps no SRTT (`bsd-timer`). Before the first sample, section 7.3 forbids the probe.
//! - Section 7.3 sends "a previously unsent data segment, if one exists and the receive window
//!   allows": also one that Nagle's algorithm holds back.
//! - TLP.max_ack_delay is left open; here it is 200 ms (inferred: what most receivers wait at
//!   most).
//! - Section 7.2 waits for a delayed ACK only if one segment is outstanding. Two segments of which
//!   one is not full may wait for a delayed ACK as well (RFC 5681 section 4.2). If it comes later
//!   than 2 SRTT, the probe is spurious.
//! - `tlp-fin` does not wait for a delayed ACK of a segment with a FIN (own). Nothing comes after a
//!   FIN for which a receiver could hold the ACK back. BSD's receivers acknowledge a FIN at once
//!   (Wright & Stevens 1995 chapter 29), Linux's as soon as the application has seen the end of the
//!   stream, and so does this crate's. A receiver that waits draws a spurious probe.
//! - A fast recovery and a timeout reset the probe (section 7.1). The recovery point shows them: it
//!   is then at or above the probe's end.
//! - The probe runs beside the retransmission timer, which starts anew with it; section 8 has one
//!   timer for both.
//! - "TLP requires RACK" (section 4), and RACK requires SACK: without SACK there is no probe.

use super::{Probe, ProbeNow};
use crate::recovery::window::{Window, Windows};
use crate::state::State;
use crate::summary::AckSummary;
use crate::time::{Span, Time};

/// Section 7.2: "when there is no SRTT estimate available, the PTO SHOULD be 1 second".
const PTO_WITHOUT_SRTT: Span = Span::from_secs(1);
/// TLP.max_ack_delay.
const MAX_ACK_DELAY: Span = Span::from_millis(200);

/// The probe that is in flight.
#[derive(Clone, Copy)]
struct InFlight {
    /// TLP.end_seq.
    end_seq: u64,
    /// TLP.is_retrans.
    is_retrans: bool,
}

/// One probe at a time.
#[derive(Default)]
pub struct Tlp {
    probe: Option<InFlight>,
    /// A round trip has been measured, other than that of the handshake.
    measured: bool,
    /// None has been measured since the last probe.
    spent: bool,
    /// No ACK of a FIN is waited for as for one that may be delayed.
    fin_at_once: bool,
}

impl Tlp {
    /// Without TLP.max_ack_delay for a segment with a FIN.
    pub fn fin_at_once() -> Tlp {
        Tlp { fin_at_once: true, ..Tlp::default() }
    }

    /// TLP_process_ack, without the congestion response: whether it is due.
    fn process(&mut self, s: &State, a: &AckSummary) -> bool {
        let Some(probe) = self.probe else { return false };
        if s.recover >= probe.end_seq {
            self.probe = None;
            return false;
        }
        if a.ack < probe.end_seq {
            return false;
        }
        let dsack = a.dsack.is_some_and(|(_, right)| right == probe.end_seq);
        let bare_duplicate = a.unchanged && a.dsack.is_none() && a.sacked_to == 0;
        let beyond = a.ack > probe.end_seq;
        if !probe.is_retrans || dsack || beyond || bare_duplicate {
            self.probe = None;
        }
        // RFC 3168 section 6.1.2: a mark has lowered the windows for this window of data.
        let answered = probe.end_seq <= s.cwr_point;
        probe.is_retrans && !dsack && beyond && !answered
    }
}

impl Probe for Tlp {
    fn skips_plain_acks(&self) -> bool {
        self.probe.is_none() && self.measured && !self.spent
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary, law: &mut dyn Window) -> Option<Windows> {
        self.measured |= a.rtt.is_some();
        self.spent &= a.rtt.is_none();
        // Section 7.4.2: "a congestion control response equivalent to a fast recovery", with
        // nothing left to retransmit. What is halved is what was outstanding when the ACK came.
        self.process(s, a).then(|| {
            let ssthresh = law.on_loss(s, a.flight_size);
            Windows { ssthresh, cwnd: ssthresh }
        })
    }

    fn deadline(&self, s: &State) -> Time {
        let Some(last) = s.board.last() else { return Time::NEVER };
        // Of the round trips since "the start of the connection" the handshake's is the first.
        let measured = (self.measured || s.srtt > Span::ZERO) && !self.spent;
        if !(s.sack && self.probe.is_none() && measured)
            || s.recovering()
            || s.board.sacked_bytes() > 0
        {
            return Time::NEVER;
        }
        let fin = s.fin && last.end() == s.written;
        let may_be_delayed = s.board.len() == 1 && !(fin && self.fin_at_once);
        let pto = if s.srtt == Span::ZERO {
            PTO_WITHOUT_SRTT
        } else {
            s.srtt.times(2) + if may_be_delayed { MAX_ACK_DELAY } else { Span::ZERO }
        };
        s.advanced.max(last.first_sent) + pto
    }

    fn on_deadline(&mut self, s: &State) -> ProbeNow {
        let new = s.unsent_len();
        self.probe = Some(InFlight {
            end_seq: s.snd_max + u64::from(new.unwrap_or(0)),
            is_retrans: new.is_none(),
        });
        self.spent = true;
        ProbeNow::NewOrLast
    }
}
