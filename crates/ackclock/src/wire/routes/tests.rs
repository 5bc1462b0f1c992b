use ackclock_tcp::{Composition, Registry};

use super::{LookUps, Ordering, read, resolve};

fn routes(text: &str) -> Result<Vec<String>, String> {
    let (process, thread) = (std::process::id(), std::thread::current().id());
    let path = std::env::temp_dir().join(format!("ackclock-routes-{process}-{thread:?}"));
    std::fs::write(&path, text).unwrap();
    let own = ["10.77.0.2/24".parse().unwrap(), "fd00::2/64".parse().unwrap()];
    let listeners = read(&path, &Registry::default(), &own, &LookUps::default())
        .map_err(|e| e.to_string().replace(path.to_str().unwrap(), "F"))?;
    let mut shown: Vec<_> = listeners
        .routes
        .iter()
        .map(|(listen, r)| format!("{listen} {:?} {:?} {:?}", r.to, r.proxy_protocol, r.own.ecn))
        .collect();
    shown.extend(listeners.split.strategies().map(Composition::name).map(String::from));
    Ok(shown)
}

#[test]
fn what_asks_nobody_is_no_look_up() {
    let look_ups = LookUps::default();
    for (to, failed) in [("127.0.0.1:nine", 0), ("127.0.0.1", 0), ("nobody.invalid:80", 1)] {
        assert!(resolve(to, &[], &look_ups).is_err());
        assert_eq!(look_ups.failed.load(Ordering::Relaxed), failed, "{to}");
    }
}

#[test]
fn a_value_of_another_type_is_answered_with_what_would_be_right() {
    let one = "[[listener]]\nlisten = \"10.77.0.2:80\"\nto = \"127.0.0.1:8080\"\n";
    for (text, expected) in [
        (
            one.replace("\"10.77.0.2:80\"", "80"),
            "F:2: listener[0].listen: invalid type: integer `80`, expected an address and a \
             port such as \"10.77.0.2:80\"",
        ),
        (
            format!("{one}transparent = \"yes\"\n"),
            "F:4: listener[0].transparent: invalid type: string \"yes\", expected true or false",
        ),
        (
            one.replace("[[listener]]", "[listener]"),
            "F:1: listener: there may be several of these; write `[[listener]]`",
        ),
        (
            format!("{one}to = \"127.0.0.1:1\"\n"),
            "F:4: this key is set already; leave one of the two out",
        ),
    ] {
        assert_eq!(routes(&text).unwrap_err(), expected);
    }
}

