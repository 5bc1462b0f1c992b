//! What an ACK may release in ns-2.35 (the ends of `recv` in `tcp-reno.cc`, `tcp-newreno.cc` and
//! `tcp-sack1.cc`). The first two duplicates release nothing, also where cwnd has room, but what
//! limited transmit sends.

use alloc::boxed::Box;

use crate::recovery::regulate::Regulate;
use crate::recovery::wraps;
use crate::state::{Phase, State};
use crate::summary::AckSummary;

/// Which agent.
enum Agent {
    Reno,
    NewReno,
    Sack,
}

/// A regulation that releases as much as an agent of ns-2 does.
pub struct Ns2Release {
    inner: Box<dyn Regulate>,
    agent: Agent,
    /// This ACK has begun a recovery.
    enters: bool,
}

impl Ns2Release {
    /// From the third duplicate on as much as the window has room for.
    pub fn reno(inner: Box<dyn Regulate>) -> Ns2Release {
        Ns2Release { inner, agent: Agent::Reno, enters: false }
    }

    /// From the third duplicate on, and for each partial ACK, at most two segments beside the
    /// retransmission (`send_much(0, 0, 2)`).
    pub fn new_reno(inner: Box<dyn Regulate>) -> Ns2Release {
        Ns2Release { agent: Agent::NewReno, ..Ns2Release::reno(inner) }
    }

    /// Nothing but the retransmission on the third duplicate, and nothing on any duplicate that
    /// begins no recovery. After a timeout duplicates are not counted until an ACK advances.
    pub fn sack(inner: Box<dyn Regulate>) -> Ns2Release {
        Ns2Release { agent: Agent::Sack, ..Ns2Release::reno(inner) }
    }
}

impl Regulate for Ns2Release {
    wraps!(self.inner: Regulate; in_flight, on_ack, on_exit);

    fn on_enter(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.enters = true;
        self.inner.on_enter(s, a)
    }

    fn limits(&self) -> bool {
        true
    }

    fn most(&mut self, s: &State, a: &AckSummary) -> u32 {
        let recovering = s.phase == Phase::Recovery;
        // Nothing outstanding draws no further ACK, on which what is held back could go.
        let unhindered = !recovering && (a.newly_acked > 0 || s.dupacks == 0) || s.board.is_empty();
        // The duplicate by which F-RTO finds a timeout needed is not counted (`recv_frto_helper` in
        // `tcp.cc`); only then does a slow start begin anew on an ACK.
        let unhindered = unhindered || (s.phase == Phase::Loss && s.snd_nxt == s.snd_una);
        let enters = core::mem::take(&mut self.enters);
        let timed_out = s.timed_out == Some(s.snd_una);
        match self.agent {
            _ if unhindered => u32::MAX,
            Agent::Reno if s.dupacks >= s.dupthresh || recovering => u32::MAX,
            Agent::NewReno if s.dupacks >= s.dupthresh || recovering => 2,
            Agent::Sack if (recovering && !enters) || timed_out => u32::MAX,
            _ => 0,
        }
    }
}
