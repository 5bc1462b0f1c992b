use super::*;

/// 1,500 bytes of IP packet over two links: 12 ms at 1 Mbit/s, 1.2 ms at 10 Mbit/s, and 30 ms on
/// the way.
#[test]
fn what_a_segment_takes_without_a_queue() {
    let text = "duration = '1s'\n[tcp]\nmss = 1448\ntimestamps = true\n\
                [[link]]\nfrom = 'b'\nto = 'c'\nrate = '10mbit'\ndelay = '20ms'\n\
                [[link]]\nfrom = 'a'\nto = 'b'\nrate = '1mbit'\ndelay = '10ms'\n\
                [[flow]]\nfrom = 'a'\nto = 'c'\n";
    let scenario =
        Scenario::from_toml(text, &Registry::default()).unwrap_or_else(|e| panic!("{e}"));
    let ms = 1e3 * unqueued_s(&scenario);
    assert!((ms - 43.2).abs() < 1e-9, "{ms}");
}
