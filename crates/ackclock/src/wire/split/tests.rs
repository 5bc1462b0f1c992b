use super::*;

fn split(parts: &[&str]) -> Split {
    let args: Vec<SplitArg> = parts.iter().map(|text| text.parse().unwrap()).collect();
    Split::new(&args, &Registry::default()).unwrap()
}

fn of(split: &Split, client: &str) -> Option<usize> {
    split.of(client.parse().unwrap())
}

#[test]
fn a_prefix_goes_before_a_share_and_a_longer_one_before_a_shorter() {
    let split = split(&["sack=100%", "prr=10.1.2.3/8", "reno=10.9.0.0/16", "fack=2001:db8::/32"]);
    let names: Vec<&str> = split.strategies().map(Composition::name).collect();
    assert_eq!(names, ["sack", "prr", "reno", "fack"]);
    assert_eq!(of(&split, "10.9.1.1:5"), Some(2));
    assert_eq!(of(&split, "10.8.1.1:5"), Some(1));
    assert_eq!(of(&split, "11.9.1.1:5"), Some(0));
    assert_eq!(of(&split, "[2001:db8:1::1]:5"), Some(3));
    assert_eq!(of(&split, "[2001:db9::1]:5"), Some(0));
    let other_order = ["reno=10.9.0.0/16", "prr=10.0.0.0/8", "fack=10.9.1.1/32"];
    let other_order = self::split(&other_order);
    assert_eq!(of(&other_order, "10.9.1.2:5"), Some(0));
    assert_eq!(of(&other_order, "10.8.1.1:5"), Some(1));
    assert_eq!(of(&other_order, "10.9.1.1:5"), Some(2));
    assert_eq!(Split::default().of("10.0.0.1:5".parse().unwrap()), None);
}

#[test]
fn shares_are_of_connections_and_always_the_same() {
    // The first output of SplitMix64 seeded with 0, from its authors' code.
    assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    let split = split(&["prr=10%", "sack=25%"]);
    let mut counts = [0; 3];
    for port in 0..=u16::MAX {
        let client = SocketAddr::new([10, 0, 0, 1].into(), port);
        assert_eq!(split.of(client), split.of(client));
        counts[split.of(client).unwrap_or(2)] += 1;
    }
    // Of 65,536 connections, within four standard deviations: 4 sqrt(n p (1 - p)).
    for (count, share, four) in
        [(counts[0], 0.1, 308.0), (counts[1], 0.25, 444.0), (counts[2], 0.65, 489.0)]
    {
        assert!((f64::from(count) - 65_536.0 * share).abs() < four, "{counts:?}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let wrong = |text: &str| text.parse::<SplitArg>().unwrap_err();
    assert!(wrong("prr").contains("prr=10%"));
    assert!(wrong("prr=0%").contains("above 0%"), "{}", wrong("prr=0%"));
    for text in ["prr=half", "prr=10.0.0.0/33", "prr=x%"] {
        assert!(wrong(text).contains("neither a share"), "{text}");
    }
    let refused = |parts: [&str; 2]| {
        let args = parts.map(|text| text.parse().unwrap());
        Split::new(&args, &Registry::default()).err().unwrap().to_string()
    };
    let error = refused(["prr=60%", "sack=50%"]);
    assert!(error.contains("more than 100%"), "{error}");
    // One prefix, written in two ways.
    assert_eq!(
        refused(["prr=10.1.2.3/8", "sack=10.0.0.0/8"]),
        "--split sack: `sack` and `prr` both have 10.0.0.0/8; give it to one"
    );
}
