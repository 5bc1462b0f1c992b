use super::*;

#[test]
fn it_forgets_after_ten_minutes_and_what_came_first() {
    let paths = PathMtus::default();
    let address = |n: u32| IpAddr::from(n.to_be_bytes());
    paths.learn(Time::ZERO, address(0), 1000);
    assert_eq!(paths.mtu(Time(599_999_999_999), address(0), 1500), 1000);
    assert_eq!(paths.mtu(Time(600_000_000_000), address(0), 1500), 1500);
    assert_eq!(paths.mtu(Time::ZERO, address(0), 900), 900);
    for n in 1..=1024 {
        paths.learn(Time::ZERO, address(n), 1000);
    }
    assert_eq!(paths.mtu(Time::ZERO, address(0), 1500), 1500);
    assert_eq!(paths.mtu(Time::ZERO, address(1), 1500), 1000);
    let kept = paths.paths();
    assert_eq!((kept.mtus.len(), kept.order.len()), (1024, 1024));
}
