//! What a sender did, reconstructed from what went out and what came back: the cause of each
//! retransmission, timeouts with class and state, recoveries, and what was spurious or lost.
//!
//! The input is in the *sender's* frame of time ([`input`]): ACKs are delayed by the round trip
//! between the capture and the sender, sequence numbers are positions, and super-segments are cut
//! into segments of SMSS. So one model serves every vantage. What it must not assume is that it
//! sees every transmission ([`Sight`]).
//!
//! [`SenderModel`] passes each segment ([`departs`]) and each ACK ([`returns`]) to one part after
//! the other, and hands on what they answer. A part is a file with fields of its own:
//!
//! | question | part |
//! | --- | --- |
//! | **What is on its way?** | [`stream`] |
//! | What have SACK blocks covered? | `stream::sacked` |
//! | Which segments are outstanding? | [`stream::outstanding`] |
//! | When did the stream last move? | [`stream::moments`] |
//! | How large are the windows? | [`stream::windows`] |
//! | How long do round trips take? | [`stream::trips`] |
//! | When do the sender's timers expire? | [`stream::timers`] |
//! | How many retransmissions were lost before the capture? | `stream::unseen` |
//! | What went out unseen, and is this the original that comes late? | [`stream::holes`] |
//! | Was this lost before the capture, and goes out again? | `lost_before` |
//! | **What does a picture show?** | [`picture`] |
//! | **Where does the sender stand in loss recovery?** | [`recovery`] |
//! | What do ACKs say of losses? | [`recovery::evidence`] |
//! | What was retransmitted, and what became of it? | [`recovery::retransmissions`] |
//! | Which state is it, and was it undone? | [`recovery::phases`] |
//! | What was lost behind all that is seen? | `recovery::behind` |
//! | Without SACK: was nothing of it needed? | `recovery::answers` |
//! | **Why was a segment retransmitted?** | [`causes`] |
//! | Was it an ACK, a probe's timer or the retransmission timer? | [`causes::trigger`] |
//! | Does what followed tell? | [`causes::aftermath`] |
//! | Was it a tail loss probe after all? | [`causes::probes`] |
//! | What could have avoided a timeout? | [`causes::timeouts`] |
//! | Has a router asked for shorter packets? | [`causes::shorter`] |
//! | **Why did nothing go on?** | [`stalls`] |
//! | Was it none of the application's after all? | `silence` |
//! | **When did marks lower the window?** | [`marks`] |
//! | **How fast is the bottleneck?** | [`rate`] |
//! | Is there a queue, or another route? | [`route`], [`queue`] |
//! | Was it full before the capture began? | [`begun`] |
//! | **What limited it, all the time?** | [`limits`], at the end `limits::settle` |
//! | What is outstanding on the path? | `limits::on_path` |
//! | Who sets the pace? | `limits::pace` |
//! | Does the other end ask, and wait for an answer? | `limits::requests` |
//! | Did Nagle's algorithm hold new data? | `limits::nagle` |
//! | What else had it waited for? | `limits::waited` |
//! | Was it none of these? | `limits::unknown` |
//! | **Why were packets lost?** | [`losses`] |
//! | What was lost, and what arrived, in one order? | `losses::timeline` |
//! | Where do they stand among those that arrived? | `losses::delay` |
//! | Is there a bucket that is empty where they are lost? | `losses::bucket` |
//! | Were they too long? | `losses::size` |
//! | Which cause has evidence, and no other? | `losses::verdict` |
//! | **What does a replay of a timeout need?** | [`episodes`] |
//! | **Which ways does it have?** | [`ways`], a file for each |

mod begun;
mod causes;
mod cells;
mod departs;
mod episodes;
mod input;
mod limits;
mod losses;
mod lost_before;
mod marks;
mod picture;
mod queue;
mod rate;
mod recovery;
mod returns;
mod route;
mod silence;
mod stalls;
mod stream;
#[cfg(test)]
mod tests;
mod ways;

