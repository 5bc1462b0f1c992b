//! One vector through a [`Sender`], open loop: its ACKs and writes go in at their times, whatever
//! the sender does.
//!
//! **Timers.** A kernel's timers expire at ticks, and late: `mod_timer` rounds up to the next tick,
//! and a wheel with coarser levels keeps what is further away (`kernel/time/timer.c`). What a
//! driver owes a deadline is to call "at that time, or as soon after it as possible". So this
//! driver has the clock of the kernel that was recorded: it calls when that kernel's timer was seen
//! to expire, if this is not more than [`Clock::early`] before the deadline and not more than
//! [`Clock::late`] after it. Otherwise it calls at the deadline. A deadline after which the next
//! input comes within [`Clock::late`] may still be pending in the kernel, so the input goes first.
//! So a timer that is right to two jiffies makes no difference. One that is wrong makes one only if
//! other segments leave before the next input; [`Answer::met`] counts the ones that are right.

use std::collections::HashMap;

use ackclock_tcp::connection::RTO_AFTER_LOSS;
use ackclock_tcp::{
    Cause, Composition, Ecn, Phase, SackBlock, SackBlocks, Segment, Sender, SenderConfig, Seq,
    Span, Time, Timestamps,
};

use crate::vector::{Ack, Header, Sent, Step, Vector, What};

/// Calls of one deadline after another without an input between: a sender that wants more of them
/// than backed-off timeouts fit into the longest pause is stuck.
const MOST_CALLS: usize = 1000;

/// How far apart the segments of a write are taken to leave: it takes the kernel some microseconds
/// for each, which nobody has seen. That they differ at all is what counts.
const APART: Span = Span::from_micros(1);

/// What an input was answered with.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The segments that left before the next input.
    pub sent: Vec<Left>,
    /// cwnd in segments, before any timer.
    pub cwnd: u64,
    /// ssthresh in segments, before any timer; `None` while unset.
    pub ssthresh: Option<u64>,
    /// The phase before any timer.
    pub phase: Phase,
    /// After this input so many expiries of the kernel's timers sent something.
    pub expiries: u32,
    /// At so many of those the sender sent something, too.
    pub met: u32,
}

/// A segment that the sender sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// The segment.
    pub sent: Sent,
    /// Why.
    pub cause: Cause,
    /// When, in microseconds, if a timer sent it.
    pub timer: Option<u64>,
}

/// How exact a kernel's timers are.
#[derive(Clone, Copy, Debug)]
struct Clock {
    jiffy: u64,
}

impl Clock {
    fn of(header: &Header) -> Clock {
        Clock { jiffy: 1_000_000_000 / u64::from(header.hz.max(1)) }
    }

    /// How much before the deadline the kernel may be: two jiffies.
    fn early(self) -> Span {
        Span(2 * self.jiffy)
    }

    /// How much after the deadline a timer that was set `ahead` of it may expire: two jiffies, and
    /// what the level of the wheel adds. The first level has 63 ticks, each further one 8 times as
    /// many, in steps that are 8 times as long.
    fn late(self, ahead: Span) -> Span {
        let ticks = ahead.0 / self.jiffy;
        let (mut reach, mut step) = (63, 1);
        while ticks >= reach && step < 1 << 24 {
            (reach, step) = (reach * 8, step * 8);
        }
        Span(self.jiffy * (2 + if step > 1 { step } else { 0 }))
    }
}

/// Replays a vector and returns an answer for each input, in their order.
pub fn replay(vector: &Vector, composition: &Composition) -> Vec<Answer> {
    let sender = Sender::new(config(&vector.header), composition.build());
    let mut driver = Driver {
        sender,
        header: &vector.header,
        clock: Clock::of(&vector.header),
        mss: vector.header.mss,
        now: Time::ZERO,
        due: Time::NEVER,
        set_at: Time::ZERO,
        begun: HashMap::new(),
    };
    // What came after the last step is not known.
    let end = vector.steps.last().map_or(Time::ZERO, |step| micros(step.at));
    let mut answers = Vec::new();
    let mut rest = &vector.steps[..];
    while let Some((input, after)) = rest.split_first() {
        let timers = after.iter().take_while(|s| s.what == What::Timer).count();
        let (timers, next) = after.split_at(timers);
        rest = next;
        let until = next.first().map_or(end, |step| micros(step.at));
        answers.push(driver.answer(input, timers, until));
    }
    answers
}

fn micros(at: u64) -> Time {
    Time(at * 1000)
}

/// The sender that the header describes.
fn config(h: &Header) -> SenderConfig {
    let own = |name| h.settings.get(name).and_then(|value| u64::try_from(*value).ok());
    SenderConfig {
        mss: h.mss,
        // What lost SYNs leave is no initial window (`tcp_init_transfer`).
        initial_window: (h.syn_retransmissions < 2 || h.syn_spurious).then_some(h.initial_window),
        syn_retransmissions: h.syn_retransmissions,
        syn_spurious: h.syn_spurious,
        initial_rwnd: h.window,
        wscale: h.window_scale,
        sack: h.sack,
        ecn: h.ecn,
        timestamps: h.timestamps,
        nagle: h.nagle,
        handshake_rtt: h.round_trip.map(Span::from_micros),
        initial_rto: h.round_trip.is_none().then_some(RTO_AFTER_LOSS),
        idle_restart: h.setting("tcp_slow_start_after_idle", 1) != 0,
        min_rto: own("tcp_rto_min_us").map(Span::from_micros),
        max_rto: own("tcp_rto_max_ms").map(Span::from_millis),
        ..SenderConfig::default()
    }
}

