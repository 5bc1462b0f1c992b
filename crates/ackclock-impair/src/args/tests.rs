use super::*;

#[test]
fn nobody_notifies_a_sender_of_losses() {
    #[derive(clap::Parser)]
    struct Only {
        #[command(flatten)]
        args: ImpairArgs,
    }
    for strategy in ["oracle", "sack+oracle"] {
        let words = ["impair", "--api", "0", "--strategy", strategy];
        let Only { args } = clap::Parser::parse_from(words);
        let error = impair(&args, &Registry::default()).unwrap_err();
        let text = format!(
            "--strategy: `{strategy}` has to be notified of losses, which only a simulated \
             network does"
        );
        assert_eq!((error.to_string(), error.exit_code()), (text, 2));
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    #[derive(Debug, clap::Parser)]
    struct Only {
        #[command(flatten)]
        args: ImpairArgs,
    }
    let Only { args } = clap::Parser::parse_from(["impair", "--api", "127.0.0.1"]);
    let error = impair(&args, &Registry::default()).unwrap_err();
    let text = "--api 127.0.0.1: write a port such as 8474, or an address with one such as \
                127.0.0.1:8474";
    assert_eq!((error.to_string(), error.exit_code()), (text.into(), 2));
    let words = ["impair", "--api", "0", "--connect-timeout", "0s"];
    let error = <Only as clap::Parser>::try_parse_from(words).unwrap_err().to_string();
    assert!(error.contains("`0s` is no time; for hardly any limit write 1000000s"), "{error}");
}

#[test]
fn one_is_no_plural() {
    let report = ProxyReport { accepted: 1, bytes: [1, 1], ..ProxyReport::default() };
    let text = "1 connection, 0 reset, 0 not taken by the server; 1 byte up, 1 down; \
        0 packets, 0 lost\n";
    assert_eq!(line(&[report]), text);
}
