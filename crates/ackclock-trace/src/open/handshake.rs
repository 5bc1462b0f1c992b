//! What the SYNs say: the options of both ends, what both have agreed on, and whether a SYN opens
//! another connection.

use ackclock_tcp::wire::{Control, LEAST_MSS, Options, TIMESTAMPS_LEN};
use ackclock_tcp::{Seq, Span, Time, Timestamps};
use thin_vec::ThinVec;

use crate::packet::Packet;
use crate::standards::FIRST_RTO;

/// Times of SYNs and their answers are known to this.
const ANSWER: Span = Span::from_millis(1);

/// Both ends: 0, the client, and 1, the server.
#[derive(Default)]
pub(super) struct Handshake {
    ends: [Syns; 2],
}

/// The SYNs of one end.
#[derive(Default)]
pub(super) struct Syns {
    isn: Option<Seq>,
    offered: Option<Offered>,
    /// Options of its SYN were cut off by the snap length.
    cut: bool,
    first: Option<Syn>,
    /// The first SYN, retransmitted.
    again: ThinVec<Syn>,
    /// The last one was a SYN/ACK.
    answers: bool,
    /// Shift of the windows that this end offers; `None` if that is not known.
    shift: Option<u8>,
}

/// The options of a SYN: all but SACK blocks, which none has.
#[derive(Clone, Copy, Debug)]
struct Offered {
    mss: Option<u16>,
    wscale: Option<u8>,
    sack_permitted: bool,
    timestamps: Option<Timestamps>,
}

impl From<Options> for Offered {
    fn from(options: Options) -> Offered {
        let Options { mss, wscale, sack_permitted, timestamps, sack: _ } = options;
        Offered { mss, wscale, sack_permitted, timestamps }
    }
}

impl From<Offered> for Options {
    fn from(offered: Offered) -> Options {
        let Offered { mss, wscale, sack_permitted, timestamps } = offered;
        Options { mss, wscale, sack_permitted, timestamps, ..Options::default() }
    }
}

/// A SYN or SYN/ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Syn {
    pub frame: u64,
    pub at: Time,
    /// It goes again because of what came: a SYN/ACK because the SYN came again, a SYN because the
    /// one before was answered, though not by a SYN.
    pub answer: bool,
    /// One with another number has answered the same: each has answered a SYN of its own, since
    /// one that goes again has the number that it had.
    pub other: bool,
    /// Time to live or hop limit.
    pub ttl: u8,
    /// Timestamps (TSval) of the first one and of this one.
    pub stamps: Option<[u32; 2]>,
}

/// What a SYN is.
pub(super) enum Seen {
    /// The first one of its end, or one with another number.
    New,
    /// The same again.
    Again(Syn),
    /// A SYN/ACK after a SYN with the same number (RFC 9293 section 3.5, figure 8), or the other
    /// way round.
    Other,
}

impl Handshake {
    /// What was agreed on, for the rest of a connection: its SYNs are not in that.
    pub fn rest(&self) -> Handshake {
        let ends = self.ends.each_ref().map(|syns| {
            let Syns { offered, cut, shift, .. } = *syns;
            Syns { offered, cut, shift, ..Syns::default() }
        });
        Handshake { ends }
    }

    /// Whether this SYN or SYN/ACK of `end` has the timestamp of one that was seen, or an older
    /// one.
    pub fn has_seen(&self, end: usize, p: &Packet) -> bool {
        let syns = &self.ends[end];
        let last = syns.again.last().or(syns.first.as_ref()).and_then(|syn| syn.stamps);
        let stamps = last.zip(p.options.timestamps).filter(|_| syns.isn == Some(p.seq));
        stamps.is_some_and(|([_, last], now)| !Timestamps::is_older(last, now.val))
    }

    /// A SYN/ACK of `end` goes again and echoes what came after all SYNs of the other end: the ACK
    /// of the handshake, which has arrived. With TCP_DEFER_ACCEPT, or while its accept queue is
    /// full, Linux takes no ACK without data (`tcp_check_req`), and sends its SYN/ACK again.
    pub fn defers(&self, end: usize, p: &Packet) -> bool {
        let (syns, other) = (&self.ends[end], &self.ends[1 - end]);
        let last = other.again.last().or(other.first.as_ref()).and_then(|syn| syn.stamps);
        let echo = p.options.timestamps.map(|timestamps| timestamps.ecr);
        let later = last.zip(echo).is_some_and(|([_, syn], echo)| Timestamps::is_older(syn, echo));
        syns.answers && syns.isn == Some(p.seq) && later
    }