use std::sync::Arc;

use ackclock_tcp::{Event, Span, Time};
use thin_vec::ThinVec;

use self::causes::Causes;
use self::episodes::{Episodes, Facts};
pub(crate) use self::input::{Acked, Dsack, EXCHANGED, Opening, Sent, Shorter, Sight, Terms};
pub(crate) use self::limits::FAREWELL;
use self::limits::{Limits, Repairs};
use self::losses::LossRecord;
use self::marks::Marks;
use self::picture::Picture;
pub(crate) use self::picture::{draw_recoveries, expiry, insert_all};
pub(crate) use self::queue::{Queue, settle_full, settle_paced};
pub(crate) use self::rate::TICK;
pub(crate) use self::rate::{ArrivalRate, Arrivals, Bottleneck, Trip};
use self::recovery::LossRecovery;
use self::silence::Silence;
pub(crate) use self::stalls::Owed;
use self::stalls::{Now, Stalls, Waiting};
pub(crate) use self::stream::KEEP_ALIVE;
use self::stream::Stream;
use self::stream::segment::Segment;
use self::stream::timers::Timers;
use self::ways::Watch;
use crate::connection::{AskedShorter, Recovery, Retransmission, RoundTrip, Stall, Timeout};
use crate::lifetime::Lifetime;
use crate::loss::Losses;
use crate::path::Path;
use crate::ways::Ways;

/// What the model found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub retransmissions: Vec<Retransmission>,
    pub timeouts: Vec<Timeout>,
    pub recoveries: Vec<Recovery>,
    pub stalls: Vec<Stall>,
    /// Of stalls that held a timeout by the numbers of packets: when each ended, and for how long
    /// it counts as the application's all the same.
    pub untold: ThinVec<(Time, Span)>,
    /// Until [`Found::end`].
    pub lifetime: Lifetime,
    pub moved: bool,
    /// When the last packet was at the sender.
    pub end: Time,
    pub losses: Losses,
    pub probes_of_new_data: u64,
    pub ways: Ways,
    pub undecided: Vec<Timeout>,
    pub segments: u64,
    pub bytes: u64,
    /// When marks lowered the window.
    pub reductions: Vec<Time>,
    pub window: u64,
    pub full_window: u64,
    pub dsacks: u64,
    pub asked_shorter: Option<Box<AskedShorter>>,
    pub unseen: u64,
    /// For how long ACKs of what was outstanding are not in the capture.
    pub unacked: Span,
    /// How often an ACK came with data only after nobody delays it any more.
    pub carried: u8,
    /// For how long the capture has gaps.
    pub unknown: Span,
    pub rtt: Option<RoundTrip>,
    pub events: Vec<Event>,
    pub doubts: Vec<String>,
}

/// One sender, reconstructed.
pub(crate) struct SenderModel {
    stream: Stream,
    /// More than windows has a say, or may have: [`SenderModel::is_unsettled`], asked after what
    /// may change that. All of it lies elsewhere, and most packets need none of it.
    unsettled: bool,
    /// From the first sign of a loss on, which most connections never see.
    repair: Option<Box<Repair>>,
    stalls: Stalls,
    limits: Limits,
    losses: LossRecord,
    /// From the first mark on.
    marks: Option<Box<Marks>>,
    bottleneck: Bottleneck,
    episodes: Episodes,
    ways: Watch,
    picture: Picture,
    /// As far as this is acknowledged by ACKs that are still on their way from the capture.
    passed: u64,
}

/// What only losses need.
#[derive(Debug, Default)]
struct Repair {
    recovery: LossRecovery,
    causes: Causes,
    /// When a silence last ended in which a timer had sent what the capture does not have.
    outlasted: Time,
    /// What lies below was lost before the capture, as the numbers of packets say, and goes out
    /// again.
    repeated: u64,
    /// Room for what an ACK newly SACKs.
    newly: Vec<Segment>,
}

