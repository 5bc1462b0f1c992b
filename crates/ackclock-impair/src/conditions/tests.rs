use super::*;

fn simple(text: &str) -> Result<Conditions, Error> {
    let mut simple = Simple::default();
    for option in text.split_whitespace() {
        let (key, value) = option.split_once('=').unwrap();
        match key {
            "rate" => simple.rate = Some(value.parse().unwrap()),
            "loss" => simple.loss = Some(value.parse().unwrap()),
            "burst" => simple.burst = Some(value.parse().unwrap()),
            "queue" => simple.queue = Some(value.parse().unwrap()),
            other => panic!("{other}"),
        }
    }
    Conditions::simple(&simple, 1)
}

/// A burst of 4 ends after each packet with 1/4. Of all packets 20 % are in bursts: for each one in
/// four there are, p / (p + 1/4) = 1/5, so p = 1/16.
#[test]
fn bursts_have_their_mean_length_and_share() {
    let Loss::GilbertElliott(model) = bursts(0.2, 4.0).unwrap() else { panic!() };
    assert_eq!((model.p.get(), model.r.get()), (0.0625, 0.25));
    assert_eq!((model.loss_good.get(), model.loss_bad), (0.0, None));
}

#[test]
fn settings_that_make_no_sense_are_errors() {
    for (text, expected) in [
        ("rate=0bit", "--rate: 0 lets nothing pass; leave it out for no limit"),
        ("queue=5", "--queue: nothing waits without a rate"),
        ("burst=3", "--burst: needs a loss, the share that is lost"),
        (
            "loss=10% burst=0.5",
            "--burst: 0.5 packets in a row cannot be 10% of all; a burst has at least 1 packet, and \
             between two of them at least one arrives",
        ),
    ] {
        assert_eq!(simple(text).unwrap_err().to_string(), expected, "{text}");
    }
    assert!(simple("rate=1mbit loss=90% burst=20 queue=5").is_ok());
    assert!(simple("loss=100% burst=2").is_err());
}

#[test]
fn late_packets_have_a_share_and_a_time() {
    let late = |text: &str| text.parse::<Late>();
    let [ten, five] = ["10ms", "5ms"].map(|time| time.parse().unwrap());
    let p = Probability::new(0.01).unwrap();
    assert_eq!(late("1%"), Ok(Late { p, by: ten }));
    assert_eq!(late("1%:5ms"), Ok(Late { p, by: five }));
    assert!(late("1%:5").unwrap_err().contains("as in 1%:20ms"));
}

#[test]
fn nodes_and_keys_that_are_not_there_are_named() {
    let text = "duration = \"1s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1mbit\"\ndelay = \"1ms\"\n";
    let read = |text: &str, client, server| {
        Conditions::from_toml(text, "x.toml", None, client, server, &Registry::default())
    };
    let error = |text: &str, client, server| read(text, client, server).unwrap_err().to_string();
    assert_eq!(
        error(text, None, Some("b")),
        "--client: there is no node `client`; x.toml has `a`, `b`: name the one that the clients \
         are at"
    );
    assert!(error(text, Some("a"), Some("c")).starts_with("--server: there is no node `c`"));
    assert!(error(&text.replace("rate", "rat"), None, None).starts_with("x.toml:5: "));
    let one_way = format!("{text}duplex = false\n");
    assert_eq!(
        error(&one_way, Some("a"), Some("b")),
        "x.toml: no links lead from `b` to `a`; connections need both ways"
    );
    let read = read(text, Some("a"), Some("b")).unwrap();
    assert_eq!(read.seed(), 1);
}
