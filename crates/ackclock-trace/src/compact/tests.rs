use super::*;

#[test]
fn missing_or_there() {
    let mut compact = Compact::<Span>::default();
    assert_eq!((compact.get(), compact.take()), (None, None));
    compact.set(Span::ZERO);
    assert_eq!(compact.get(), Some(Span::ZERO));
    assert_eq!((compact.take(), compact.get()), (Some(Span::ZERO), None));
    let at = Some(Time(u64::MAX - 1));
    assert_eq!(Compact::from(at).get(), at);
    assert_eq!(Compact::from(None::<u64>), Compact::default());
    assert_eq!(size_of::<Compact<u64>>(), 8);
}
