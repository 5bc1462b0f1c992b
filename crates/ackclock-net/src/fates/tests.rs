use super::*;
use crate::packet::Options;
use ackclock_tcp::Segment;

fn data(flow: u32, segment: u64, transmission: u32) -> Packet {
    let header = Segment { len: 1000, ..Segment::default() };
    let packet = Packet::new(Kind::Data, &header, &mut Options::default());
    Packet { flow, position: segment * 1000, transmission, ..packet }
}

fn ack(flow: u32) -> Packet {
    Packet { kind: Kind::Ack, len: 0, ..data(flow, 14, 1) }
}

fn segment(segment: u64, transmission: u32) -> ListedPacket {
    ListedPacket::Transmission(ListedLoss { segment, transmission })
}

fn lost(packet: ListedPacket, flow: Option<u32>) -> ListedFate {
    ListedFate { packet, flow: flow.map(FlowId), fate: Fate::Lost }
}

/// Which of these packets meet a fate, and which fates are left.
fn met<const N: usize>(listed: &[ListedFate], packets: [Packet; N]) -> ([bool; N], Vec<usize>) {
    let mut fates = Fates::new(listed);
    let met = packets.map(|packet| fates.meet(&packet, 1000).is_some());
    (met, fates.unmet().collect())
}

#[test]
fn a_transmission_is_that_of_a_segment() {
    let listed = [lost(segment(14, 2), None), lost(segment(28, 1), None)];
    let packets =
        [(13, 2), (14, 1), (15, 2), (14, 3), (14, 2), (14, 2)].map(|(s, n)| data(0, s, n));
    assert_eq!(met(&listed, packets), ([false, false, false, false, true, true], vec![1]));
    let others = [Packet { copy: true, ..data(0, 14, 2) }, Packet { transmission: 2, ..ack(0) }];
    assert_eq!(met(&listed, others), ([false; 2], vec![0, 1]));
    // It is the one that holds the segment's first byte.
    let short = |position, len| Packet { position, len, ..data(0, 0, 2) };
    let packets = [short(13_500, 500), short(13_500, 501), short(14_001, 999)];
    assert_eq!(met(&listed, packets).0, [false, true, false]);
}

#[test]
fn acks_count_from_one_in_each_flow() {
    let acks = |flow| [lost(ListedPacket::Ack(2), flow), lost(ListedPacket::Ack(5), flow)];
    let packets = [ack(0), ack(3), ack(3), ack(0), ack(0), data(0, 2, 1)];
    assert_eq!(met(&acks(None), packets).0, [false, false, true, true, false, false]);
    assert_eq!(met(&acks(Some(0)), packets), ([false, false, false, true, false, false], vec![1]));
    // Neither the SYN/ACK nor a second copy counts.
    let syn = Packet { transmission: 0, ..ack(0) };
    let copy = Packet { copy: true, ..ack(0) };
    assert_eq!(met(&acks(None), [syn, ack(0), copy, ack(0)]).0, [false, false, false, true]);
}

#[test]
fn the_first_fate_of_a_packet_counts() {
    let late = ListedFate {
        fate: Fate::Late(Span::from_millis(5)),
        ..lost(segment(14, 1), Some(FlowId(1).0))
    };
    let listed = [lost(segment(14, 1), Some(0)), late, lost(segment(14, 1), None)];
    let mut fates = Fates::new(&listed);
    let met = [0, 1, 2].map(|flow| fates.meet(&data(flow, 14, 1), 1000));
    assert_eq!(met, [Some(Fate::Lost), Some(late.fate), Some(Fate::Lost)]);
    assert_eq!(fates.unmet().count(), 0);
    assert!(fates.delay_some() && !Fates::new(&listed[..1]).delay_some());
}
