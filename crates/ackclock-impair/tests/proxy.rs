//! Proxies between real sockets.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use ackclock_impair::{Conditions, Proxy, ProxyConfig, ProxyReport, Simple};
use ackclock_tcp::Registry;
use socket2::{Domain, SockRef, Socket, Type};

fn localhost() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// A proxy before a server, with 2 ms each way and these losses.
fn start(to: SocketAddr, loss: &str) -> Proxy {
    let text = format!(
        "duration = \"1s\"\n[[link]]\nfrom = \"client\"\nto = \"server\"\nrate = \"200mbit\"\n\
         delay = \"2ms\"\nloss = [{loss}]\n"
    );
    let conditions =
        Conditions::from_toml(&text, "test", Some(1), None, None, &Registry::default()).unwrap();
    Proxy::start(&ProxyConfig::new(vec![localhost()], vec![to]), &[conditions]).unwrap()
}

fn server() -> (TcpListener, SocketAddr) {
    let server = TcpListener::bind(localhost()).unwrap();
    let address = server.local_addr().unwrap();
    (server, address)
}

fn connect(proxy: &Proxy) -> TcpStream {
    TcpStream::connect(proxy.addresses()[0]).unwrap()
}

fn bytes(len: usize, salt: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 31 + i / 251 + salt) as u8).collect()
}

fn finish(proxy: Proxy) -> ProxyReport {
    proxy.finish(Duration::from_secs(60)).unwrap()
}

/// Four clients send a megabyte each to a server that sends it back, and half-close. The server
/// answers only after it has seen the end.
#[test]
fn every_byte_arrives_under_loss_and_half_close_passes() {
    let (server, address) = server();
    let proxy = start(address, "{ bernoulli = { p = \"2%\", direction = \"both\" } }");
    let echo = thread::spawn(move || {
        for _ in 0..4 {
            let mut stream = server.accept().unwrap().0;
            thread::spawn(move || {
                let mut all = Vec::new();
                stream.read_to_end(&mut all).unwrap();
                stream.write_all(&all).unwrap();
            });
        }
    });
    let clients = [0, 1, 2, 3].map(|number| {
        let mut stream = connect(&proxy);
        thread::spawn(move || {
            let sent = bytes(1_000_000, number);
            stream.write_all(&sent).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            let mut received = Vec::new();
            stream.read_to_end(&mut received).unwrap();
            assert!(received == sent, "client {number} got other bytes");
        })
    });
    clients.into_iter().for_each(|client| client.join().unwrap());
    echo.join().unwrap();
    let report = finish(proxy);
    assert_eq!((report.accepted, report.reset, report.open), (4, 0, 0));
    assert_eq!(report.bytes, [4_000_000, 4_000_000]);
    assert!(report.links.iter().all(|link| link.counts.dropped_loss > 0), "{report:?}");
}

/// The lists are per connection: of each, the link loses the segments 3 and 5 once, both ways.
#[test]
fn listed_segments_are_lost_and_no_others() {
    let (server, address) = server();
    let proxy = start(address, "{ drop = { segments = [3, 5] } }");
    let client = connect(&proxy);
    let (mut there, mut here) = (server.accept().unwrap().0, client);
    here.write_all(&bytes(100_000, 0)).unwrap();
    let mut received = vec![0; 100_000];
    there.read_exact(&mut received).unwrap();
    assert!(received == bytes(100_000, 0));
    assert_eq!(proxy.report().unwrap().links[0].counts.dropped_loss, 2);
    assert_eq!(proxy.report().unwrap().links[1].counts.dropped_loss, 0);
}

#[test]
fn a_reset_of_the_server_reaches_the_client() {
    let (server, address) = server();
    let proxy = start(address, "");
    let mut client = connect(&proxy);
    let stream = server.accept().unwrap().0;
    client.write_all(b"x").unwrap();
    stream.peek(&mut [0]).unwrap();
    // Closed with bytes unread, a socket sends a reset.
    drop(stream);
    assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(finish(proxy).reset, 1);
}