    /// A SYN or SYN/ACK of `end`. `answered`: the SYN before it was, though not by a SYN.
    pub fn syn(&mut self, end: usize, p: &Packet, at: Time, answered: bool) -> Seen {
        let answers = p.control.contains(Control::ACK);
        let asked = if answers { self.answers_again(end, at) } else { answered };
        let other = self.is_other_answer(end, p) || self.has_other_answer(end);
        let syns = &mut self.ends[end];
        let same_sort = std::mem::replace(&mut syns.answers, answers) == answers;
        let stamp = p.options.timestamps.map(|timestamps| timestamps.val);
        let stamps = stamp.map(|stamp| [stamp; 2]);
        let mut syn = Syn { frame: p.frame, at, answer: asked, other, ttl: p.ttl, stamps };
        if syns.isn != Some(p.seq) {
            // Another number is possible as long as nothing else was sent: SYN cookies, or a client
            // that tries again.
            syns.isn = Some(p.seq);
            syns.offered = Some(p.options.into());
            syns.cut = p.options_cut;
            (syns.first, syns.again) = (Some(Syn { answer: false, ..syn }), Default::default());
            Seen::New
        } else if same_sort {
            let first = syns.first.and_then(|first| first.stamps);
            syn.stamps = first.zip(stamp).map(|([first, _], stamp)| [first, stamp]);
            syns.again.push(syn);
            Seen::Again(syn)
        } else {
            Seen::Other
        }
    }

    /// Whether this is a SYN/ACK that answers the same SYN as one of another number has. That of a
    /// proxy has come another way.
    fn is_other_answer(&self, end: usize, p: &Packet) -> bool {
        let [syns, other] = [&self.ends[end], &self.ends[1 - end]];
        p.control.contains(Control::ACK)
            && syns.answers
            && syns.first.is_some_and(|first| first.ttl == p.ttl)
            && syns.isn.is_some_and(|isn| isn != p.seq)
            && other.isn.is_some_and(|isn| isn + 1 == p.ack)
    }

    /// A SYN or SYN/ACK of `end` does not belong here.
    pub fn stray(&mut self, end: usize, p: &Packet) {
        if self.is_other_answer(end, p)
            && let Some(first) = &mut self.ends[end].first
        {
            first.other = true;
        }
    }

    /// Two SYN/ACKs of `end` had numbers of their own, and answered the same SYN: that came twice.
    pub fn has_other_answer(&self, end: usize) -> bool {
        self.ends[end].first.is_some_and(|syn| syn.other)
    }

    /// Whether a SYN/ACK of `end` that goes now answers a SYN that came again: at once; away from
    /// the server, after as long as the first one took; or before the timer of the SYN/ACK expires
    /// (RFC 6298 section 2.1).
    fn answers_again(&self, end: usize, at: Time) -> bool {
        let (syns, other) = (&self.ends[end], &self.ends[1 - end]);
        let Some(asked) = other.again.last().map(|syn| syn.at) else { return false };
        let first = other.first.zip(syns.first).filter(|_| syns.answers);
        let trip = first.and_then(|(syn, answer)| {
            (answer.at < other.again.first()?.at).then(|| answer.at.since(syn.at))
        });
        let since = at.since(asked);
        let is_prompt = since <= ANSWER;
        let in_turn = trip.is_some_and(|trip| since.0.abs_diff(trip.0) <= ANSWER.0);
        // An answer does not set the timer anew.
        let by_timer = syns.again.iter().rfind(|syn| !syn.answer).or(syns.first.as_ref());
        let last = by_timer.filter(|_| syns.answers);
        is_prompt || in_turn || last.is_some_and(|last| at.since(last.at) + ANSWER < FIRST_RTO)
    }

    /// The number of the client's SYN, as long as none of the server has come.
    #[inline]
    pub fn asks(&self) -> Option<Seq> {
        self.ends[0].isn.filter(|_| self.ends[1].isn.is_none())
    }

    /// The windows that both ends offer are scaled if both have asked for it (RFC 7323 section
    /// 2.2).
    pub fn agree_on_scales(&mut self) {
        let shifts = match self.said(|options| options.wscale) {
            [Some(None), _] | [_, Some(None)] => [0, 0],
            [Some(Some(client)), Some(Some(server))] => [client, server],
            _ => return,
        };
        self.ends[0].shift = Some(shifts[0]);
        self.ends[1].shift = Some(shifts[1]);
    }

