//! Blocking sockets do what those of `std::net` do.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use ackclock_live::Namespace;
use ackclock_tcp::connection::TcpState;

use crate::common::*;

fn ours(port: u16) -> SocketAddr {
    SocketAddr::new([10, 0, 0, 2].into(), port)
}

/// An echo server of the kernel for one connection.
fn kernel_echo(namespace: &Namespace) -> SocketAddr {
    let (listener, address) = kernel_listener(namespace, "10.0.0.1");
    thread::spawn(move || {
        let stream = listener.accept().unwrap().0;
        let _ = std::io::copy(&mut &stream, &mut &stream);
    });
    address
}

#[test]
fn addresses_and_counters() {
    let Some((namespace, net)) = pair() else { return };
    let address = kernel_echo(&namespace);
    let mut stream = net.connect(address, config()).unwrap();
    assert_eq!(stream.peer_addr().unwrap(), address);
    assert_eq!(stream.local_addr().unwrap().ip(), ours(0).ip());
    stream.write_all(b"hello").unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"hello");
    let info = stream.info().unwrap();
    assert_eq!((info.state, info.unacked, info.stats.bytes_sent), (TcpState::Established, 0, 5));
    assert!(info.srtt.nanos() > 0 && info.cwnd > 0);
    // The empty read and the empty write have nothing to wait for.
    assert_eq!(stream.read(&mut []).unwrap(), 0);
    assert_eq!(stream.write(&[]).unwrap(), 0);
}