struct Driver<'a> {
    sender: Sender,
    header: &'a Header,
    clock: Clock,
    /// What the path has room for.
    mss: u32,
    /// The time of the last call.
    now: Time,
    /// The next deadline, and when it was set.
    due: Time,
    set_at: Time,
    /// How often a segment began at each position, which is what a vector counts: one that is cut
    /// or joined with another on its way counts by where it begins.
    begun: HashMap<u64, u32>,
}

impl Driver<'_> {
    fn answer(&mut self, input: &Step, timers: &[Step], until: Time) -> Answer {
        self.now = self.now.max(micros(input.at));
        match &input.what {
            What::Write(bytes) => self.sender.write(self.now, *bytes),
            What::Close => {
                self.sender.write(self.now, 1);
                self.sender.close_with_fin(self.now);
            }
            // ICMP that lowers nothing says nothing (`tcp_v4_mtu_reduced`).
            What::Mss(mss) if *mss >= self.mss => {}
            What::Mss(mss) => {
                self.mss = *mss;
                self.sender.set_mss(self.now, *mss);
            }
            What::Ack(ack) => self.sender.on_segment(self.now, &segment(ack, self.header)),
            What::Timer => {}
        }
        let sent = self.drain(false, matches!(input.what, What::Write(_)));
        let s = self.sender.state();
        let mut answer = Answer {
            sent,
            cwnd: s.cwnd / s.mss,
            ssthresh: (s.ssthresh < u64::MAX).then(|| s.ssthresh / s.mss),
            phase: s.phase,
            expiries: timers.len() as u32,
            met: 0,
        };
        self.expire(&mut answer, timers, until);
        answer
    }

    /// What time does between this input and the next one.
    fn expire(&mut self, answer: &mut Answer, mut timers: &[Step], until: Time) {
        for _ in 0..MOST_CALLS {
            let (due, late) = (self.due, self.clock.late(self.due.since(self.set_at)));
            if due == Time::NEVER {
                return;
            }
            let seen = timers.first().map(|step| micros(step.at));
            if let Some(seen) = seen
                && seen + self.clock.early() < due
            {
                timers = &timers[1..];
                continue;
            }
            match seen.filter(|seen| *seen <= due + late) {
                Some(seen) => {
                    if self.call(answer, due.max(seen)) {
                        answer.met += 1;
                        timers = &timers[1..];
                    }
                }
                None if due >= until || seen.is_none() && due + late > until => return,
                None => {
                    self.call(answer, due);
                }
            }
        }
    }

    /// Calls the deadline; whether anything was sent.
    fn call(&mut self, answer: &mut Answer, at: Time) -> bool {
        self.now = self.now.max(at);
        self.sender.on_deadline(self.now);
        let sent = self.drain(true, false);
        answer.sent.extend(&sent);
        !sent.is_empty()
    }

    /// All that the sender sends now. A write lets its segments out one after the other
    /// (`tcp_push_one`), so that each has a time of its own, and a bundle has one.
    fn drain(&mut self, by_timer: bool, apart: bool) -> Vec<Left> {
        let mut all = Vec::new();
        while let Some(t) = self.sender.poll_transmit(self.now) {
            let transmission = if t.transmission == 0 {
                0
            } else {
                let begun = self.begun.entry(t.position).or_default();
                *begun += 1;
                *begun
            };
            let push = self.header.offload && t.segment.flags.psh();
            let (len, cwr) = (t.segment.len, t.segment.ecn.cwr());
            let sent = Sent { position: t.position, len, transmission, push, cwr };
            let timer = by_timer.then_some(self.now.0 / 1000);
            all.push(Left { sent, cause: t.cause, timer });
            let more = self.sender.state().written > self.sender.state().snd_max;
            if apart && more && (push || !self.header.offload) {
                self.now += APART;
            }
        }
        let due = self.sender.next_deadline();
        if due != self.due {
            (self.due, self.set_at) = (due, self.now);
        }
        all
    }
}

/// The segment that brings this ACK.
fn segment(ack: &Ack, header: &Header) -> Segment {
    let mut sack = SackBlocks::NONE;
    for &(left, right) in &ack.sack {
        sack.push(SackBlock { left: Seq(left as u32), right: Seq(right as u32) });
    }
    Segment {
        ack: Seq(ack.to as u32),
        wnd: (ack.window >> header.window_scale).min(65_535) as u16,
        timestamps: ack.echo.map(|ecr| Timestamps { val: 0, ecr }),
        ecn: if ack.ece { Ecn::NONE.with_ece() } else { Ecn::NONE },
        sack,
        ..Segment::default()
    }
}
