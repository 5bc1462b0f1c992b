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

/// A router has asked for packets of `packet` bytes, 52 of which are headers.
fn asked(packet: u32) -> SegmentSize {
    let mut known = SegmentSize::default();
    known.is_asked(packet, 52, 1448);
    known
}

/// What goes again first shows whether the sender does as it was asked.
#[test]
fn a_router_that_asks() {
    use Sight::{Arrived, Sent};
    for sight in [Sent, Arrived] {
        assert_eq!(asked(1400).again(1348, 1448, sight), Some(1348));
        // A super-segment, which is cut on its way.
        assert_eq!(asked(1400).again(2 * 1348, 1448, sight), Some(1348));
        // A tail, a FIN, a probe of a byte, and five of what was too long show nothing: what comes
        // next may.
        for len in [100, 0, 1, 7240, 1347] {
            let mut known = asked(1400);
            assert_eq!(known.again(len, 1448, sight), None, "{len}");
            assert_eq!((known.cut(1448), known.again(1348, 1448, sight)), (1348, Some(1348)));
            assert_eq!(known.cut(1348), 1348);
        }
        // As Linux, no less than 552; and nothing that it has not more of.
        assert_eq!(asked(300).again(500, 1448, sight), Some(500));
        assert_eq!(asked(1500).again(1000, 1448, sight), None);
        assert_eq!(asked(9000).again(1000, 1448, sight), None);
        // Of 1000 as of 500 bytes.
        let mut known = SegmentSize::default();
        known.is_asked(552, 52, 1000);
        assert_eq!(known.again(2000, 1000, sight), None);
    }
    // The whole segment once more: it does not heed. At the sender it may be cut behind the
    // capture.
    let [mut away, mut here] = [asked(1400), asked(1400)];
    assert_eq!((away.again(1448, 1448, Arrived), here.again(1448, 1448, Sent)), (None, None));
    assert_eq!((away.again(1348, 1448, Arrived), here.again(1348, 1448, Sent)), (None, Some(1348)));
}

/// It is said once, and a longer segment later shows that such pass again.
#[test]
fn a_router_that_asked_once() {
    let mut known = asked(1400);
    let again = |known: &mut SegmentSize, len, mss| known.again(len, mss, Sight::Sent);
    assert_eq!((again(&mut known, 1348, 1448), again(&mut known, 1348, 1448)), (Some(1348), None));
    let at = |n: u64| Time(1_000_000_000 + n * 10_000);
    assert_eq!((known.sees(1348, at(0), 1348), known.sees(1448, at(1), 1348)), (None, Some(1448)));
}

/// New data shows it, too.
#[test]
fn new_data_since_a_router_asked() {
    let mut known = asked(1400);
    let at = |n: u64| Time(1_000_000_000 + n * 10_000);
    assert_eq!((known.sees(14_480, at(0), 1448), known.sees(3000, at(1), 1448)), (None, None));
    assert_eq!(known.sees(11 * 1348, at(2), 1448), Some(1348));
}