#[test]
fn a_reset_of_the_client_reaches_the_server() {
    let (server, address) = server();
    let proxy = start(address, "");
    let client = connect(&proxy);
    let mut stream = server.accept().unwrap().0;
    stream.write_all(b"x").unwrap();
    client.peek(&mut [0]).unwrap();
    drop(client);
    assert_eq!(stream.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(finish(proxy).reset, 1);
}

/// Segments that a link loses once, of each connection; the last one lost is that before the end of
/// 30,000 bytes. A reset is never lost: nothing would repair that.
const LOST: &str = "{ drop = { segments = [3, 5, 20] } }";

/// Sends this much, and closes with a reset.
fn send_and_reset(mut stream: TcpStream, len: usize) {
    stream.write_all(&bytes(len, 0)).unwrap();
    SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
}

/// What reading comes to, and the error at its end.
fn read_to_error(stream: &mut TcpStream) -> (Vec<u8>, Option<ErrorKind>) {
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut received = Vec::new();
    let error = stream.read_to_end(&mut received).err().map(|error| error.kind());
    (received, error)
}

/// Without conditions and with losses: what was sent before a reset arrives before it. A server
/// that resets at once has often done so before the proxy looks whether it is connected.
#[test]
fn what_the_server_sent_before_its_reset_reaches_the_client() {
    for loss in ["", LOST] {
        let (server, address) = server();
        let proxy = match loss {
            "" => Proxy::start(&ProxyConfig::new(vec![localhost()], vec![address]), &[]).unwrap(),
            loss => start(address, loss),
        };
        let serving = thread::spawn(move || {
            (0..20).for_each(|_| send_and_reset(server.accept().unwrap().0, 30_000));
        });
        for _ in 0..20 {
            let (received, error) = read_to_error(&mut connect(&proxy));
            assert_eq!(received.len(), 30_000, "{loss}");
            assert!(received == bytes(30_000, 0));
            assert_eq!(error, Some(ErrorKind::ConnectionReset));
        }
        serving.join().unwrap();
        let report = finish(proxy);
        assert_eq!((report.accepted, report.reset, report.unreachable), (20, 20, 0), "{loss}");
        assert_eq!(report.bytes, [0, 600_000]);
    }
}

#[test]
fn what_a_client_sent_before_its_reset_reaches_the_server() {
    for loss in ["", LOST] {
        let (server, address) = server();
        let proxy = start(address, loss);
        let clients = [(); 20].map(|()| connect(&proxy));
        let sending = thread::spawn(move || clients.map(|client| send_and_reset(client, 30_000)));
        for _ in 0..20 {
            let (received, error) = read_to_error(&mut server.accept().unwrap().0);
            assert_eq!(received.len(), 30_000, "{loss}");
            assert!(received == bytes(30_000, 0));
            assert_eq!(error, Some(ErrorKind::ConnectionReset));
        }
        sending.join().unwrap();
        assert_eq!(finish(proxy).reset, 20);
    }
}

/// Both ways, and more than the system has under way to who reads late.
#[cfg(target_os = "linux")]
#[test]
fn what_one_side_sent_before_its_reset_waits_for_a_late_reader() {
    use rustix::event::{PollFd, PollFlags, poll};
    let (server, address) = server();
    let proxy = start(address, "");
    for turn in 0..10 {
        let mut sides = [connect(&proxy), server.accept().unwrap().0];
        sides.rotate_left(turn % 2);
        let [mut sender, mut reader] = sides;
        sender.write_all(&bytes(2_000_000, 0)).unwrap();
        // Its reset takes what has not left: it is writable again when everything has.
        SockRef::from(&sender).set_tcp_notsent_lowat(1).unwrap();
        poll(&mut [PollFd::new(&sender, PollFlags::OUT)], None).unwrap();
        SockRef::from(&sender).set_linger(Some(Duration::ZERO)).unwrap();
        drop(sender);
        thread::sleep(Duration::from_millis(300));
        let (received, error) = read_to_error(&mut reader);
        assert_eq!((received.len(), error), (2_000_000, Some(ErrorKind::ConnectionReset)));
        assert!(received == bytes(2_000_000, 0));
    }
    assert_eq!(finish(proxy).reset, 10);
}

/// What nobody reads of a connection that is reset does not keep it open for ever; both ways.
#[test]
fn a_reset_in_front_of_who_does_not_read_has_its_time() {
    let (server, address) = server();
    let rest_after_reset = Duration::from_secs(6);
    let config =
        ProxyConfig { rest_after_reset, ..ProxyConfig::new(vec![localhost()], vec![address]) };
    let proxy = Proxy::start(&config, &[]).unwrap();
    for turn in 0..2 {
        let mut sides = [connect(&proxy), server.accept().unwrap().0];
        sides.rotate_left(turn);
        let [mut sender, mut reader] = sides;
        sender.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
        assert!(sender.write_all(&bytes(100 << 20, 0)).is_err(), "it takes everything");
        SockRef::from(&sender).set_linger(Some(Duration::ZERO)).unwrap();
        drop(sender);
        let begin = Instant::now();
        while proxy.report().unwrap().open > 0 {
            // One time for both sides, and a second until it is looked at.
            assert!(begin.elapsed() < Duration::from_secs(11), "it stays open");
            thread::sleep(Duration::from_millis(20));
        }
        // It is looked at once a second, and had stood still before the reset.
        assert!(begin.elapsed() >= rest_after_reset / 2);
        let (received, error) = read_to_error(&mut reader);
        assert_eq!(error, Some(ErrorKind::ConnectionReset));
        assert!(received == bytes(received.len(), 0));
    }
    assert_eq!(finish(proxy).reset, 2);
}

/// A server that sends its end and then resets: the client hears of both, in this order.
#[test]
fn a_reset_behind_the_server_s_end_comes_after_all_bytes() {
    let (server, address) = server();
    let proxy = start(address, LOST);
    for _ in 0..10 {
        let mut client = connect(&proxy);
        let stream = server.accept().unwrap().0;
        let sender = stream.try_clone().unwrap();
        thread::spawn(move || {
            (&sender).write_all(&bytes(30_000, 0)).unwrap();
            sender.shutdown(Shutdown::Write).unwrap();
            SockRef::from(&sender).set_linger(Some(Duration::ZERO)).unwrap();
        });
        drop(stream);
        let (received, error) = read_to_error(&mut client);
        assert_eq!((received.len(), error), (30_000, None));
    }
    assert_eq!(finish(proxy).unreachable, 0);
}

/// A client that has sent its end and then resets is gone, although nobody reads from it any more.
#[test]
fn a_reset_behind_the_end_ends_the_connection() {
    let (server, address) = server();
    let proxy = start(address, "");
    let mut client = connect(&proxy);
    let mut stream = server.accept().unwrap().0;
    client.write_all(b"x").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    assert_eq!(received, b"x");
    // Closed with bytes unread, a socket sends a reset.
    stream.write_all(b"y").unwrap();
    client.peek(&mut [0]).unwrap();
    drop(client);
    let end = Instant::now() + Duration::from_secs(20);
    while proxy.report().unwrap().open > 0 {
        assert!(Instant::now() < end, "it stays open");
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(finish(proxy).reset, 1);
}

#[test]
fn a_client_is_reset_if_the_server_does_not_listen() {
    let (server, address) = server();
    drop(server);
    let proxy = start(address, "");
    let mut client = connect(&proxy);
    assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    let report = finish(proxy);
    assert_eq!((report.accepted, report.unreachable, report.reset), (1, 1, 1));
}

/// A server that does not answer: its queue is full, and the system drops what comes (listen(2)).
#[test]
fn a_client_is_reset_if_the_server_takes_too_long() {
    let server = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    server.bind(&localhost().into()).unwrap();
    server.listen(0).unwrap();
    let address = server.local_addr().unwrap().as_socket().unwrap();
    let filling = TcpStream::connect(address).unwrap();
    let conditions = Conditions::simple(&Simple::default(), 1).unwrap();
    let connect_timeout = Duration::from_millis(400);
    let config =
        ProxyConfig { connect_timeout, ..ProxyConfig::new(vec![localhost()], vec![address]) };
    let proxy = Proxy::start(&config, &[conditions]).unwrap();
    let begin = Instant::now();
    // The kernel takes the first one of them, too.
    let mut clients = [connect(&proxy), connect(&proxy), connect(&proxy)];
    let mut resets = 0;
    for client in &mut clients {
        client.set_read_timeout(Some(Duration::from_secs(4))).unwrap();
        match client.read(&mut [0]).unwrap_err().kind() {
            ErrorKind::ConnectionReset => resets += 1,
            kind => assert_eq!(kind, ErrorKind::WouldBlock),
        }
        assert!(begin.elapsed() >= Duration::from_millis(400));
    }
    let report = proxy.report().unwrap();
    assert!(resets >= 2, "{report:?}");
    assert_eq!((report.accepted, report.unreachable, report.reset), (3, resets, resets));
    drop(filling);
}

/// Nothing comes through the network: that takes too long, too.
#[test]
fn a_client_is_reset_if_the_way_to_the_server_takes_too_long() {
    let (_server, address) = server();
    let loss = Simple { loss: Some("100%".parse().unwrap()), ..Simple::default() };
    let connect_timeout = Duration::from_millis(400);
    let config =
        ProxyConfig { connect_timeout, ..ProxyConfig::new(vec![localhost()], vec![address]) };
    let proxy = Proxy::start(&config, &[Conditions::simple(&loss, 1).unwrap()]).unwrap();
    let begin = Instant::now();
    let mut client = connect(&proxy);
    assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert!(begin.elapsed() >= Duration::from_millis(400));
    let report = finish(proxy);
    assert_eq!((report.accepted, report.unreachable, report.reset), (1, 1, 1));
}

/// Each address of a server has its part of the time: a silent one does not keep from the others.
#[test]
fn the_second_address_is_tried_in_time() {
    let silent = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    silent.bind(&localhost().into()).unwrap();
    silent.listen(0).unwrap();
    let first = silent.local_addr().unwrap().as_socket().unwrap();
    // The kernel takes one or two, and drops what comes after them (listen(2)).
    let _filling = [(); 3].map(|()| {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_nonblocking(true).unwrap();
        let _ = socket.connect(&first.into());
        socket
    });
    let (server, second) = server();
    let config = ProxyConfig {
        connect_timeout: Duration::from_secs(4),
        ..ProxyConfig::new(vec![localhost()], vec![first, second])
    };
    let proxy = Proxy::start(&config, &[]).unwrap();
    let begin = Instant::now();
    let mut client = connect(&proxy);
    client.write_all(b"x").unwrap();
    let mut stream = server.accept().unwrap().0;
    stream.read_exact(&mut [0]).unwrap();
    assert!(begin.elapsed() >= Duration::from_secs(2));
    drop((client, stream));
    let report = finish(proxy);
    assert_eq!((report.accepted, report.unreachable, report.reset), (1, 0, 0));
}

/// The name of a server that is elsewhere by now is looked up again, and the clients that were
/// refused wait for that.
#[test]
fn a_server_that_has_moved_is_found_by_its_name() {
    let (server, address) = server();
    let gone = TcpListener::bind(localhost()).unwrap().local_addr().unwrap();
    let name = format!("localhost:{}", address.port());
    for (name, resets) in [(Some(name), 0), (None, 2)] {
        let config =
            ProxyConfig { server: name.clone(), ..ProxyConfig::new(vec![localhost()], vec![gone]) };
        let proxy = Proxy::start(&config, &[]).unwrap();
        let clients = [connect(&proxy), connect(&proxy)];
        for mut client in clients {
            match name {
                None => {
                    let error = client.read(&mut [0]).unwrap_err().kind();
                    assert_eq!(error, ErrorKind::ConnectionReset);
                }
                Some(_) => {
                    client.write_all(b"x").unwrap();
                    server.accept().unwrap().0.read_exact(&mut [0]).unwrap();
                }
            }
        }
        let report = finish(proxy);
        assert_eq!((report.accepted, report.unreachable, report.reset), (2, resets, resets));
    }
}

/// A name that leads nowhere is looked up for each client once, and then the client is reset.
#[test]
fn a_client_waits_for_one_look_up() {
    let gone = TcpListener::bind(localhost()).unwrap().local_addr().unwrap();
    for name in [format!("localhost:{}", gone.port()), "nowhere.invalid:80".into()] {
        let config =
            ProxyConfig { server: Some(name), ..ProxyConfig::new(vec![localhost()], vec![gone]) };
        let proxy = Proxy::start(&config, &[]).unwrap();
        let error = connect(&proxy).read(&mut [0]).unwrap_err().kind();
        assert_eq!(error, ErrorKind::ConnectionReset);
        assert_eq!(finish(proxy).unreachable, 1);
    }
}

/// Where the server does not read, the client is held up: what is under way is bounded.
#[test]
fn a_client_waits_for_a_server_that_does_not_read() {
    let (server, address) = server();
    let proxy = start(address, "");
    let mut client = connect(&proxy);
    let mut stream = server.accept().unwrap().0;
    client.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let chunk = bytes(1 << 20, 0);
    let mut sent = 0;
    let blocked = loop {
        match client.write(&chunk[sent % chunk.len()..]) {
            Ok(n) => sent += n,
            Err(error) => break error,
        }
        assert!(sent < 200 << 20, "it takes everything");
    };
    assert!(matches!(blocked.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{blocked}");
    client.shutdown(Shutdown::Write).unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    assert_eq!(received.len(), sent);
    assert!(received.chunks(chunk.len()).all(|part| *part == chunk[..part.len()]));
}

/// The second client is taken when the first one is gone.
#[test]
fn clients_beyond_the_limit_wait() {
    let (server, address) = server();
    let conditions = Conditions::simple(&Simple::default(), 1).unwrap();
    let config =
        ProxyConfig { max_connections: 1, ..ProxyConfig::new(vec![localhost()], vec![address]) };
    let proxy = Proxy::start(&config, &[conditions]).unwrap();
    let first = connect(&proxy);
    let stream = server.accept().unwrap().0;
    let mut second = connect(&proxy);
    second.write_all(b"2").unwrap();
    server.set_nonblocking(true).unwrap();
    assert_eq!(server.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(proxy.report().unwrap().accepted, 1);
    drop((first, stream));
    server.set_nonblocking(false).unwrap();
    let mut received = [0];
    server.accept().unwrap().0.read_exact(&mut received).unwrap();
    assert_eq!(received, *b"2");
}

/// A connection that is open when the time to drain is over is reset.
#[test]
fn the_end_resets_what_is_left() {
    let (server, address) = server();
    let proxy = start(address, "");
    let mut client = connect(&proxy);
    let mut stream = server.accept().unwrap().0;
    let listened = proxy.addresses()[0];
    let report = proxy.finish(Duration::ZERO).unwrap();
    assert_eq!((report.accepted, report.reset), (1, 1));
    for stream in [&mut client, &mut stream] {
        assert_eq!(stream.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
    assert_eq!(TcpStream::connect(listened).unwrap_err().kind(), ErrorKind::ConnectionRefused);
}
