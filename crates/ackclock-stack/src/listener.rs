//! Listeners: half-open connections, those that wait to be accepted, and SYN cookies.

use std::collections::VecDeque;
use std::net::SocketAddr;

use ackclock_tcp::wire::{DEFAULT_MSS, LEAST_MSS, Options, Repr};
use ackclock_tcp::{Composition, Seq, Span, Time};

use crate::TcpConfig;
use crate::tuple::{Purpose, Secret, Tuple};

/// Which of a listener's further strategies a client gets; `None` for that of its configuration.
type Choose = Box<dyn Fn(SocketAddr) -> Option<usize> + Send>;

/// A listener.
pub(crate) struct Listener {
    pub(crate) local: SocketAddr,
    pub(crate) config: TcpConfig,
    /// Strategies beside that of `config`, and which of them a client gets.
    pub(crate) choice: Option<(Vec<Composition>, Choose)>,
    pub(crate) backlog: usize,
    /// How many of its connections are half open.
    pub(crate) half_open: usize,
    /// Slots of established connections.
    pub(crate) queue: VecDeque<u32>,
    /// When it last answered by a cookie. Without one, an ACK cannot bring one back.
    pub(crate) last_cookie: Option<Time>,
    pub(crate) in_ready: bool,
}

impl Listener {
    /// How a client's connection behaves, and the number of its strategy: 0 for that of the
    /// configuration.
    pub(crate) fn config_for(&self, client: SocketAddr) -> (TcpConfig, usize) {
        let mut config = self.config.clone();
        let chosen = self.choice.as_ref().and_then(|(strategies, choose)| {
            let number = choose(client)?;
            Some((strategies.get(number)?, number + 1))
        });
        let Some((strategy, number)) = chosen else { return (config, 0) };
        config.strategy.clone_from(strategy);
        (config, number)
    }

    /// Whether another established connection has to wait for the application to accept some.
    pub(crate) fn is_full(&self) -> bool {
        self.queue.len() >= self.backlog
    }
}

/// A cookie is a sequence number for a SYN/ACK that holds all there is to know of the half-open
/// connection (RFC 4987 section 3.6): five bits of time, three of the peer's MSS and 24 of a keyed
/// hash over these, the tuple, the peer's sequence number and what the SYN offered beside. The
/// latter stands in the low bits of the timestamp, which the peer echoes. A hash of tuple and
/// peer's number is added to the whole: who does not know it hits once in 2^28, and not in 2^24.
const PERIOD: Span = Span::from_secs(64);

/// A cookie holds for the period in which it was made and the next.
const PERIODS: u64 = 2;

/// The peer's MSS is taken for the next lower of these: the least that makes sense, the defaults of
/// IPv4 and IPv6 (RFC 9293 section 3.7.1), tunnels, PPPoE and Ethernet over either, and jumbo
/// frames.
const MSS: [u16; 8] = [LEAST_MSS, DEFAULT_MSS, 1220, 1360, 1400, 1440, 1460, 8940];

/// Bits of the timestamp that hold options: SACK, and the window scale or 15 for none.
const OPTION_BITS: u32 = 0x1f;
const SACK: u32 = 0x10;
const NO_SCALE: u32 = 0x0f;

/// The cookie for a SYN, and our timestamp for its answer. Without timestamps, SACK and window
/// scaling have to be left out.
pub(crate) fn bake(
    secret: &Secret,
    now: Time,
    tuple: &Tuple,
    irs: Seq,
    offered: &Options,
) -> (Seq, u32) {
    let index = (0..)
        .zip(MSS)
        .filter(|(_, mss)| offered.mss.unwrap_or(DEFAULT_MSS) >= *mss)
        .map(|(index, _)| index)
        .last();
    let bits = options_to_bits(offered);
    // Rounded down, so that the next timestamp is not below it.
    let now_ts = now.timestamp().wrapping_add(secret.ts_offset(tuple));
    let mut timestamp = now_ts & !OPTION_BITS | bits;
    if bits > now_ts & OPTION_BITS {
        timestamp = timestamp.wrapping_sub(OPTION_BITS + 1);
    }
    (cookie(secret, now.nanos() / PERIOD.nanos(), index.unwrap_or(0), tuple, irs, bits), timestamp)
}

/// What the SYN offered whose SYN/ACK `ack` acknowledges, if that was a cookie of ours for this
/// peer, not too long ago.
pub(crate) fn verify(secret: &Secret, now: Time, tuple: &Tuple, ack: &Repr) -> Option<Options> {
    let found = ack.ack - 1;
    let irs = ack.seq - 1;
    let bits = ack.options.timestamps.map_or(NO_SCALE, |timestamps| timestamps.ecr & OPTION_BITS);
    let index = found.0.wrapping_sub(mask(secret, tuple, irs)) >> 24 & 7;
    let period = now.nanos() / PERIOD.nanos();
    let made = (0..PERIODS).filter_map(|ago| period.checked_sub(ago));
    made.into_iter().find(|period| cookie(secret, *period, index, tuple, irs, bits) == found)?;
    let scale = bits & NO_SCALE;
    Some(Options {
        mss: Some(MSS[index as usize]),
        wscale: (scale != NO_SCALE).then_some(scale as u8),
        sack_permitted: bits & SACK != 0,
        timestamps: ack.options.timestamps,
        ..Options::default()
    })
}

/// How long a cookie may be honoured at most.
pub(crate) const LIFETIME: Span = PERIOD.times(PERIODS);

fn options_to_bits(offered: &Options) -> u32 {
    if offered.timestamps.is_none() {
        return NO_SCALE;
    }
    offered.wscale.map_or(NO_SCALE, |scale| u32::from(scale.min(14)))
        | if offered.sack_permitted { SACK } else { 0 }
}

fn cookie(secret: &Secret, period: u64, index: u32, tuple: &Tuple, irs: Seq, bits: u32) -> Seq {
    let hash = secret.hash(Purpose::Cookie, (tuple, irs, period, index, bits)) as u32;
    Seq((period as u32 & 0x1f) << 27 | index << 24 | hash & 0x00ff_ffff) + mask(secret, tuple, irs)
}

fn mask(secret: &Secret, tuple: &Tuple, irs: Seq) -> u32 {
    secret.hash(Purpose::CookieMask, (tuple, irs)) as u32
}
