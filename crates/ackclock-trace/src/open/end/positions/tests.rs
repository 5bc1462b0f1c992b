use super::*;

/// From sequence numbers that wrap soon after the first byte.
#[test]
fn what_is_far_from_the_highest_byte_needs_a_window_or_is_astray() {
    let origin = Seq(u32::MAX - 10);
    let at = |position: u64| Seq::at(origin, position);
    let mut stream = Positions::default();
    stream.start(origin);
    assert_eq!(stream.of(origin - 1, 0), None, "before the first byte");
    assert_eq!((stream.is_lost(), stream.strays()), (true, 1));
    assert_eq!(stream.of(origin, 0), Some(0));
    assert!(!stream.is_lost());
    stream.extend(2 * ROOM);
    stream.acknowledge(2 * ROOM);
    for position in [0, ROOM - 1, ROOM, 2 * ROOM, 3 * ROOM] {
        assert_eq!(stream.of(at(position), 0), Some(position));
    }
    assert_eq!(stream.of(at(3 * ROOM + 1), 0), None);
    assert_eq!((stream.is_lost(), stream.strays()), (true, 2));
    assert_eq!(stream.of(at(3 * ROOM + 1), 2 * ROOM + 1), Some(3 * ROOM + 1));
    assert_eq!((stream.is_lost(), stream.strays()), (false, 2));
}