#[test]
fn a_port_where_nobody_listens_refuses() {
    let Some((namespace, net)) = pair() else { return };
    let (listener, address) = kernel_listener(&namespace, "10.0.0.1");
    drop(listener);
    assert_eq!(net.connect(address, config()).err().unwrap().kind(), ErrorKind::ConnectionRefused);
    let refused = namespace.run(|| std::net::TcpStream::connect(ours(80))).unwrap();
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn a_connect_that_nobody_answers_times_out() {
    let Some((_namespace, net)) = pair() else { return };
    let begin = Instant::now();
    // Forwarding is off: the kernel keeps silent.
    let opened =
        net.connect_timeout("10.9.9.9:80".parse().unwrap(), config(), Duration::from_millis(100));
    assert_eq!(opened.err().unwrap().kind(), ErrorKind::TimedOut);
    assert!(begin.elapsed() >= Duration::from_millis(100));
}

/// The thread sleeps without a deadline when the SYN is lost: it has to be told that there is one
/// now.
#[test]
fn a_lost_syn_is_sent_again() {
    let Some(namespace) = namespace() else { return };
    namespace.sysctl("net/ipv6/conf/default/disable_ipv6", "1").unwrap();
    let net = net(&namespace, 576, true);
    let address = kernel_echo(&namespace);
    namespace.set_link("tun0", false).unwrap();
    let begin = Instant::now();
    let connecting =
        thread::spawn(move || net.connect_timeout(address, config(), Duration::from_secs(5)));
    thread::sleep(Duration::from_millis(100));
    namespace.set_link("tun0", true).unwrap();
    connecting.join().unwrap().unwrap();
    // RFC 6298 section 2.1; after 5 s it would not have connected.
    assert!(begin.elapsed() >= Duration::from_secs(1), "{:?}", begin.elapsed());
}

#[test]
fn addresses_that_are_not_ours_or_taken() {
    let Some((_namespace, net)) = pair() else { return };
    let error = |address: &str| {
        net.listen(address.parse().unwrap(), config(), 1).err().map(|error| error.kind())
    };
    assert_eq!(error("10.0.0.3:80"), Some(ErrorKind::AddrNotAvailable));
    let first = net.listen(ours(80), config(), 1).unwrap();
    assert_eq!(error("10.0.0.2:80"), Some(ErrorKind::AddrInUse));
    drop(first);
    assert_eq!(error("10.0.0.2:80"), None);
}

/// The peer goes with data of ours unread: both reading and writing say so, and those who wait are
/// woken.
#[test]
fn a_reset_wakes_readers_and_writers() {
    let Some((namespace, net)) = pair() else { return };
    let (listener, address) = kernel_listener(&namespace, "10.0.0.1");
    let stream = net.connect(address, config()).unwrap();
    let peer = listener.accept().unwrap().0;
    let (mut reader, mut writer) = (stream.try_clone().unwrap(), stream.try_clone().unwrap());
    let reading = thread::spawn(move || reader.read(&mut [0; 1]).unwrap_err().kind());
    let writing = thread::spawn(move || {
        loop {
            if let Err(error) = writer.write(&[0; 65536]) {
                return error.kind();
            }
        }
    });
    thread::sleep(Duration::from_millis(100));
    drop(peer);
    assert_eq!(reading.join().unwrap(), ErrorKind::ConnectionReset);
    assert_eq!(writing.join().unwrap(), ErrorKind::ConnectionReset);
    assert_eq!((&stream).write(b"x").unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[test]
fn our_reset_reaches_the_kernel() {
    let Some((namespace, net)) = pair() else { return };
    let listener = net.listen(ours(80), config(), 2).unwrap();
    // One is aborted, one dropped with data unread, one never accepted.
    for how in 0..3 {
        let mut peer = kernel_connect(&namespace, ours(80));
        peer.write_all(b"hello").unwrap();
        if how < 2 {
            let (mut stream, from) = listener.accept().unwrap();
            assert_eq!(from, peer.local_addr().unwrap());
            stream.read_exact(&mut [0; 1]).unwrap();
            if how == 0 {
                stream.abort();
                assert_eq!(stream.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::NotConnected);
            }
        } else {
            net.with_stack(|stack, now| stack.unlisten(now, listener.id()));
        }
        assert_eq!(peer.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::ConnectionReset, "{how}");
    }
}

#[test]
fn half_close_both_ways() {
    let Some((namespace, net)) = pair() else { return };
    let address = kernel_echo(&namespace);
    let stream = net.connect(address, config()).unwrap();
    (&stream).write_all(b"hello").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!((&stream).write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
    let mut answer = String::new();
    (&stream).read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "hello");

    let listener = net.listen(ours(80), config(), 1).unwrap();
    let mut peer = kernel_connect(&namespace, ours(80));
    peer.write_all(b"hello").unwrap();
    peer.shutdown(Shutdown::Write).unwrap();
    let mut stream = listener.accept().unwrap().0;
    let mut question = Vec::new();
    stream.read_to_end(&mut question).unwrap();
    // Half of it is open still, for as much as does not fit into any buffer.
    let writing = thread::spawn(move || send(stream, 20_000_000).unwrap());
    assert_eq!(receive(peer).unwrap(), writing.join().unwrap());
}

#[test]
fn shutting_down_reading_wakes_the_reader() {
    let Some((namespace, net)) = pair() else { return };
    let stream = net.connect(kernel_echo(&namespace), config()).unwrap();
    let mut reader = stream.try_clone().unwrap();
    let reading = thread::spawn(move || reader.read(&mut [0; 1]).unwrap());
    thread::sleep(Duration::from_millis(50));
    stream.shutdown(Shutdown::Read).unwrap();
    assert_eq!(reading.join().unwrap(), 0);
}

#[test]
fn timeouts_and_non_blocking_calls() {
    let Some((namespace, net)) = pair() else { return };
    let listener = net.listen(ours(80), config(), 1).unwrap();
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().err().unwrap().kind(), ErrorKind::WouldBlock);
    let mut peer = kernel_connect(&namespace, ours(80));
    let mut stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
    };

    assert_eq!(
        stream.set_read_timeout(Some(Duration::ZERO)).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let begin = Instant::now();
    assert_eq!(stream.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock);
    assert!(begin.elapsed() >= Duration::from_millis(100));

    stream.set_nonblocking(true).unwrap();
    let begin = Instant::now();
    assert_eq!(stream.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock);
    // The peer does not read: at some time nothing more fits into both buffers.
    let mut written = 0;
    let full = loop {
        match stream.write(&[7; 100_000]) {
            Ok(len) => written += len,
            Err(error) if written > 0 => break error,
            Err(error) => panic!("{error}"),
        }
        assert!(begin.elapsed() < Duration::from_secs(10));
    };
    assert_eq!(full.kind(), ErrorKind::WouldBlock);
    stream.set_nonblocking(false).unwrap();
    stream.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    while let Ok(len) = stream.write(&[7; 100_000]) {
        written += len;
    }
    let mut received = 0;
    let mut buffer = vec![0; 1 << 16];
    while received < written {
        received += peer.read(&mut buffer).unwrap();
    }
    assert_eq!(received, written);
    stream.write_all(b"x").unwrap();
}

/// What was written before the end of the process is delivered, although nobody holds the
/// connection.
#[test]
fn shutdown_of_the_net_waits_for_what_was_written() {
    let Some((namespace, net)) = pair() else { return };
    let (listener, address) = kernel_listener(&namespace, "10.0.0.1");
    let stream = net.connect(address, config()).unwrap();
    let sent = send(&stream, 3_000_000).unwrap();
    drop(stream);
    let receiving = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        receive(listener.accept().unwrap().0).unwrap()
    });
    net.shutdown(Duration::from_secs(10)).unwrap();
    assert_eq!(receiving.join().unwrap(), sent);
}