#[test]
fn a_file_has_a_route_for_each_listener_and_errors_name_the_line() {
    let two = "[[listener]]\nlisten = \"10.77.0.2:80\"\nto = \"127.0.0.1:8080\"\n\
        [[listener]]\nlisten = \"[fd00::2]:81\"\nto = \"[::1]:1\"\nproxy_protocol = \"v2\"\necn = \"off\"\n";
    assert_eq!(
        routes(two).unwrap(),
        ["10.77.0.2:80 [127.0.0.1:8080] None None", "[fd00::2]:81 [[::1]:1] Some(V2) Some(Off)"]
    );
    let wrong = |from: &str, to: &str| routes(&two.replace(from, to)).unwrap_err();
    let text = wrong("[fd00::2]:81", "10.77.0.2:80");
    assert!(text.starts_with("F:5: ") && text.contains("another listener"), "{text}");
    let text = wrong("[fd00::2]:81", "0.0.0.0:80");
    assert!(text.starts_with("F:5: ") && text.contains("another listener"), "{text}");
    let text = wrong("[fd00::2]:81", "[fd00::3]:81");
    let all = "--addr gives it 10.77.0.2 and fd00::2";
    assert!(text.starts_with("F:5: ") && text.contains(all), "{text}");
    assert!(routes(&two.replace("[fd00::2]:81", "0.0.0.0:81")).is_ok());
    assert!(routes(&two.replace("[fd00::2]:81", "[::]:80")).is_ok());
    let text = routes("listener = []\n").unwrap_err();
    assert!(text.starts_with("F:1: ") && text.contains("[[listener]]"), "{text}");
    let text = wrong("v2", "v3");
    assert!(text.starts_with("F:7: "), "{text}");
    for other in ["on", "ask"] {
        let text = wrong("off", other);
        assert!(text.starts_with("F:8: ") && text.contains("accept"), "{text}");
    }
    let text = wrong("ecn = \"off\"", "keep_alive = \"on\"");
    assert!(text.starts_with("F:8: ") && text.contains("neither `off` nor a time"), "{text}");
    assert!(routes(&two.replace("ecn", "keep_alive")).is_ok());
    assert!(routes(&two.replace("ecn = \"off\"", "transparent = true")).is_ok());
    for (key, part) in [
        ("strategy = \"oracle\"", "listener[1].strategy: "),
        ("max_per_source = 0", "listener[1].max_per_source: 0 is no limit; write a number from 1"),
        ("max_rate_per_source = 1_000_001", "write a number from 1 to 1000000"),
    ] {
        let text = wrong("ecn = \"off\"", key);
        assert!(text.starts_with("F:8: ") && text.contains(part), "{text}");
    }
    let text = wrong("127.0.0.1:8080", "nobody");
    assert!(text.starts_with("F:3: "), "{text}");
    let text = wrong("127.0.0.1:8080", "10.77.0.2:81");
    assert!(text.starts_with("F:3: ") && text.contains("of our own stack"), "{text}");
    for no_host in ["255.255.255.255", "224.0.0.1", "[ff02::1]"] {
        let text = wrong("127.0.0.1:8080", &format!("{no_host}:80"));
        assert!(text.starts_with("F:3: ") && text.contains("no host can have"), "{text}");
    }
    let text = wrong("127.0.0.1:8080", "127.0.0.1:0");
    assert!(text.starts_with("F:3: ") && text.contains("port 0"), "{text}");
    let text = wrong("[fd00::2]:81", "[fd00::2]:0");
    assert!(text.starts_with("F:5: ") && text.contains("port 0"), "{text}");
    let text = wrong("proxy_protocol", "protocol");
    assert!(text.contains("there is no key `protocol`"), "{text}");

    let split = "[[split]]\nstrategy = \"prr\"\nclients = \"10%\"\n";
    assert_eq!(routes(&format!("{two}{split}")).unwrap()[2..], ["prr"]);
    let wrong =
        |from: &str, to: &str| routes(&format!("{two}{}", split.replace(from, to))).unwrap_err();
    let text = wrong("10%", "half");
    assert!(text.starts_with("F:11: ") && text.contains("neither a share"), "{text}");
    let text = wrong("prr", "oracle");
    assert!(text.starts_with("F:10: "), "{text}");
    let prefix = split.replace("10%", "10.0.0.0/8");
    let text = routes(&format!("{two}{prefix}{}", prefix.replace("prr", "sack"))).unwrap_err();
    assert!(text.starts_with("F:14: ") && text.contains("`sack` and `prr` both"), "{text}");
}

/// It may be found later, and the others are served meanwhile.
#[test]
fn a_name_that_is_not_found_keeps_nothing_else_out() {
    let text = "[[listener]]\nlisten = \"10.77.0.2:80\"\nto = \"nobody.invalid:80\"\n\
        [[listener]]\nlisten = \"10.77.0.2:81\"\nto = \"127.0.0.1:8080\"\n";
    assert_eq!(
        routes(text).unwrap(),
        ["10.77.0.2:80 [] None None", "10.77.0.2:81 [127.0.0.1:8080] None None"]
    );
}

#[test]
fn nobody_connects_from_an_address_of_another_family() {
    let transparent = |listen: &str, to: &str| {
        routes(&format!("[[listener]]\nlisten = \"{listen}\"\nto = \"{to}\"\ntransparent = true\n"))
    };
    assert!(transparent("10.77.0.2:80", "127.0.0.1:1").is_ok());
    assert!(transparent("[fd00::2]:80", "[::1]:1").is_ok());
    assert_eq!(
        transparent("[fd00::2]:80", "127.0.0.1:1").unwrap_err(),
        "F:4: listener[0].transparent: clients of [fd00::2]:80 have IPv6, and the backend IPv4 \
         alone, so that none of them can connect from its own address; write a backend of the same \
         family, or have the PROXY protocol in its place"
    );
}
