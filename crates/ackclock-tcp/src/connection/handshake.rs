//! Opening: RFC 9293 sections 3.5 and 3.10.7.3, and the options that only SYNs carry.

use super::{CloseReason, Connection, Placement, TcpState, text};
use crate::receiver::{Receiver, ReceiverConfig};
use crate::segment::Timestamps;
use crate::sender::SenderConfig;
use crate::seq::Seq;
use crate::time::{Span, Time};
use crate::wire::{Control, DEFAULT_MSS, LEAST_MSS, Options, Repr, TIMESTAMPS_LEN};

/// What the timeout of data begins with after that of a SYN expired, if the handshake has measured
/// no round trip (RFC 6298 section 5.7).
pub const RTO_AFTER_LOSS: Span = Span::from_secs(3);
/// Least time between two answers to the same SYN, as in Linux (`tcp_oow_rate_limited`, called by
/// `tcp_check_req`).
const REPEATED: Span = Span::from_millis(500);

/// Our SYN or SYN/ACK and what becomes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handshake {
    /// The connection came from a listener.
    pub passive: bool,
    /// A SYN or SYN/ACK has to go out.
    pub due: bool,
    /// When it has to go out again.
    pub at: Time,
    /// How often the timer has expired.
    pub expiries: u32,
    /// How often of these as a SYN/ACK.
    pub answering: u32,
    /// The sum of its intervals.
    pub waited: Span,
    /// How often it was lost, as far as can be told: the timer expired, or the peer sent its SYN
    /// again.
    pub losses: u32,
    /// When the peer's SYN was last answered again.
    repeated: Option<Time>,
    /// When it was first sent.
    first: Option<Time>,
    /// When it was sent, if an ACK can only answer that (Karn's rule, RFC 6298 section 3).
    sent: Option<Time>,
}

impl Handshake {
    pub fn new(state: TcpState) -> Handshake {
        let passive = state == TcpState::SynReceived;
        Handshake {
            passive,
            due: true,
            at: Time::NEVER,
            expiries: 0,
            answering: 0,
            waited: Span::ZERO,
            losses: 0,
            repeated: None,
            first: None,
            sent: None,
        }
    }

    /// The peer has sent its SYN again: our SYN/ACK was lost, or is late. Copies that come within a
    /// moment are one, and draw one answer.
    pub fn on_repeated_syn(&mut self, now: Time) {
        if self.repeated.is_none_or(|at| now.since(at) >= REPEATED) {
            self.repeated = Some(now);
            self.due = true;
            self.losses += 1;
        }
    }

    /// The SYN or SYN/ACK is sent now, and waits for so long, until `expiry`.
    pub fn on_transmit(&mut self, now: Time, rto: Span, expiry: Time) {
        self.sent = (self.at == Time::NEVER).then_some(now);
        self.first.get_or_insert(now);
        self.due = false;
        // What the peer draws does not restart the timer.
        if self.at == Time::NEVER || self.at <= now {
            self.at = expiry;
            self.waited = self.waited + rto;
        }
    }

    /// The timestamp that came back is that of the first one, which was not lost
    /// (`tcp_try_undo_spurious_syn`). Its answer may have been: a peer echoes the first one also
    /// later.
    fn is_spurious(&self, echo: Option<u32>) -> bool {
        echo.is_some() && echo == self.first.map(Time::timestamp)
    }

    /// The round trip that the ACK of it has measured. If it was sent more than once, the timestamp
    /// that came back tells which of them was answered (RFC 6298 section 3), in milliseconds, of
    /// which it is one at least.
    fn round_trip(&self, now: Time, echo: Option<u32>) -> Option<Span> {
        if let Some(sent) = self.sent {
            return Some(now.since(sent));
        }
        let ticks = Timestamps::ticks_since(echo?, now.timestamp()).max(1);
        let rtt = Span::from_millis(ticks.into());
        (now.since(self.first?) + Span::from_millis(1) > rtt).then_some(rtt)
    }
}

