use super::*;

#[test]
fn a_key_gives_back_what_it_was_made_of() {
    for kind in KINDS {
        let key = Key::new(123_456_789, 123_000_000, kind, 12_345);
        assert_eq!((key.time(), key.kind(), key.index()), (123_456_789, kind, 12_345));
    }
    let far = Key::new(u64::MAX, 0, Kind::Source, Key::MAX_INDEX);
    assert_eq!(
        (far.time(), far.kind(), far.index()),
        (u64::MAX, Kind::Source, Key::MAX_INDEX as usize)
    );
}

#[test]
fn ties_go_by_when_a_packet_was_put_on_its_link_then_by_creation() {
    let keys = [
        Key::new(99, 99, Kind::Source, 9),
        Key::new(100, 10, Kind::Wire, 7),
        Key::new(100, 20, Kind::LossNotice, 9),
        Key::new(100, 20, Kind::Wire, 3),
        Key::new(100, 20, Kind::Wire, 5),
        Key::new(100, 20, Kind::Late, 0),
        Key::new(100, 100, Kind::SenderTimer, 0),
        Key::new(100, 100, Kind::ReceiverTimer, 0),
    ];
    assert!(keys.is_sorted());
}

#[test]
fn pops_in_order() {
    let mut heap = Heap::default();
    let mut x = 1u64;
    let mut expected = Vec::new();
    for i in 0..1000 {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let key = Key::new(x >> 55, 0, Kind::Wire, i);
        expected.push(key);
        heap.push(key);
    }
    expected.sort();
    // A push into the place of the one taken, and one behind it.
    assert_eq!(heap.peek(), Some(expected.remove(0)));
    heap.take();
    for key in [Key::new(200, 0, Kind::Late, 1), Key::new(0, 0, Kind::Late, 2)] {
        heap.push(key);
        expected.push(key);
    }
    expected.sort();
    let mut pop = || {
        let key = heap.peek();
        heap.take();
        key
    };
    let popped: Vec<Key> = std::iter::from_fn(&mut pop).collect();
    assert_eq!(popped, expected);
    assert_eq!((pop(), pop()), (None, None));
    assert_eq!(heap.peek(), None);
}