impl Repair {
    /// Nothing is lost or repaired, and none of the parts waits for what follows. `una`: the first
    /// unacknowledged byte. `probes`: those with new data until it last moved.
    fn is_idle(&self, una: u64, probes: u32) -> bool {
        let Repair { recovery, causes, repeated, .. } = self;
        recovery.is_idle()
            && *repeated <= una
            && causes.timeouts.in_a_row() == 0
            && !causes.probes.watches()
            && causes.probes.of_new_data() == probes
    }
}

impl SenderModel {
    pub fn new(terms: Terms, path: Arc<Path>) -> SenderModel {
        SenderModel {
            stream: Stream::new(terms),
            unsettled: true,
            repair: None,
            stalls: Stalls::default(),
            limits: Limits::new(terms.start, path),
            losses: LossRecord::default(),
            marks: None,
            bottleneck: Bottleneck::new(terms.mss, terms.handshake_rtt.get(), terms.at_sender()),
            episodes: Episodes::default(),
            ways: Watch::default(),
            picture: Picture::new(terms.events),
            passed: 0,
        }
    }

    /// Data goes out now, and the next ACK that passed the capture before it, of this position,
    /// reaches the sender at that time.
    #[inline]
    pub fn ack_is_due(&mut self, now: Time, ack: Option<(Time, u64)>) {
        self.limits.ack_is_due(now, ack, &self.stream);
    }

    /// What goes out next arrives at the capture from a bottleneck that has been busy since then.
    #[inline]
    pub fn arrives_behind(&mut self, busy: Time) {
        self.limits.arrives_behind(busy);
    }

    /// An ACK of this position has passed the capture and reaches the sender at this time.
    #[inline]
    pub fn ack_passes(&mut self, at: Time, ack: u64) {
        self.limits.ack_passes(at, ack, &self.stream);
    }

    /// Bytes that other connections have outstanding on the path by now.
    #[inline]
    pub fn others(&self, now: Time) -> u32 {
        self.limits.others(now)
    }

    /// Up to which position the receiver lets it send, as far as it has heard, and the bytes of a
    /// segment.
    pub fn room(&self) -> [u64; 2] {
        let Stream { outstanding, windows, terms, .. } = &self.stream;
        [outstanding.una().saturating_add(windows.allowed()), terms.mss.into()]
    }

    /// What is known of the connection by now.
    #[inline]
    pub fn terms(&self) -> &Terms {
        &self.stream.terms
    }

    /// SMSS turns out to be another than the SYNs say.
    #[cold]
    pub fn set_mss(&mut self, mss: u32) {
        self.stream.set_mss(mss);
        if let Some(repair) = &mut self.repair {
            repair.causes.shortened.makes(mss + self.stream.terms.header);
        }
    }

    /// The capture was taken here: it shows every transmission. What an ACK lets go passes it so
    /// much later.
    pub fn is_here(&mut self, lag: Span) {
        self.stream.is_sent(lag);
    }

    /// It was not: something was lost before. `near`: as in [`Terms`].
    pub fn is_away(&mut self, near: bool) {
        self.stream.terms.near = near;
        self.stream.turns_out_arrived();
    }

    /// Something happens: what limited the sender until then?
    // Each packet goes through this, from two places.
    #[inline(always)]
    fn elapse(&mut self, at: Time) {
        let repairs = match () {
            () if !self.unsettled => Repairs::No,
            () if self.is_repairing() => Repairs::Yes,
            () if self.must_repair() => Repairs::Perhaps,
            () => Repairs::No,
        };
        self.limits.elapse(at, &self.stream, repairs);
    }

    /// A packet was taken in.
    #[inline]
    fn settles(&mut self) {
        if self.unsettled {
            self.unsettled = self.is_unsettled();
        }
    }