/// What both sides can do, and the peer's numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Negotiated {
    /// Sequence number of the peer's SYN.
    pub irs: Seq,
    mss: u16,
    /// Our window scale shift and the peer's, if both offered one (RFC 7323 section 2.2).
    shifts: Option<(u8, u8)>,
    pub sack: bool,
    pub timestamps: bool,
    pub ecn: bool,
}

impl Default for Negotiated {
    fn default() -> Negotiated {
        Negotiated {
            irs: Seq(0),
            mss: DEFAULT_MSS,
            shifts: None,
            sack: false,
            timestamps: false,
            ecn: false,
        }
    }
}

impl Negotiated {
    pub fn our_shift(&self) -> u8 {
        self.shifts.map_or(0, |(ours, _)| ours)
    }

    pub fn their_shift(&self) -> u8 {
        self.shifts.map_or(0, |(_, theirs)| theirs)
    }

    /// RFC 9293 section 3.7.1 and RFC 6691: options come off what path and peer take.
    pub fn smss(&self, path_mss: u16) -> u32 {
        u32::from(self.mss.min(path_mss).max(LEAST_MSS)) - self.option_len()
    }

    fn option_len(&self) -> u32 {
        if self.timestamps { TIMESTAMPS_LEN.into() } else { 0 }
    }
}

const ECN_SETUP: Control = Control::ECE.with(Control::CWR);

/// An ECN-setup SYN (RFC 3168 section 6.1.1).
pub(super) fn offers_ecn(syn: &Repr) -> bool {
    syn.control.contains(ECN_SETUP)
}

/// An ECN-setup SYN-ACK: ECE without CWR. One with both comes from a peer that reflects what it
/// does not understand.
fn accepts_ecn(syn_ack: &Repr) -> bool {
    syn_ack.control.contains(Control::ECE) && !syn_ack.control.contains(Control::CWR)
}

/// The peer's SYN tells its number and what it offers. `ecn`: it offers or accepts ECN.
pub(super) fn learn(c: &mut Connection, irs: Seq, offered: &Options, ecn: bool) {
    c.negotiated = Negotiated {
        irs,
        mss: offered.mss.unwrap_or(DEFAULT_MSS),
        shifts: c
            .config
            .wscale
            .zip(offered.wscale)
            .map(|(ours, theirs)| (ours.min(14), theirs.min(14))),
        sack: c.config.sack && offered.sack_permitted,
        timestamps: c.config.timestamps && offered.timestamps.is_some(),
        // After a SYN without ECN there is none (tcp_ecn_clear_syn).
        ecn: c.config.ecn && ecn && (c.handshake.passive || c.handshake.expiries == 0),
    };
    c.receiver = Receiver::new(ReceiverConfig {
        isn: irs + 1,
        local_seq: c.isn(),
        // What the peer's full segments hold, so that the second one is acknowledged at once.
        mss: u32::from(c.config.local_mss.max(LEAST_MSS)) - c.negotiated.option_len(),
        sack: c.negotiated.sack,
        timestamps: c.negotiated.timestamps,
        ecn: c.negotiated.ecn,
        wscale: c.negotiated.our_shift(),
        auto_read: false,
        ..c.config.receiver.clone()
    });
    c.receiver.set_ts_recent(offered.timestamps.map(|t| t.val));
}