    /// A SYN of `end` has another number than the one that opened the connection.
    pub fn is_new(&self, end: usize, seq: Seq) -> bool {
        self.ends[end].isn != Some(seq)
    }

    /// Whether a SYN of `end` opens another connection. `over`: this one is. `data`: either end has
    /// sent some.
    pub fn opens_another(&self, end: usize, p: &Packet, over: bool, data: bool) -> bool {
        let (syns, other) = (&self.ends[end], &self.ends[1 - end]);
        if syns.isn == Some(p.seq) {
            return false;
        }
        if p.control.contains(Control::ACK) {
            // The answer to a SYN that is missing, if it does not fit the one that was seen.
            let answers_other = other.isn.is_some_and(|isn| isn + 1 != p.ack);
            over || (answers_other && syns.isn.is_some())
        } else {
            // The first SYN of this end in a simultaneous opening does not open another connection.
            over || (syns.isn.is_some() && !data && other.isn.is_none())
        }
    }

    /// The SYNs of `end` in order: the first one, and those retransmitted.
    pub fn syns(&self, end: usize) -> impl Iterator<Item = &Syn> {
        self.ends[end].first.iter().chain(&self.ends[end].again)
    }

    /// The sequence number of the last SYN of `end` that belongs here.
    pub fn isn(&self, end: usize) -> Option<Seq> {
        self.ends[end].isn
    }

    pub fn has_both_syns(&self) -> bool {
        self.ends.iter().all(|syns| syns.offered.is_some())
    }

    /// Both SYNs were seen, with all their options.
    pub fn is_complete(&self) -> bool {
        self.has_both_syns() && !self.is_cut()
    }

    /// Options of a SYN were cut off by the snap length.
    pub fn is_cut(&self) -> bool {
        self.ends.iter().any(|syns| syns.cut)
    }

    /// Options of the SYN of `end`; `None` if not all of them are known.
    pub fn options(&self, end: usize) -> Option<Options> {
        self.ends[end].offered.filter(|_| !self.ends[end].cut).map(Options::from)
    }

    /// Shift of the windows that `end` offers; `None` if that is not known.
    #[inline]
    pub fn shift(&self, end: usize) -> Option<u8> {
        self.ends[end].shift
    }

    /// What the SYN of each end says of an option. `None` if that is not known: there was no SYN,
    /// or the option may have been cut off.
    fn said<T>(&self, option: impl Fn(&Offered) -> Option<T>) -> [Option<Option<T>>; 2] {
        self.ends.each_ref().map(|syns| {
            let said = option(syns.offered.as_ref()?);
            (said.is_some() || !syns.cut).then_some(said)
        })
    }

    /// Whether SACK was agreed on; `None` if that is not known.
    pub fn sack(&self) -> Option<bool> {
        agreed(self.said(|options| options.sack_permitted.then_some(())))
    }

    /// Whether timestamps were agreed on; `None` if that is not known.
    pub fn timestamps(&self) -> Option<bool> {
        agreed(self.said(|options| options.timestamps))
    }

    /// SMSS: the least of both MSS options, less the timestamps. Where a SYN has none it is
    /// `default` (RFC 9293 section 3.7.1). Where SYNs or their options are missing, what was
    /// `learned` from sizes counts as well.
    pub fn mss(&self, default: u16, timestamps: bool, learned: Option<u32>) -> u32 {
        let options = if timestamps { TIMESTAMPS_LEN.into() } else { 0 };
        let said = self.said(|options| options.mss).into_iter().flatten();
        let offered = said.map(|mss| u32::from(mss.unwrap_or(default))).min();
        let offered = offered.map(|mss| mss.max(LEAST_MSS.into()) - options);
        match (offered, learned) {
            (Some(offered), Some(learned)) if !self.is_complete() => offered.min(learned),
            (Some(offered), _) => offered,
            (None, Some(learned)) => learned,
            (None, None) => 1460 - options,
        }
    }
}

/// An option holds if both ends offer it; without one is enough to rule it out.
fn agreed<T>(said: [Option<Option<T>>; 2]) -> Option<bool> {
    match said {
        [Some(Some(_)), Some(Some(_))] => Some(true),
        [Some(None), _] | [_, Some(None)] => Some(false),
        _ => None,
    }
}
