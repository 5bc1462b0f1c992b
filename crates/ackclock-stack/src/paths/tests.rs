use super::*;

#[test]
fn it_forgets_after_ten_minutes_and_what_came_first() {
    let paths = PathMtus::default();
    let address = |n: u32| IpAddr::from(n.to_be_bytes());
    paths.learn(Time::ZERO, address(0), 1000);
    let until = Time(600_000_000_000);
    assert_eq!(paths.mtu(Time(599_999_999_999), address(0), 1500), (1000, Some(until)));
    assert_eq!(paths.mtu(until, address(0), 1500), (1500, None));
    assert_eq!(paths.mtu(Time::ZERO, address(0), 900), (900, None));
    for n in 1..=1024 {
        paths.learn(Time::ZERO, address(n), 1000);
    }
    assert_eq!(paths.mtu(Time::ZERO, address(0), 1500), (1500, None));
    assert_eq!(paths.mtu(Time::ZERO, address(1), 1500), (1000, Some(until)));
    let kept = paths.paths();
    assert_eq!((kept.mtus.len(), kept.order.len()), (1024, 1024));
}
