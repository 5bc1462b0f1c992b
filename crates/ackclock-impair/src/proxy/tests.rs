use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::thread;
use std::time::Instant;

use ackclock_tcp::Time;

use super::*;
use crate::Simple;

/// All 32,768 ports on the links are taken: two by connections in TIME-WAIT, for 10 s, the
/// others by some that hear nothing. A client waits for one of the two, and is not turned away.
/// One that resets while it waits gets none.
#[test]
fn a_client_waits_for_a_port() {
    let config = ProxyConfig::new(
        vec!["127.0.0.1:0".parse().unwrap()],
        vec!["127.0.0.1:1".parse().unwrap()],
    );
    let mut path = Path::new(&config, &[]).unwrap();
    for _ in 0..2 {
        let first = path.connect().unwrap();
        path.flush();
        path.advance(Time(1));
        let other = path.accept().unwrap();
        for end in [first, other] {
            path.close(end);
            path.flush();
            path.advance(Time(2));
        }
    }
    let loss = Simple { loss: Some("100%".parse().unwrap()), ..Simple::default() };
    path.set(0, Some(&Conditions::simple(&loss, 1).unwrap())).unwrap();
    assert!((2..32_768).all(|_| path.connect().is_ok()));
    assert!(path.connect().is_err());

    let begin = Instant::now();
    let proxy = Proxy::start_on(&config, path).unwrap();
    let gone = TcpStream::connect(proxy.addresses()[0]).unwrap();
    let mut client = TcpStream::connect(proxy.addresses()[0]).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let kind = client.read(&mut [0]).unwrap_err().kind();
    assert!(matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut), "{kind}");
    assert_eq!(proxy.report().unwrap().accepted, 0);
    Socket::from(gone).set_linger(Some(Duration::ZERO)).unwrap();
    while proxy.report().unwrap().accepted == 0 {
        assert!(begin.elapsed() < Duration::from_secs(30));
        thread::sleep(Duration::from_millis(50));
    }
    assert!(begin.elapsed() >= Duration::from_secs(9));
    thread::sleep(Duration::from_millis(500));
    assert_eq!(proxy.report().unwrap().accepted, 1);
}

/// However long it may last, it ends with the last client: here there is none.
#[test]
fn the_longest_drain_ends_too() {
    let address = vec!["127.0.0.1:0".parse().unwrap()];
    let proxy = Proxy::start(&ProxyConfig::new(address.clone(), address), &[]).unwrap();
    assert_eq!(proxy.finish(Duration::MAX).unwrap().accepted, 0);
}
