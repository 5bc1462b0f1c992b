use super::*;
use ackclock_tcp::SackBlock;

#[test]
fn options_come_back_with_their_segment_and_make_room_for_others() {
    let mut options = Options::default();
    let mut segment = Segment { seq: Seq(7), ack: Seq(9), wnd: 3, ..Segment::default() };
    let plain = Packet::new(Kind::Ack, &segment, &mut options);
    assert_eq!((plain.into_segment(&mut options), options.fields.len()), (segment, 0));

    segment.sack.push(SackBlock { left: Seq(20), right: Seq(30) });
    let first = Packet::new(Kind::Ack, &segment, &mut options);
    let stamped = Segment { timestamps: Some(Timestamps { val: 1, ecr: 2 }), ..Segment::default() };
    let second = Packet::new(Kind::Data, &stamped, &mut options);
    let third = first.duplicate(&mut options);
    assert_eq!((first.copy, third.copy), (false, true));
    assert_eq!(first.into_segment(&mut options), segment);
    let fourth = second.duplicate(&mut options);
    let segments = [second, third, fourth].map(|packet| packet.into_segment(&mut options));
    assert_eq!(segments, [stamped, segment, stamped]);
    assert_eq!((options.fields.len(), options.free.len()), (3, 3));
}
