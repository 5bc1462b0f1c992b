use super::*;

/// Both ways are apart, whoever begins. A path is forgotten with
/// its last connection.
#[test]
fn shared_by_hosts() {
    let mut paths = Paths::default();
    let [one, other]: [IpAddr; 2] = ["192.0.2.2", "192.0.2.1"].map(|ip| ip.parse().unwrap());
    let [there, back] = paths.of(one, other);
    let [back_too, there_too] = paths.of(other, one);
    there.outstanding(0, 700);
    assert_eq!(there_too.flight(Time::ZERO), 700);
    back_too.outstanding(0, 50);
    back_too.outstanding(50, 20);
    assert_eq!((there.delivered(30), there_too.delivered(12), back.delivered(0)), (30, 42, 0));
    assert_eq!([there, back].map(|path| path.flight(Time::ZERO)), [700, 20]);
    paths.left([one, other]);
    assert_eq!(paths.0.len(), 1);
    drop((there_too, back_too));
    paths.left([one, other]);
    assert_eq!(paths.0.len(), 0);
}
