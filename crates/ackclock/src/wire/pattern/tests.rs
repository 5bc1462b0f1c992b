use super::{PERIOD, Pattern};

#[test]
fn any_cut_of_the_stream_is_recognised_and_any_shift_of_it_is_not() {
    let pattern = Pattern::new();
    let mut stream = Vec::new();
    while stream.len() < 3 * PERIOD {
        let piece = pattern.at(stream.len() as u64, 1460);
        assert_eq!(piece.len(), 1460);
        stream.extend_from_slice(piece);
    }
    assert_eq!(pattern.mismatch(0, &stream), None);
    assert_eq!(pattern.mismatch(1 << 40, pattern.at(1 << 40, u64::MAX)), None);
    for shift in [1, 2, 1448, 1460, 4096, 65_536, 1 << 22] {
        assert!(pattern.mismatch(shift, &stream[..64]).is_some_and(|at| at < shift + 8), "{shift}");
    }
    stream[100_000] ^= 1;
    assert_eq!(pattern.mismatch(0, &stream), Some(100_000));
    assert_eq!(pattern.mismatch(7, pattern.at(7, 0)), None);
}
