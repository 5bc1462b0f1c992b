//! Bundles of segments as Linux makes them: `tcp_write_xmit`, `tcp_tso_autosize`,
//! `tcp_tso_should_defer`, `forced_push`.

use super::*;

/// A sender, and what it sends: `0 1p` for two segments, the second one with PSH.
struct Bundles(Sender);

impl Bundles {
    /// Ten segments at first after a round trip of so many microseconds.
    fn new(rtt: u64) -> Bundles {
        Bundles::with(rtt, SenderConfig { initial_rwnd: 1 << 20, ..window(10) })
    }

    fn with(rtt: u64, config: SenderConfig) -> Bundles {
        let strategy = Registry::default().parse("linux+linux-reno+linux-tso").unwrap().build();
        let handshake_rtt = Some(Span::from_micros(rtt));
        Bundles(Sender::new(SenderConfig { handshake_rtt, wscale: 7, ..config }, strategy))
    }

    fn drain(&mut self, now: Time) -> String {
        let mut sent = Vec::new();
        while let Some(t) = self.0.poll_transmit(now) {
            let mut text = format!("{}", t.position / MSS);
            if !t.position.is_multiple_of(MSS) || u64::from(t.segment.len) != MSS {
                text += &format!("({})", t.segment.len);
            }
            text += &"'".repeat(t.transmission.saturating_sub(1) as usize);
            text += if t.segment.flags.psh() { "p" } else { "" };
            sent.push(text);
        }
        sent.join(" ")
    }

    fn write(&mut self, us: u64, segments: u64) -> String {
        let now = Time(us * 1000);
        self.0.write(now, segments * MSS);
        self.drain(now)
    }

    fn ack(&mut self, us: u64, n: u64) -> String {
        self.sack(us, n, &[])
    }

    fn sack(&mut self, us: u64, n: u64, blocks: &[(u64, u64)]) -> String {
        let at = |n: u64| Seq((n * MSS) as u32);
        let mut sack = SackBlocks::NONE;
        for &(left, right) in blocks {
            sack.push(SackBlock { left: at(left), right: at(right) });
        }
        let now = Time(us * 1000);
        self.0.on_segment(now, &Segment { ack: at(n), wnd: 8192, sack, ..Segment::default() });
        self.drain(now)
    }

    fn fire(&mut self) -> String {
        let now = self.0.next_deadline();
        self.0.on_deadline(now);
        self.drain(now)
    }
}

/// A bundle holds what the path takes in about a millisecond, more on a short path, at least two
/// segments and half of cwnd at most.
#[test]
fn how_long_a_bundle_is() {
    assert_eq!(Bundles::new(100_000).write(0, 99), "0 1p 2 3p 4 5p 6 7p 8 9p");
    // 10 * 1000 * 2 bytes in 5 ms are 3906 in 1/1024 s; 65215 / 2^9 more: four segments.
    assert_eq!(Bundles::new(5_000).write(0, 99), "0 1 2 3p 4 5 6 7p 8 9p");
    // 65215 / 2^2 alone are 16.
    assert_eq!(Bundles::new(1_100).write(0, 99), "0 1 2 3 4p 5 6 7 8 9p");
    // In congestion avoidance 120 %: 2343 and 127 bytes.
    let slow = SenderConfig { initial_ssthresh: Some(10 * MSS), ..window(10) };
    assert_eq!(Bundles::with(5_000, slow).write(0, 99), "0 1p 2 3p 4 5p 6 7p 8 9p");
}

/// A lone segment waits for the next ACK if that is expected within a millisecond, and if another
/// segment left within the last one.
#[test]
fn a_lone_segment_waits_for_the_next_ack() {
    let four = SenderConfig {
        initial_window: Some(4),
        initial_ssthresh: Some(4 * MSS),
        initial_rwnd: 1 << 20,
        ..config()
    };
    let mut x = Bundles::with(100_000, four.clone());
    assert_eq!(x.write(0, 50), "0 1p 2 3p");
    // Nothing has left for 100 ms.
    assert_eq!(x.ack(100_000, 1), "4");
    assert_eq!(x.ack(100_200, 2), "");
    assert_eq!(x.ack(100_400, 3), "5 6p");
    assert_eq!(x.ack(100_600, 4), "7 8p");
    // The next one acknowledges segment 5: in 99 ms.
    assert_eq!(x.ack(100_800, 5), "9");
    // It does not leave on a call without reason.
    let mut x = Bundles::with(100_000, four.clone());
    assert_eq!(x.write(0, 50), "0 1p 2 3p");
    assert_eq!(x.ack(100_000, 1), "4");
    assert_eq!(x.ack(100_200, 2), "");
    let later = Time(103_000_000);
    x.0.on_deadline(later);
    assert_eq!(x.drain(later), "");
    // An ACK more than a millisecond later finds nothing that left shortly before.
    let mut x = Bundles::with(100_000, four);
    assert_eq!(x.write(0, 50), "0 1p 2 3p");
    assert_eq!(x.ack(100_000, 1), "4");
    assert_eq!(x.ack(101_001, 2), "5");
}

/// The end of what was written waits too, as more may be written; a FIN says that nothing will.
#[test]
fn a_fin_does_not_wait() {
    for fin in [false, true] {
        let mut x = Bundles::new(1_100);
        assert_eq!(x.write(0, 7), "0 1 2 3 4p 5 6p");
        if fin {
            x.0.close_with_fin(Time(600_000));
        }
        // Three segments have room, less than a third of the window. The ACK of the first one is
        // due in 0.5 ms.
        assert_eq!(x.write(600, 2), if fin { "7 8p" } else { "" });
    }
}