    /// Something is lost or repaired, or a part watches what follows.
    fn is_unsettled(&self) -> bool {
        let Self { stream, repair, ways, picture, stalls, .. } = self;
        let outstanding = &stream.outstanding;
        let idle = |repair: &Repair| repair.is_idle(outstanding.una(), stalls.probes());
        outstanding.retransmitted() > 0
            || outstanding.sacked_bytes() > 0
            || !repair.as_deref().is_none_or(idle)
            || ways.is_on()
            || picture.is_on()
    }

    /// Losses are being repaired, as the capture shows, or the numbers of packets.
    #[inline]
    fn is_repairing(&self) -> bool {
        let outstanding = &self.stream.outstanding;
        let repairs = |repair: &Repair| {
            !repair.recovery.phases.is_open() || outstanding.una() < repair.repeated
        };
        self.repair.as_deref().is_some_and(repairs) || outstanding.retransmitted() > 0
    }

    /// Away from the sender its fast retransmit may have been lost before the capture. Three
    /// segments behind a hole make it repair (RFC 6675 section 4, RFC 5681 section 3.2). A sender
    /// that has learned of reordering waits for more; its holes are counted, too.
    #[inline]
    fn must_repair(&self) -> bool {
        let Stream { terms, outstanding, .. } = &self.stream;
        let Some(repair) = self.repair.as_ref().filter(|_| !terms.at_sender()) else {
            return false;
        };
        let three = 3 * u64::from(terms.mss);
        outstanding.sacked_bytes() >= three || !terms.sack && repair.recovery.evidence.shows_loss()
    }

    /// `una` has moved, or the capture has ended; `opens`: the ACK of the SYN has come. Where the
    /// SYN went again, no round trip was known until then, whatever that ACK measures: Linux echoes
    /// the timestamp of the first SYN in all SYN/ACKs (`tcp_check_req`). What went again behind the
    /// ACK in the capture did not bring it about.
    #[inline]
    fn check_stall(&mut self, at: Time, frame: u64, opens: bool, came_twice: bool) {
        let repair = self.repair.as_ref();
        let first = || repair?.recovery.retransmissions.get(0);
        let again = || first().is_some_and(|first| !opens || first.frame <= frame);
        let none;
        let timers = if opens && again() {
            none = Timers::default();
            &none
        } else {
            &self.stream.timers
        };
        let probes = match repair {
            Some(repair) if self.unsettled => repair.causes.probes.of_new_data(),
            _ => self.stalls.probes(),
        };
        let progress = self.stream.moments.progress();
        let newest = self.stream.moments.newest();
        let now = Now { at, frame, progress, timers, came_twice, newest };
        self.stalls.progressed(&now, probes, timers.srtt() == Span::ZERO && !again());
    }

    /// The other end's data reached this one then, or at [`Time::ZERO`] if none has, with this
    /// `owed` when the data that goes out next did so.
    #[inline]
    pub fn peer_data(&mut self, at: Time, owed: Owed) {
        self.stalls.peer_data(at, owed);
    }

    /// A router asks for shorter packets.
    #[cold]
    pub fn too_big(&mut self, asked: &Shorter) {
        let causes = &mut self.repair.get_or_insert_default().causes;
        causes.shortened.ask(asked, &self.stream);
    }

    /// The capture has a gap that ends now. Nothing is known of a time in which a timer may have
    /// expired unseen, unless a FIN is all that went out.
    #[cold]
    pub fn gap(&mut self, until: Time, fin: bool) {
        let Stream { outstanding, moments, timers, .. } = &self.stream;
        if !fin && !outstanding.is_empty() && moments.silence(until) > timers.rto() {
            self.limits.unknown(until);
        }
        self.stalls.gap(until);
    }

    /// Keeps no further events.
    pub fn stop_events(&mut self) {
        self.picture.stop();
    }