#[test]
fn shutdown_of_the_net_gives_up_in_time() {
    let Some((namespace, net)) = pair() else { return };
    let (listener, address) = kernel_listener(&namespace, "10.0.0.1");
    let stream = net.connect(address, config()).unwrap();
    let mut held = net.connect(address, config()).unwrap();
    stream.set_nonblocking(true).unwrap();
    while (&stream).write(&[0; 100_000]).is_ok() {
        // More than the peer, which does not read, has room for.
        thread::sleep(Duration::from_millis(5));
    }
    drop(stream);
    let reading = {
        let mut held = held.try_clone().unwrap();
        thread::spawn(move || held.read(&mut [0; 1]).unwrap_err().kind())
    };
    let begin = Instant::now();
    assert_eq!(net.shutdown(Duration::from_millis(200)).unwrap_err().kind(), ErrorKind::TimedOut);
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert_eq!(reading.join().unwrap(), ErrorKind::NetworkDown);
    assert_eq!(held.write(b"x").unwrap_err().kind(), ErrorKind::NetworkDown);
    drop(listener);
}

/// Without a call of `shutdown`, too, as long as the process lives; and then the device goes.
#[test]
fn a_dropped_net_delivers_and_goes() {
    let Some((namespace, net)) = pair() else { return };
    let (listener, address) = kernel_listener(&namespace, "10.0.0.1");
    let stream = net.connect(address, config()).unwrap();
    let sent = send(&stream, 3_000_000).unwrap();
    drop((stream, net));
    assert_eq!(receive(listener.accept().unwrap().0).unwrap(), sent);
    let begin = Instant::now();
    let devices =
        || namespace.run(|| std::fs::read_to_string("/proc/thread-self/net/dev").unwrap()).unwrap();
    while devices().contains("tun0") {
        assert!(begin.elapsed() < Duration::from_secs(5), "the device is still there");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_device_that_goes_takes_its_connections_along() {
    let Some((namespace, net)) = pair() else { return };
    let mut stream = net.connect(kernel_echo(&namespace), config()).unwrap();
    let deleting = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        namespace
            .run(|| {
                std::process::Command::new("ip").args(["link", "delete", "tun0"]).status().unwrap()
            })
            .unwrap()
    });
    assert_eq!(stream.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::NetworkDown);
    assert!(deleting.join().unwrap().success());
    assert_eq!(stream.write(b"x").unwrap_err().kind(), ErrorKind::NetworkDown);
}
