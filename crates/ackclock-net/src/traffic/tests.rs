use super::*;

fn write(bytes: u64, next: u64) -> Write {
    Write { bytes, last: false, next }
}

#[test]
fn on_off_writes_at_its_rate_and_then_is_silent() {
    // 100 bytes at 800 kb/s: one write a millisecond; 3 ms on, 10 ms off.
    let config = OnOff {
        on: Dwell::Constant(Span::from_millis(3)),
        off: Dwell::Constant(Span::from_millis(10)),
        rate: 800_000,
        write: 100,
    };
    let mut writer = Writer::new(Source::OnOff(config), 0, || Rng::new(1, "x"));
    assert_eq!((writer.first(5), writer.total()), (5, u64::MAX));
    assert_eq!(writer.write(0), write(100, 1_000_000));
    assert_eq!(writer.write(1_000_000), write(100, 2_000_000));
    assert_eq!(writer.write(2_000_000), write(100, 13_000_000));
    assert_eq!(writer.write(13_000_000), write(100, 14_000_000));
}

#[test]
fn a_stalling_application_writes_at_its_times() {
    let writes =
        vec![TimedWrite { after: Span(5), bytes: 10 }, TimedWrite { after: Span(25), bytes: 20 }];
    let mut writer = Writer::new(Source::Stalls(writes), 100, || Rng::new(1, "x"));
    assert_eq!((writer.first(100), writer.total()), (105, 30));
    assert_eq!(writer.write(105), write(10, 125));
    assert_eq!(writer.write(125), Write { bytes: 20, last: true, next: u64::MAX });
}

#[test]
fn a_fixed_source_writes_once() {
    let mut writer = Writer::new(Source::Fixed(7), 0, || Rng::new(1, "x"));
    assert_eq!(writer.total(), 7);
    assert_eq!(writer.write(0), Write { bytes: 7, last: true, next: u64::MAX });
    assert_eq!(Writer::new(Source::Bulk, 0, || Rng::new(1, "x")).total(), u64::MAX);
}