    /// The connection, or the capture, ended at `end`. `arrivals`: at so many bits per second data
    /// arrives that has waited for the bottleneck, if that is known.
    pub fn finish(mut self, end: Time, arrivals: Option<ArrivalRate>) -> Found {
        let mut undecided = self.settle(end);
        let Self {
            stream,
            repair,
            stalls,
            mut limits,
            losses,
            marks,
            mut bottleneck,
            mut episodes,
            ways,
            picture,
            ..
        } = self;
        let Repair { mut recovery, causes, .. } = *repair.unwrap_or_default();
        limits.tell(&mut bottleneck);
        episodes.idle(stream.outstanding.max());
        let Terms { sack, sight, .. } = stream.terms;
        recovery.retransmissions.settle(sack, sight == Sight::Received);
        let dsacks = recovery.retransmissions.dsacks();
        let mut timeouts = causes.timeouts.into_all(&recovery.retransmissions);
        let (recoveries, retransmissions) = recovery.into_found();
        let reductions = marks.map(|marks| marks.into_all()).unwrap_or_default();
        let facts = Facts {
            terms: &stream.terms,
            timers: &stream.timers,
            retransmissions: &retransmissions,
            rate_bps: bottleneck.bits_per_second(),
            delayed_ack: episodes.are_acks_delayed(stream.terms.mss),
        };
        episodes.settle(&facts, &mut timeouts);
        episodes.settle(&facts, &mut undecided);
        let full_window = limits.full_window();
        let rate_bps = bottleneck.bits_per_second();
        let kept = limits.kept(rate_bps);
        let moved = limits.has_moved();
        let unknown = limits.has_unknown();
        let untold = limits.last_silence().map(Silence::take_untold).unwrap_or_default();
        let mut lifetime = limits.into_lifetime(
            stream.terms.mss,
            bottleneck.base(),
            |base| bottleneck.holds(base, arrivals),
            stream.has_waited(),
        );
        lifetime.add_kept(kept);
        Found {
            losses: losses.into_losses(&stream, &retransmissions, rate_bps),
            end,
            untold,
            stalls: stalls.into_all(&timeouts, &retransmissions),
            lifetime,
            moved,
            events: picture.into_events(&retransmissions, &recoveries, &reductions),
            reductions,
            retransmissions,
            timeouts,
            recoveries,
            probes_of_new_data: causes.probes.of_new_data().into(),
            ways: ways.into_ways(causes.probes.habit()),
            asked_shorter: causes.shortened.into_asked(),
            undecided,
            segments: stream.segments(),
            bytes: stream.bytes(),
            window: stream.windows.most_offered(),
            full_window,
            dsacks,
            unseen: stream.outstanding.unseen(),
            unacked: stream.outstanding.unacked(),
            carried: stream.timers.carried(),
            unknown,
            rtt: stream.timers.round_trip(),
            doubts: stream.outstanding.doubts().map(str::to_owned).collect(),
        }
    }

    /// Nothing comes after this. Returns the same as [`Causes::settle`].
    fn settle(&mut self, end: Time) -> Vec<Timeout> {
        let Repair { recovery, causes, .. } = &mut **self.repair.get_or_insert_default();
        let undecided = causes.settle(recovery, &mut self.picture);
        let alone = self.stream.waits_for_fin_alone();
        let probes = self.stalls.is_probing_window();
        self.stalls.waited(if alone { Waiting::Nobody } else { Waiting::Sender });
        if !self.stream.outstanding.is_empty() || self.stalls.is_opening() {
            self.check_stall(end, 0, false, false);
        }
        self.elapse(end);
        if probes {
            // To the end there was more to send.
            self.limits.gets_room(end, &self.stream);
        }
        undecided
    }
}

/// Who watches what follows a probe, if that may tell something.
#[inline]
fn watching(repair: &mut Option<Box<Repair>>) -> Option<&mut Causes> {
    repair.as_mut().map(|repair| &mut repair.causes).filter(|causes| causes.probes.watches())
}
