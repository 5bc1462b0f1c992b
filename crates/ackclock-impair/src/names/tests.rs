use std::time::Instant;

use super::*;

#[test]
fn a_silent_resolver_is_waited_for_no_longer() {
    let begin = Instant::now();
    let silent = || {
        thread::sleep(Duration::from_secs(5));
        Ok(())
    };
    let error = within(Duration::from_millis(200), silent).unwrap_err();
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert_eq!(error.to_string(), "the resolver has not answered for 0.2 s");
}

#[test]
fn addresses_and_names_are_found() {
    let address = "[::1]:80".parse().unwrap();
    assert_eq!(addresses("[::1]:80").unwrap(), [address]);
    let all = addresses("localhost:80").unwrap();
    assert!(all.iter().all(|address| address.ip().is_loopback() && address.port() == 80));
    assert!(!all.is_empty());
    assert_eq!(addresses("localhost").unwrap_err().kind(), ErrorKind::InvalidInput);
}