/// The handshake is over: the sender begins, with what was written meanwhile. `wnd` is the window
/// field of the segment that completed it, `shift` its scale, `echo` the timestamp that it echoed.
pub(super) fn complete(c: &mut Connection, now: Time, wnd: u16, shift: u8, echo: Option<u32>) {
    let echo = echo.filter(|_| c.negotiated.timestamps);
    let handshake_rtt = c.handshake.round_trip(now, echo);
    let unmeasured = c.handshake.expiries > 0 && handshake_rtt.is_none();
    if let Some(rtt) = handshake_rtt {
        c.receiver.on_handshake(rtt);
    }
    c.sender.configure(SenderConfig {
        isn: c.isn(),
        remote_seq: c.negotiated.irs + 1,
        mss: c.smss(),
        initial_rwnd: u64::from(wnd) << shift,
        wscale: c.negotiated.their_shift(),
        sack: c.negotiated.sack,
        timestamps: c.negotiated.timestamps,
        ecn: c.negotiated.ecn,
        handshake_rtt,
        handshake_end: now,
        syn_retransmissions: c.handshake.losses,
        syn_spurious: c.handshake.is_spurious(echo),
        initial_rto: if unmeasured { Some(RTO_AFTER_LOSS) } else { c.config.sender.initial_rto },
        ..c.config.sender.clone()
    });
    c.state = TcpState::Established;
    c.handshake.due = false;
    c.handshake.at = Time::NEVER;
    c.heard = now;
    if c.written > 0 {
        c.send(now, c.written);
    }
    if c.shut {
        c.send_fin(now);
    }
}

/// Our SYN, or SYN/ACK once the peer's SYN is known.
pub(super) fn syn(c: &mut Connection, now: Time) -> Repr {
    let answers = c.state == TcpState::SynReceived;
    let rto = c.sender.syn_rto(c.handshake.expiries, c.handshake.answering);
    c.handshake.on_transmit(now, rto, c.sender.syn_expiry(now, rto));
    let (sack, timestamps) = if answers {
        (c.negotiated.sack, c.negotiated.timestamps)
    } else {
        (c.config.sack, c.config.timestamps)
    };
    let wscale = if answers {
        c.negotiated.shifts.map(|(ours, _)| ours)
    } else {
        c.config.wscale.map(|s| s.min(14))
    };
    // RFC 3168 section 6.1.1.1: what loses a SYN may be its ECN bits.
    let ecn = match (answers, c.handshake.expiries) {
        (true, _) if c.negotiated.ecn => Control::ECE,
        (false, 0) if c.config.ecn => ECN_SETUP,
        _ => Control::default(),
    };
    let ecr = c.receiver.ts_recent().filter(|_| answers).unwrap_or(0);
    Repr {
        seq: c.config.iss,
        ack: if answers { c.negotiated.irs + 1 } else { Seq(0) },
        control: if answers { Control::SYN.with(Control::ACK) } else { Control::SYN }.with(ecn),
        // RFC 7323 section 2.2: the window of a SYN is never scaled.
        wnd: c.config.receiver.buffer.min(u64::from(u16::MAX)) as u16,
        options: Options {
            mss: Some(c.config.local_mss),
            wscale,
            sack_permitted: sack,
            timestamps: timestamps.then(|| Timestamps { val: now.timestamp(), ecr }),
            ..Options::default()
        },
        ..Repr::default()
    }
}

/// SYN-SENT (RFC 9293 section 3.10.7.3).
pub(super) fn on_segment(
    c: &mut Connection,
    now: Time,
    header: &Repr,
    len: u32,
) -> Option<Placement> {
    let has = |control| header.control.contains(control);
    let acked = has(Control::ACK);
    // First: SEG.ACK =< ISS or SEG.ACK > SND.NXT.
    if acked && (header.ack != c.isn() || c.handshake.at == Time::NEVER) {
        if !has(Control::RST) {
            c.answer_with_reset(header.ack, header.options.timestamps);
        }
        return None;
    }
    // Second.
    if has(Control::RST) {
        if acked {
            c.end(Some(CloseReason::Refused));
        }
        return None;
    }
    // Fourth and fifth.
    if !has(Control::SYN) {
        return None;
    }
    let ecn = if acked { accepts_ecn(header) } else { offers_ecn(header) };
    learn(c, header.seq, &header.options, ecn);
    if !acked {
        // Simultaneous open. Which of our two segments the peer acknowledges cannot be told.
        c.state = TcpState::SynReceived;
        c.handshake.due = true;
        return None;
    }
    complete(c, now, header.wnd, 0, header.options.timestamps.map(|t| t.ecr));
    c.receiver.ack_now();
    let mut segment = header.segment(len);
    segment.seq = segment.seq + 1;
    text::on_text(c, now, segment)
}
