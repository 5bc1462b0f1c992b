use ackclock_tcp::TimeoutClass;
use ackclock_trace::{AskedShorter, Kind, Retransmission, State, Timeout};

use super::*;
use crate::fixture;

/// What the server was asked, what went again for these reasons, and whether it did not heed.
fn flow(mtu: Option<u32>, kinds: &[Kind], ignored: bool) -> Flow {
    let first = fixture::at(100);
    let asked = AskedShorter { messages: 3, first, mtu, router: [10, 9, 1, 1].into(), ignored };
    Flow {
        asked_shorter: Some(Box::new(asked)),
        retransmissions: kinds.iter().map(|kind| fixture::again(fixture::at(100), *kind)).collect(),
        // Whatever else it lost.
        timeouts: vec![timeout(99)],
        ..fixture::idle()
    }
}

/// A timer has sent the retransmission of this index.
fn timeout(retransmission: usize) -> Timeout {
    let timeout = fixture::timeout(fixture::at(300), TimeoutClass::NonTrigger, State::Open);
    Timeout { retransmission, ..timeout }
}

#[test]
fn sentences() {
    let said = |flow: Flow| {
        let mut found = fixture::explained().connections.swap_remove(0);
        found.connection.from_server = flow;
        let [said] = <[String; 1]>::try_from(shorter(&found)).unwrap();
        assert_eq!((of(&found, End::Client), of(&found, End::Server)), (None, Some(said.clone())));
        said
    };
    let asked = "a router at 10.9.1.1 asked the server for packets of at most 1400 bytes";
    let again = |n| format!("{asked}; {n} went again for that, which is no sign of congestion");
    let (mtu, cut) = (Some(1400), Kind::TooBig);
    assert_eq!(said(flow(mtu, &[cut], false)), again("1 segment"));
    assert_eq!(said(flow(mtu, &[cut, Kind::Recovery, cut], false)), again("2 segments"));
    assert_eq!(said(flow(mtu, &[], false)), asked);
    // Windows waits for its timer.
    let too_big = |kind| Retransmission { too_big: true, ..fixture::again(fixture::at(300), kind) };
    let retransmissions = vec![too_big(Kind::Timeout), too_big(Kind::SlowStart)];
    let waited = Flow { retransmissions, timeouts: vec![timeout(0)], ..flow(mtu, &[], false) };
    let waits = ", but the sender waited for its timer";
    assert_eq!(said(waited), again("2 segments") + waits);
    let ignored = format!("{asked}, which it did not heed: a timer expired");
    assert_eq!(said(flow(mtu, &[Kind::Timeout], true)), ignored);
    assert_eq!(
        said(flow(None, &[], false)),
        "a router at 10.9.1.1 told the server that its packets are too big, but not what it takes \
         (RFC 1191 section 5)"
    );
    assert_eq!(shorter(&fixture::explained().connections[0]), Vec::<String>::new());
}

#[test]
fn what_to_do() {
    let line = |kinds: &[Kind], ignored| advice(&flow(Some(1400), kinds, ignored), "A", "B");
    let clamp = "A to B: packets are too big for the link behind 10.9.1.1; clamp the MSS there \
        (nftables: tcp option maxseg size set rt mtu), or lower the MTU of A";
    assert_eq!(line(&[Kind::TooBig], false).as_deref(), Some(clamp));
    // Half of them were lost otherwise.
    assert_eq!(line(&[Kind::TooBig, Kind::Recovery], false), None);
    let ignored = "A: it does not heed the router at 10.9.1.1, which asks for shorter packets; let \
        ICMP in (type 3 code 4, ICMPv6 type 2), or let it search for what the path takes \
        (RFC 8899; Linux: set net.ipv4.tcp_mtu_probing to 1)";
    assert_eq!(line(&[Kind::Timeout], true).as_deref(), Some(ignored));
    assert_eq!(line(&[Kind::Timeout], false), None);
    let mut unasked = flow(None, &[Kind::TooBig], true);
    unasked.asked_shorter = None;
    assert_eq!(advice(&unasked, "A", "B"), None);
}
