//! What packets find at the queues of links, and how long they wait there.

use crate::queue::{Codel, FqCodel, Pie};
use crate::recorder::Visit;
use crate::varying::{Change, InOutage, Outage, Varying};

use super::*;

/// Keeps all visits, and events if it wants them.
#[derive(Default)]
struct Visits {
    all: Vec<(LinkId, Visit)>,
    log: Log,
}

impl Recorder for Visits {
    fn wants_queues(&self) -> bool {
        true
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        self.log.event(flow, event);
    }

    fn packet(&mut self, flow: FlowId, place: Place, seen: &Sighting) {
        self.log.packet(flow, place, seen);
    }

    fn queue(&mut self, link: LinkId, visit: &Visit) {
        self.all.push((link, *visit));
    }
}

fn visits(network: &mut Network, ms: u64) -> Visits {
    let mut visits = Visits::default();
    network.run(Time(ms * MS), &mut visits).expect("a sound network");
    visits
}

fn still() -> Varying {
    Varying::default()
}

/// A change that sets what is set already, so that the link's transmitter has events.
fn unchanged(rate: u64) -> Varying {
    let change = Change { at: Time(MS), rate: Some(rate), ..Change::default() };
    Varying { changes: vec![change], ..Varying::default() }
}

/// A packet of 1000 bytes comes each millisecond and takes 4 ms. Three fit: the one in transmission
/// and two behind it.
#[test]
fn what_each_packet_finds_and_how_long_it_waits() {
    let came = |ms, packets: u32, waited, dropped| Visit {
        came: Time(ms * MS),
        size: 1000,
        packets,
        bytes: u64::from(packets) * 1000,
        waited: Span::from_millis(waited),
        dropped,
        marked: false,
        waits: false,
    };
    let expected = [
        came(0, 0, 0, None),
        came(1, 1, 3, None),
        came(2, 2, 6, None),
        came(3, 3, 0, Some("queue")),
        came(4, 2, 8, None),
        came(5, 3, 0, Some("queue")),
        came(6, 3, 0, Some("queue")),
        came(7, 3, 0, Some("queue")),
        came(8, 2, 8, None),
        came(100, 0, 0, None),
    ];
    for varying in [still(), unchanged(2_000_000)] {
        let mut network = Network::new(1);
        let (a, b) = (network.node("a"), network.node("b"));
        let config = LinkConfig { rate: 2_000_000, queue: drop_tail(3), ..link(a, b, 10) };
        let there = network.link(LinkConfig { varying, ..config });
        network.cbr(CbrConfig { stop: Some(Time(9 * MS)), ..cbr(a, b) });
        let (start, stop) = (Time(100 * MS), Some(Time(101 * MS)));
        network.cbr(CbrConfig { name: "late".into(), start, stop, ..cbr(a, b) });
        let Visits { mut all, .. } = visits(&mut network, 200);
        // Where the transmitter has events, a visit is known as the packet leaves the queue.
        all.sort_by_key(|(_, visit)| visit.came);
        assert_eq!(all, expected.map(|visit| (there, visit)));
    }
}

