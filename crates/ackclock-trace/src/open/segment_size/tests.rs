use super::*;

/// What is believed in the end of these sizes, which go out together.
fn learned(offered: u32, sizes: &[u32]) -> u32 {
    let mut known = SegmentSize::default();
    let at = |n: usize| Time(1_000_000_000 + n as u64 * 10_000);
    let learn = |mss, (n, len): (usize, &u32)| known.sees(*len, at(n), mss).unwrap_or(mss);
    sizes.iter().enumerate().fold(offered, learn)
}

/// A path of 1420 bytes behind 1500; the ends of what was written are shorter, and receivers
/// merge segments.
#[test]
fn a_clamped_mss() {
    assert_eq!(learned(1448, &[1368; 9]), 1368);
    assert_eq!(learned(1448, &[1368; 8]), 1448);
    let merged = [1368, 2736, 900, 1368, 4104, 1368, 200, 2736, 1368, 5472, 1368];
    assert_eq!(learned(1448, &merged.repeat(2)), 1368);
    // Jumbo frames, and a path of Ethernet.
    assert_eq!(learned(8948, &[1448; 9]), 1448);
}

#[test]
fn what_is_no_mss() {
    // Responses of 4000 bytes.
    assert_eq!(learned(1448, &[1448, 1448, 1104].repeat(20)), 1448);
    let full = [1448, 1368, 1368, 1448];
    assert_eq!(learned(1448, &full.repeat(9)), 1448);
    assert_eq!(learned(1448, &[2896, 1368, 1368, 1368].repeat(9)), 1448);
    assert_eq!(learned(1448, &[1000; 30]), 1448);
    assert_eq!(learned(8948, &[1000; 30]), 8948);
    assert_eq!(learned(65_483, &[32_768; 30]), 65_483);
    assert_eq!(learned(65_483, &[1400; 30]), 65_483);
    // Not together.
    let mut known = SegmentSize::default();
    let late = (0..30).filter_map(|n| known.sees(1368, Time(n * 2_000_000), 1448));
    assert_eq!(late.count(), 0);
}

/// One segment as long as the SYNs say shows that such pass.
#[test]
fn a_longer_segment() {
    let sizes = [vec![1368; 20], vec![1448]].concat();
    assert_eq!(learned(1448, &sizes), 1448);
}
