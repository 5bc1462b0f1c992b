use super::*;

fn read(ring: &Ring, position: u64, len: usize) -> Vec<u8> {
    ring.slices(position, len).concat()
}

#[test]
fn it_grows_by_doubling_to_its_limit_and_keeps_what_it_holds_in_place() {
    let mut ring = Ring::new(5000);
    assert_eq!(ring.bytes.len(), 0);
    let stream: Vec<u8> = (0..20_000u32).map(|i| (i % 251) as u8).collect();
    let mut capacities = Vec::new();
    let mut begin = 0;
    for chunk in 0..20_000 / 100 {
        ring.put(chunk * 100, &stream[chunk as usize * 100..][..100]);
        if ring.room(usize::MAX) < 100 {
            begin += 1700;
            ring.release(begin);
        }
        let end = (chunk as usize + 1) * 100;
        assert_eq!(read(&ring, begin, 5000), stream[begin as usize..end]);
        capacities.push(ring.bytes.len());
    }
    capacities.dedup();
    assert_eq!(capacities, [2048, 4096, 5000]);
}

#[test]
fn much_memory_is_given_back_when_nothing_is_held() {
    let mut ring = Ring::new(1 << 20);
    ring.put(0, &[1; KEPT + 1]);
    ring.release(KEPT as u64);
    ring.relax();
    assert_eq!((ring.bytes.len(), read(&ring, KEPT as u64, 9)), (2 * KEPT, vec![1]));
    ring.release(KEPT as u64 + 1);
    ring.relax();
    assert_eq!(ring.bytes.len(), 0);
    ring.put(KEPT as u64 + 1, &[2; KEPT]);
    ring.release(2 * KEPT as u64 + 1);
    ring.relax();
    assert_eq!((ring.bytes.len(), ring.room(usize::MAX)), (KEPT, 1 << 20));
}

#[test]
fn what_comes_out_of_order_has_its_place() {
    let mut ring = Ring::new(4096);
    ring.put(3000, b"later");
    ring.put(0, &[1; 3000]);
    assert_eq!((ring.end(), read(&ring, 2998, 7)), (3005, b"\x01\x01later".to_vec()));
    ring.release(3000);
    ring.put(3002, b"TER and more");
    assert_eq!(read(&ring, 3000, 100), b"laTER and more");
}

#[test]
fn it_keeps_nothing_before_its_beginning_or_beyond_its_limit() {
    let mut ring = Ring::new(10);
    ring.put(0, b"0123456789abc");
    assert_eq!((read(&ring, 0, 100), ring.room(usize::MAX)), (b"0123456789".to_vec(), 0));
    ring.release(5);
    ring.put(3, b"345");
    ring.put(20, b"x");
    ring.put(u64::MAX, b"");
    assert_eq!((read(&ring, 5, 100), ring.room(usize::MAX)), (b"56789".to_vec(), 5));
    ring.put(9, b"9abcdefgh");
    assert_eq!(read(&ring, 5, 100), b"56789abcde");
    ring.release(100);
    assert_eq!(
        (read(&ring, 5, 100), read(&ring, 100, 1), ring.begin(), ring.end()),
        (vec![], vec![], 100, 100)
    );
}

#[test]
fn what_is_granted_bounds_it() {
    let mut ring = Ring::new(1 << 20);
    assert_eq!((ring.room(8192), ring.room(4 << 20)), (8192, 1 << 20));
    let stream: Vec<u8> = (0..20_000u32).map(|i| (i % 251) as u8).collect();
    ring.put(0, &stream);
    // It keeps what it has.
    assert_eq!((ring.capacity(), ring.room(8192), ring.limit(8192)), (32_768, 12_768, 32_768));
    ring.trim(8192);
    assert_eq!(ring.capacity(), 32_768, "much is held");
    ring.release(15_000);
    ring.trim(32_768);
    assert_eq!(ring.capacity(), 32_768, "it may have this");
    ring.trim(8192);
    assert_eq!((ring.capacity(), ring.room(8192)), (8192, 3192));
    assert_eq!(read(&ring, 15_000, 5000), stream[15_000..]);
    ring.release(20_000);
    ring.trim(8192);
    assert_eq!(ring.capacity(), 8192);
}
