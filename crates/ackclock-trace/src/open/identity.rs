//! Whether a packet is of this connection: whether it opens another one between the same ends, or
//! its timestamp says that the clock of the capture was set.

use ackclock_tcp::wire::Control;
use ackclock_tcp::{Span, Time, Timestamps};

use super::Open;
use super::end::End;
use crate::jumps::{Ticks, USUAL};
use crate::packet::Packet;

/// Without a sign of its end, a connection is taken to be over when its addresses open a new one
/// after this time.
const LONG: Span = Span::from_secs(60);

impl Open {
    /// Whether this packet opens another connection between the same ends. A SYN does that has
    /// another sequence number than the one that opened this connection, if this one is over: by
    /// its packets, or since it never came about, or was quiet for long. In an open connection such
    /// a SYN is a stray (RFC 5961 section 4), unless it is answered.
    #[inline]
    pub fn is_reused_by(&self, p: &Packet, from_low: bool) -> bool {
        p.control.contains(Control::SYN)
            && !p.control.contains(Control::RST)
            && self.opens_another(p, from_low)
    }

    #[cold]
    fn opens_another(&self, p: &Packet, from_low: bool) -> bool {
        let one = self.from(from_low);
        // Of one direction, the FIN of the other end is not in the capture.
        let over = self.is_over()
            || p.at.since(self.clock.last()) >= LONG
            || self.directions.is_only(one) && self.ends[one].has_fin();
        let data = self.ends.iter().any(End::has_data);
        self.answers_stray(p) || self.handshake.opens_another(one, p, over, data)
    }

    /// What the timestamp of this packet says beside the last one of its end. `None` if there are
    /// none, or they have stood still since the first one.
    #[cold]
    pub fn ticks(&self, p: &Packet, from_low: bool) -> Option<Ticks> {
        let one = self.from(from_low);
        let (last, val) = (self.place.last_stamp(one)?, p.options.timestamps?.val);
        let syn = self.handshake.syns(one).next();
        let first = syn.and_then(|syn| Some((syn.stamps?[0], syn.at)));
        let busy = self.clock.last();
        let since = |(first, at)| (last.wrapping_sub(first), busy.since(at));
        // Of what was seen just before, two ticks are the least that tells something, or none in a
        // while in which it has sent something.
        let sent = |&(_, at): &(u32, Time)| self.place.last_data(one).since(at) >= USUAL;
        let tells = |first: &(u32, Time)| since(*first).0 > 1 || sent(first);
        let other = || self.ends[one].first_stamp().filter(tells).map(since);
        let since_first = first.map(since).or_else(other);
        let stands = since_first.is_some_and(|(ticks, _)| ticks == 0);
        let passed = val.wrapping_sub(last);
        let sure = !stands && !Timestamps::is_older(val, last);
        sure.then_some(Ticks { stamp: val, passed, since_first, busy })
    }

    /// The clock of the capture was set ahead: nothing is known of how long what is on its way
    /// takes.
    #[cold]
    pub fn loses_time(&mut self) {
        self.ends.iter_mut().for_each(End::loses_time);
        self.place.loses_time();
    }
}
