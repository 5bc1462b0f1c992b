use super::*;

#[test]
fn room_serves_again_and_is_given_back_when_none_is_left() {
    let mut packets = UnderWay::default();
    assert_eq!((packets.put(&[b"ab", b"", b"c"], 1), packets.put(&[b"d"], 2)), (0, 1));
    packets.remove(0);
    assert_eq!((packets.put(&[b"ef"], 3), packets.count(), packets.bytes), (0, 2, 3));
    assert_eq!(packets.get(0), (&mut b"ef".to_vec()[..], &mut 3));
    packets.remove(1);
    assert_eq!(packets.trim(Time(5)), Time(5) + TRIM);
    packets.remove(0);
    // Not at each idle moment.
    assert_eq!(packets.trim(Time(4) + TRIM), Time(5) + TRIM);
    assert_eq!(packets.packets.len(), 2);
    assert_eq!(packets.trim(Time(5) + TRIM), Time::NEVER);
    assert_eq!((packets.packets.capacity(), packets.free.capacity()), (0, 0));
    // Nor for the next one.
    packets.put(&[b"g"], 4);
    packets.remove(0);
    assert_eq!(packets.trim(Time(6) + TRIM), Time(5) + TRIM.times(2));
}

#[test]
fn it_is_full_at_256_mib() {
    let mut packets = UnderWay::default();
    packets.put(&[&vec![0; (256 << 20) - 1]], ());
    assert!(!packets.is_full());
    packets.put(&[b"a"], ());
    assert!(packets.is_full());
}

#[test]
fn bits_count_from_the_highest_of_the_first_byte() {
    let mut bytes = [0, 0];
    flip(&mut bytes, 9);
    flip(&mut bytes, 16);
    assert_eq!(bytes, [0, 0x40]);
}
