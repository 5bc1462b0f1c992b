//! Were packets lost because they were too long for the path? A path whose routers cannot say so
//! takes all that is shorter than its MTU and nothing else (a black hole, RFC 2923 section 2.1). A
//! sender that tries shorter ones after timeouts (RFC 4821 section 7.7, `tcp_mtu_probing`) goes on.
//! What [hosts make in any case](least_packet) comes through, or is lost for another reason.

use std::collections::BTreeMap;

use ackclock_tcp::Time;

use super::super::input::Terms;
use super::super::stream::Stream;
use super::{AllLost, Lost};
use crate::connection::Retransmission;
use crate::loss::LossCause;
use crate::standards::least_packet;

/// With fewer retransmissions lost, an outage is as likely.
const LEAST: usize = 3;

/// Linux looks for the MTU until it knows it to within so much (`tcp_probe_threshold`). What then
/// comes through is nearly as long as what did not: nothing has vanished for its length.
const SEARCHED: u32 = 8;

/// Timeouts sent the first segment again and again in vain, to the end: most senders do not try
/// shorter ones. What was shorter, and went out behind it, has arrived, and nothing as long ever
/// has: less is acknowledged than it has bytes. So it is no outage.
pub(super) fn never_passed(
    stream: &Stream,
    retransmissions: &[Retransmission],
) -> Option<LossCause> {
    let outstanding = &stream.outstanding;
    let head = outstanding.head().filter(|head| outstanding.una() < u64::from(head.len))?;
    let again = |r: &&Retransmission| r.position == head.position && r.len == head.len;
    let in_vain = retransmissions.iter().filter(|r| r.kind.is_timeout() && !r.syn && again(r));
    let behind = || outstanding.behind_head(outstanding.max());
    let passed = behind().filter(|segment| segment.sacked).map(|segment| segment.len).max()?;
    let packet = |len: u32| len + stream.terms.header;
    let found = in_vain.count() >= LEAST
        && packet(head.len) > least_packet(stream.terms.header)
        && passed + SEARCHED <= head.len
        && behind().all(|segment| segment.sacked || segment.len > passed);
    found.then(|| LossCause::PathMtu { passed: packet(passed), lost: packet(head.len) })
}

/// Timeouts sent a segment again and again in vain, and then a shorter part of it, which arrived,
/// while nothing as long has since.
///
/// A sender that tries shorter ones does so in an outage, too. So where others as long had arrived
/// before, they have to be lost still, after shorter ones arrived.
///
/// A timer sends one packet. What else goes out is of no use where offload sends several at once,
/// of lengths that the capture does not show.
pub(super) fn too_long(
    losses: &AllLost,
    terms: &Terms,
    retransmissions: &[Retransmission],
) -> Option<LossCause> {
    let longest = losses.longest;
    let offload = longest > terms.mss;
    let by_timer = || {
        let timer = |r: &&Retransmission| r.kind.is_timeout();
        retransmissions.iter().filter(timer)
    };
    let arrived = || by_timer().filter(|r| r.lost == Some(false));
    let passed = arrived().map(|r| r.len).max()?.max(if offload { 0 } else { longest });
    // In order of time: of each position the last.
    let last: BTreeMap<u64, Time> = arrived().map(|r| (r.position, r.at)).collect();
    let shortened = |r: &Retransmission| last.get(&r.position).is_some_and(|at| *at > r.at);
    let lost = || by_timer().filter(|r| r.lost == Some(true) && r.len > passed && shortened(r));
    let shortest = lost().map(|r| r.len).min()?;
    let since = arrived().map(|r| r.at).min()?;
    // What is retransmitted in pieces was lost as one.
    let one = |a: &Lost, b: &Lost| a.at == b.at && a.position + u64::from(a.len) == b.position;
    let vanishes = |lost: &[Lost]| {
        let len = lost.iter().map(|lost| u64::from(lost.len)).sum();
        lost[0].at > since && (u64::from(passed) + 1..=u64::from(terms.mss)).contains(&len)
    };
    let still = || losses.lost.chunk_by(one).any(vanishes);
    let packet = |len: u32| len + terms.header;
    let long = packet(shortest) > least_packet(terms.header) && shortest >= passed + SEARCHED;
    (lost().count() >= LEAST && long && (losses.mean <= passed || still()))
        .then_some(LossCause::PathMtu { passed: packet(passed), lost: packet(shortest) })
}
