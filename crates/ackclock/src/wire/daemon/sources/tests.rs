use super::*;

fn account(address: &str) -> Account {
    Account::new(None, address.parse().unwrap())
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(1000 + ms)
}

#[test]
fn a_second_s_worth_at_once_then_one_each_interval() {
    let (mut sources, one) = (Sources::default(), account("10.0.0.1"));
    let limits = SourceLimits { connections: None, rate: Some(4) };
    // Four in a burst: the fifth would be due at 1.25 s after the first. One more each 250 ms.
    let mut admitted = |ms| sources.admit(at(ms), one, limits).is_ok();
    assert_eq!([0, 0, 0, 0, 0].map(&mut admitted), [true, true, true, true, false]);
    assert_eq!([249, 250, 499, 500, 500].map(&mut admitted), [false, true, false, true, false]);
    // A rest of a second and more earns no more than a second's worth.
    assert_eq!([5000; 5].map(&mut admitted), [true, true, true, true, false]);
    assert_eq!(sources.admit(at(5000), one, limits), Err(TooMany::Rate(4)));
    // One, three and one in the bursts above, and this.
    assert_eq!(sources.refused, [0, 6]);
    // Its connections may end: the rate is remembered for the second that it holds.
    (0..10).for_each(|_| sources.leave(one));
    sources.sweep(at(5999));
    assert_eq!(sources.sources.len(), 1);
    sources.sweep(at(6000));
    assert_eq!(sources.sources.len(), 0);
}

#[test]
fn a_64_prefix_is_one_source_and_what_is_open_counts() {
    let mut sources = Sources::default();
    let limits = SourceLimits { connections: Some(2), rate: None };
    let mut admit = |text| sources.admit(at(0), account(text), limits);
    assert_eq!((admit("2001:db8::1"), admit("2001:db8::2:3")), (Ok(()), Ok(())));
    assert_eq!(admit("2001:db8::4"), Err(TooMany::Connections(2)));
    assert_eq!(admit("2001:db8:0:1::1"), Ok(()));
    sources.leave(account("2001:db8::1"));
    sources.sweep(at(0));
    assert_eq!(sources.admit(at(0), account("2001:db8::5"), limits), Ok(()));
    assert_eq!(sources.refused, [1, 0]);
}

/// A listener with one limit of its own has the other one of the options, and counts for itself.
#[test]
fn a_listener_with_limits_of_its_own_counts_for_itself() {
    let all = SourceLimits { connections: Some(2), rate: Some(10) };
    let listener = "10.77.0.2:80".parse().unwrap();
    assert_eq!(all.at(listener, SourceLimits::default()), (None, all));
    let own = SourceLimits { connections: Some(1), rate: None };
    let limits = SourceLimits { connections: Some(1), rate: Some(10) };
    assert_eq!(all.at(listener, own), (Some(listener), limits));
    let mut sources = Sources::default();
    let address = "10.0.0.1".parse().unwrap();
    let mut admit =
        |listener, limits| sources.admit(at(0), Account::new(listener, address), limits);
    assert_eq!([admit(None, all), admit(Some(listener), limits)], [Ok(()), Ok(())]);
    assert_eq!(admit(Some(listener), limits), Err(TooMany::Connections(1)));
    assert_eq!([admit(None, all), admit(None, all)], [Ok(()), Err(TooMany::Connections(2))]);
}