/// Each packet that no loss model took has a visit, and each drop of the queue its reason. Nothing
/// else changes because somebody looks.
#[test]
fn each_packet_has_one_visit_and_looking_changes_nothing() {
    let red = Red { max_p: 0.2, ..Red::new(40, 5.0, 15.0, 0.002) };
    let queues = [
        (drop_tail(20), still()),
        (drop_tail(20), unchanged(4_000_000)),
        (Queue::Red(red), still()),
        (Queue::Fred(Fred::new(40, 5.0, 15.0)), still()),
        (Queue::Codel(Codel::new(40)), still()),
        (Queue::FqCodel(FqCodel::new(40)), still()),
        (Queue::Pie(Pie::new(40)), still()),
        (Queue::Red(Red { max_p: 0.2, ecn: true, ..Red::new(40, 5.0, 15.0, 0.002) }), still()),
        (Queue::Codel(Codel { ecn: true, ..Codel::new(40) }), still()),
        (Queue::FqCodel(FqCodel::new(40)), still()),
        (Queue::Pie(Pie { ecn: true, ..Pie::new(40) }), still()),
    ];
    for (queue, varying) in queues {
        let build = || {
            let mut network = Network::new(1);
            let (a, b) = (network.node("a"), network.node("b"));
            let loss =
                Loss { model: LossModel::Bernoulli(0.01), applies: Applies::Both, flow: None };
            let (queue, varying) = (queue.clone(), varying.clone());
            let config = LinkConfig { rate: 4_000_000, queue, varying, ..link(a, b, 20) };
            let there = network.link(LinkConfig { loss: vec![loss], ..config });
            network.link(link(b, a, 20));
            network.flow(tcp("one", a, b, "newreno"));
            network.flow(tcp_with("two", a, b, "sack", true));
            (network, there)
        };
        let (mut network, there) = build();
        let Visits { all, log } = visits(&mut network, 10_000);
        let report = network.link_report(there).expect("the link");
        let mut late = Visits::default();
        network.waiting(&mut late);
        assert!(late.all.iter().all(|(_, visit)| visit.waits && visit.dropped.is_none()));
        let here = || {
            all.iter().chain(&late.all).filter(|(link, _)| *link == there).map(|(_, visit)| visit)
        };
        let dropped = |why| here().filter(|visit| visit.dropped == Some(why)).count() as u64;
        assert_eq!(dropped("queue"), report.dropped_queue, "{queue:?}");
        assert_eq!(dropped("early"), report.dropped_early, "{queue:?}");
        let marked = here().filter(|visit| visit.marked).count() as u64;
        assert_eq!(marked, report.marked, "{queue:?}");
        let marks = match &queue {
            Queue::Red(red) => red.ecn,
            Queue::Codel(codel) => codel.ecn,
            Queue::FqCodel(fq) => fq.codel.ecn,
            Queue::Pie(pie) => pie.ecn,
            _ => false,
        };
        assert_eq!(marked > 0, marks, "{queue:?}");
        assert!(report.dropped_queue + report.dropped_early > 0, "{queue:?}");
        assert!(report.dropped_loss > 0);
        assert_eq!(here().count() as u64, report.packets - report.dropped_loss, "{queue:?}");
        // A queue never holds more than its packets: each takes 2 ms.
        let longest = here().map(|visit| visit.waited).max();
        let bound = Span::from_millis(2 * report.max_queue);
        assert!(longest.is_some_and(|longest| longest <= bound), "{longest:?}: {report:?}");

        let (mut unwatched, there) = build();
        assert!(run(&mut unwatched, 10_000) == log, "{queue:?}");
        assert_eq!(unwatched.link_report(there), Some(report), "{queue:?}");
    }
}

/// A packet of 1000 bytes comes each 2 ms and takes 4 ms. An outage at 5 ms takes the one in
/// transmission, which has left the queue at 4 ms, and the one that waits.
#[test]
fn a_packet_that_an_outage_takes_from_the_transmitter_has_one_visit() {
    let outage = Outage {
        from: Time(5 * MS),
        lasts: Span::from_millis(1),
        every: None,
        queued: InOutage::Drop,
    };
    let varying = Varying { outages: vec![outage], ..Varying::default() };
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    let config = LinkConfig { rate: 2_000_000, queue: drop_tail(9), ..link(a, b, 10) };
    let there = network.link(LinkConfig { varying, ..config });
    let stop = Some(Time(5 * MS));
    network.cbr(CbrConfig { rate: 4_000_000, stop, ..cbr(a, b) });
    let Visits { all, .. } = visits(&mut network, 50);
    let seen: Vec<_> = all.iter().map(|(_, v)| (v.came, v.waited, v.dropped)).collect();
    let ms = Span::from_millis;
    let expected = [
        (Time(0), ms(0), None),
        (Time(2 * MS), ms(2), None),
        (Time(4 * MS), ms(1), Some("outage")),
    ];
    assert_eq!(seen, expected);
    assert_eq!(network.link_report(there).unwrap().dropped_loss, 2);
}