/// Within recovery nothing waits.
#[test]
fn recovery_waits_for_nothing() {
    let mut x = Bundles::new(100_000);
    assert_eq!(x.write(0, 99), "0 1p 2 3p 4 5p 6 7p 8 9p");
    assert_eq!(x.sack(100_000, 0, &[(1, 2)]), "10");
    // With SACKs alone it does.
    assert_eq!(x.sack(100_100, 0, &[(1, 3)]), "");
    assert_eq!(x.sack(100_200, 0, &[(1, 4)]), "0'");
    assert_eq!(x.sack(100_300, 0, &[(1, 5)]), "");
    assert_eq!(x.sack(100_400, 0, &[(1, 6)]), "11");
}

/// What one bundle had goes again as one, as far as it is lost and cwnd has room.
#[test]
fn a_bundle_goes_again_together() {
    let mut x = Bundles::new(100_000);
    assert_eq!(x.write(0, 10), "0 1p 2 3p 4 5p 6 7p 8 9p");
    assert_eq!(x.sack(100_000, 2, &[(4, 10)]), "2' 3'p");
    let mut x = Bundles::new(100_000);
    assert_eq!(x.write(0, 10), "0 1p 2 3p 4 5p 6 7p 8 9p");
    assert_eq!(x.sack(100_000, 1, &[(2, 3), (4, 10)]), "1' 3'");
    // A probe has one segment, with PSH where the application had ended.
    let mut x = Bundles::new(100_000);
    assert_eq!(x.write(0, 4), "0 1p 2 3p");
    assert_eq!(x.fire(), "3'p");
}

/// A buffer holds half of the largest window. What leaves while the application writes makes room
/// in it, and one that is full has PSH where more than half of the window was written since.
#[test]
fn a_full_buffer_has_psh() {
    let small = SenderConfig { initial_rwnd: 20_000, initial_ssthresh: Some(8 * MSS), ..window(8) };
    let mut x = Bundles::with(100_000, small);
    // 10 segments are no more than half of the window; 12, after two have left, are.
    assert_eq!(x.write(0, 45), "0 1p 2 3p 4 5p 6 7p");
    let mut lone = Vec::new();
    for n in 1..=35 {
        lone.push(x.ack(100_000 + n * 10_000, n));
    }
    // That buffer goes from 8 to 18 in the end and keeps its PSH. The one to 28 has it, 16 segments
    // after 12, and the one to 38 does not, 10 after 28.
    lone.retain(|s| s.ends_with('p') && !s.contains(' '));
    assert_eq!(lone, ["17p", "27p", "44p"]);
}

/// All of a buffer that has PSH leaves before the application goes on, a lone segment too.
#[test]
fn a_push_empties_the_buffer() {
    let small = SenderConfig { initial_rwnd: 14_998, ..window(10) };
    // Seven segments, and nine after two have left: then eight is alone.
    assert_eq!(Bundles::with(100_000, small).write(0, 30), "0 1p 2 3p 4 5p 6 7p 8p 9");
}

/// The rest of a window goes with the segments before it.
#[test]
fn a_bundle_may_end_with_the_window() {
    let small = SenderConfig { initial_rwnd: 9_500, ..window(12) };
    let sent = "0 1p 2 3p 4 5p 6 7p 8 9(500)p";
    assert_eq!(Bundles::with(100_000, small).write(0, 20), sent);
}

/// A write while segments wait fills their buffer up.
#[test]
fn a_later_write_joins_what_waits() {
    let mut x = Bundles::new(100_000);
    assert_eq!(x.write(0, 11), "0 1p 2 3p 4 5p 6 7p 8 9p");
    assert_eq!(x.write(10, 3), "");
    assert_eq!(x.ack(100_000, 1), "10 11p");
    assert_eq!(x.ack(100_100, 2), "12 13p");
}

/// A millisecond after the last segment the next one still waits, and not a microsecond later
/// (`tcp_tso_should_defer`: `delta > 0`).
#[test]
fn a_millisecond_is_recent() {
    for (us, sent) in [(101_000, ""), (101_001, "5")] {
        let four = SenderConfig {
            initial_window: Some(4),
            initial_ssthresh: Some(4 * MSS),
            initial_rwnd: 1 << 20,
            ..config()
        };
        let mut x = Bundles::with(100_000, four);
        assert_eq!(x.write(0, 50), "0 1p 2 3p");
        assert_eq!(x.ack(100_000, 1), "4");
        assert_eq!(x.ack(us, 2), sent, "{us}");
    }
}

/// On a path of less than 2 ms the next ACK is waited for if it is expected within half a round
/// trip (`srtt_in_ns >> 1`).
#[test]
fn on_a_short_path_half_a_round_trip_is_soon() {
    for (us, sent) in [(299, "7 8p"), (300, "")] {
        let mut x = Bundles::new(600);
        assert_eq!(x.write(0, 7), "0 1 2 3 4p 5 6p");
        assert_eq!(x.write(us, 2), sent, "{us}");
    }
}

/// A FIN does not let go what the receiver's window holds back of its buffer: the window ends it
/// first (`is_rwnd_limited`).
#[test]
fn a_fin_waits_where_the_window_ends_before_it() {
    for fin in [false, true] {
        let config = SenderConfig { initial_rwnd: 10_000, ..window(20) };
        let mut x = Bundles::with(1_100, config);
        assert_eq!(x.write(0, 7), "0 1 2 3 4p 5 6p");
        if fin {
            x.0.close_with_fin(Time(600_000));
        }
        // Three segments have room in the window, less than a third of it.
        assert_eq!(x.write(600, 5), "", "{fin}");
    }
}
