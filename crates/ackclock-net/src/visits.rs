//! What packets find at the queues of links, kept for whoever watches.

use crate::ids::LinkId;
use crate::link::Link;
use crate::packet::Packet;
use crate::recorder::Visit;

/// The visits that have become known and were not handed over; nothing is kept unless somebody
/// watches.
#[derive(Default)]
pub(crate) struct Visits(Option<Vec<(LinkId, Visit)>>);

impl Visits {
    /// From now on the visits at these links are kept.
    pub(crate) fn watch(&mut self, links: &mut [Link]) {
        if self.0.is_none() {
            self.0 = Some(Vec::new());
            links.iter_mut().for_each(Link::watch);
        }
    }

    /// Those that have become known since the last call.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (LinkId, Visit)> {
        self.0.iter_mut().flat_map(|visits| visits.drain(..))
    }

    /// [`Link::admit`] at the link of this number.
    pub(crate) fn admit(
        &mut self,
        (number, link): (u32, &mut Link),
        now: u64,
        packet: &Packet,
        mss: impl Fn() -> u32,
    ) -> Result<u64, &'static str> {
        let Some(visits) = &mut self.0 else { return link.admit(now, packet, mss) };
        let (admitted, visit) = link.admit_seen(now, packet, mss);
        visits.extend(visit.map(|visit| (LinkId(number), visit)));
        admitted
    }

    /// Takes those of a link whose transmitter has events.
    pub(crate) fn take_of(&mut self, number: u32, link: &mut Link) {
        if let Some(visits) = &mut self.0 {
            let of_link = link.take_visits().into_iter();
            visits.extend(of_link.map(|visit| (LinkId(number), visit)));
        }
    }
}

/// Those of packets that wait at links where that is not known as they come.
pub(crate) fn waiting(links: &[Link], now: u64) -> impl Iterator<Item = (LinkId, Visit)> {
    (0..).zip(links).flat_map(move |(number, link)| {
        link.waiting_visits(now).into_iter().map(move |visit| (LinkId(number), visit))
    })
}
