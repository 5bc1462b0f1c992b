//! Kernel to kernel through a gateway, each in a namespace: `10.0.0.1` at node `a`, `10.0.1.1` at
//! node `b`.

use ackclock_tcp::Registry;
use std::io::Read;
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ackclock_live::{Attachment, GatewayReport, Namespace, RealTimeGateway, Tun, TunConfig};
use ackclock_net::LinkReport;
use ackclock_net::scenario::Scenario;

use crate::common::{Digested, kernel_listener, namespace, patient, receive, send};

const A: [&str; 2] = ["10.0.0.1", "fd00::a:1"];
const B: [&str; 2] = ["10.0.1.1", "fd00::b:1"];

/// Two namespaces with a kernel each.
struct Kernels {
    a: Namespace,
    b: Namespace,
}

fn kernels() -> Option<Kernels> {
    Some(Kernels { a: namespace()?, b: namespace()? })
}

fn attachment(node: &str, namespace: &Namespace, addresses: [&str; 2]) -> Attachment {
    let addresses = addresses.map(|a| a.parse::<IpAddr>().unwrap());
    let config = TunConfig {
        name: format!("ack-{node}"),
        addresses: vec![(addresses[0], 16), (addresses[1], 64)],
        mtu: 1500,
        offload: false,
    };
    let tun = namespace.run(|| Tun::open(&config)).unwrap().unwrap();
    Attachment { node: node.into(), tun, prefixes: vec![(addresses[0], 32), (addresses[1], 128)] }
}

impl Kernels {
    /// A gateway between them: one link from `a` to `b`, with these settings.
    fn gateway(&self, link: &str) -> RealTimeGateway {
        let text = format!("duration = '1s'\n[[link]]\nfrom = 'a'\nto = 'b'\n{link}");
        let scenario =
            Scenario::from_toml(&text, &Registry::default()).unwrap_or_else(|e| panic!("{e}"));
        let attachments = vec![attachment("a", &self.a, A), attachment("b", &self.b, B)];
        RealTimeGateway::start(&scenario, 1, attachments).unwrap()
    }

    /// Listens at `b` for one connection, and reads it to its end: how much came, its digest, and
    /// when it ended.
    fn sink(&self) -> (SocketAddr, JoinHandle<std::io::Result<(Digested, Instant)>>) {
        let (listener, address) = kernel_listener(&self.b, B[0]);
        let thread = std::thread::spawn(move || {
            let (stream, _) = listener.accept()?;
            patient(&stream);
            Ok((receive(&stream)?, Instant::now()))
        });
        (address, thread)
    }

    /// Connects from `a` with this congestion control.
    fn connect(&self, to: SocketAddr, congestion: &str) -> TcpStream {
        let stream = self
            .a
            .run(|| TcpStream::connect_timeout(&to, Duration::from_secs(10)))
            .unwrap()
            .unwrap();
        patient(&stream);
        rustix::net::sockopt::set_tcp_congestion(&stream, congestion).unwrap();
        stream
    }

    /// Sends so much from `a` to `b`, whole; returns how long it took, connection included.
    fn transfer(&self, bytes: u64) -> Duration {
        let (address, sink) = self.sink();
        let begin = Instant::now();
        let stream = self.connect(address, "reno");
        let sent = send(&stream, bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let (received, end) = sink.join().unwrap().unwrap();
        assert_eq!(received, sent);
        end - begin
    }

    /// A counter of a kernel, by its name in `/proc/net/snmp` or `/proc/net/netstat`.
    fn counter(namespace: &Namespace, protocol: &str, name: &str) -> u64 {
        let files = ["snmp", "netstat"].map(|file| format!("/proc/thread-self/net/{file}"));
        let texts =
            namespace.run(|| files.map(|file| std::fs::read_to_string(file).unwrap())).unwrap();
        let lines: Vec<&str> = texts.iter().flat_map(|text| text.lines()).collect();
        let of: Vec<&&str> =
            lines.iter().filter(|line| line.starts_with(&format!("{protocol}:"))).collect();
        let at =
            of[0].split(' ').position(|n| n == name).unwrap_or_else(|| panic!("{protocol} {name}"));
        of[1].split(' ').nth(at).unwrap().parse().unwrap()
    }
}

fn there(report: &GatewayReport) -> LinkReport {
    report.links[0].2
}

/// 20 Mbit/s of IP packets carry 1448 bytes in 1500.
#[test]
fn a_transfer_takes_as_long_as_the_link_does() {
    let Some(kernels) = kernels() else { return };
    let gateway = kernels
        .gateway("rate = '20mbit'\ndelay = '10ms'\nqueue = { droptail = { packets = 10_000 } }");
    let bytes: u64 = 10_000_000;
    let took = kernels.transfer(bytes).as_secs_f64();
    let report = gateway.report();
    // At first the window is below what the link holds. A busy machine may take long, but not for
    // ever.
    let least = bytes.div_ceil(1448) as f64 * 12_000.0 / 20e6 + 0.03;
    let lateness = [0.5, 0.9, 0.99, 1.0].map(|q| report.lateness.quantile(q) / 1000);
    eprintln!("{took:.4} s, at least {least:.4} s; lateness {lateness:?} us");
    assert!((least..10.0 * least).contains(&took), "{took} s, at least {least} s");
    assert_eq!(
        (there(&report).dropped_loss, there(&report).dropped_queue, report.refused),
        (0, 0, 0)
    );
    assert_eq!(report.stalled, 0);
}

/// Of a byte each way. On a busy machine the two ends come late now and then; the shortest of some
/// round trips tells.
#[test]
fn a_round_trip_takes_twice_the_delay() {
    let Some(kernels) = kernels() else { return };
    let _gateway = kernels.gateway("rate = '1gbit'\ndelay = '20ms'");
    for (ours, theirs) in A.into_iter().zip(B) {
        let socket = |namespace: &Namespace, address: &str| {
            let address = SocketAddr::new(address.parse().unwrap(), 0);
            let socket = namespace.run(|| UdpSocket::bind(address)).unwrap().unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            socket
        };
        let (ours, theirs) = (socket(&kernels.a, ours), socket(&kernels.b, theirs));
        ours.connect(theirs.local_addr().unwrap()).unwrap();
        theirs.connect(ours.local_addr().unwrap()).unwrap();
        let echo = std::thread::spawn(move || {
            let mut byte = [0];
            while theirs.recv(&mut byte).is_ok_and(|n| n == 1) && byte[0] < 20 {
                theirs.send(&byte).unwrap();
            }
        });
        let mut times: Vec<Duration> = (0..=20)
            .map(|n| {
                let begin = Instant::now();
                ours.send(&[n]).unwrap();
                if n < 20 {
                    ours.recv(&mut [0]).unwrap();
                }
                begin.elapsed()
            })
            .take(20)
            .collect();
        echo.join().unwrap();
        times.sort();
        eprintln!("round trips {:?} to {:?}, median {:?}", times[0], times[19], times[10]);
        assert!(times[0] >= Duration::from_millis(40), "{times:?}");
        assert!(times[0] < Duration::from_millis(60), "{times:?}");
    }
}

/// Segments 14 and 30 are lost once, 14 twice: three drops, and what the kernel retransmits is just
/// that.
#[test]
fn a_scripted_drop_is_exactly_one_retransmission() {
    let Some(kernels) = kernels() else { return };
    let gateway = kernels.gateway(
        "rate = '20mbit'\ndelay = '20ms'\nloss = [{ drop = { segments = [14, 30], retransmissions \
         = ['14:1'] } }]",
    );
    let before = Kernels::counter(&kernels.a, "Tcp", "RetransSegs");
    kernels.transfer(300_000);
    assert_eq!(there(&gateway.report()).dropped_loss, 3);
    assert_eq!(Kernels::counter(&kernels.a, "Tcp", "RetransSegs") - before, 3);
}

#[test]
fn duplicates_reordering_and_corruption_reach_the_kernel() {
    let Some(kernels) = kernels() else { return };
    let gateway = kernels.gateway("rate = '50mbit'\ndelay = '5ms'\nduplicate = '5%'");
    kernels.transfer(2_000_000);
    let report = gateway.report();
    let copies = report.delivered - report.entered;
    assert!(copies > 50, "{copies}");
    // The kernel answers a whole duplicate by a D-SACK, and counts it.
    assert!(Kernels::counter(&kernels.b, "TcpExt", "TCPDSACKOldSent") > 30);
    drop(gateway);

    let gateway =
        kernels.gateway("rate = '50mbit'\ndelay = '5ms'\nreorder = { p = '3%', delay = '3ms' }");
    let before = Kernels::counter(&kernels.b, "TcpExt", "TCPOFOQueue");
    kernels.transfer(2_000_000);
    assert!(Kernels::counter(&kernels.b, "TcpExt", "TCPOFOQueue") > before + 20);
    drop(gateway);

    let gateway = kernels.gateway("rate = '50mbit'\ndelay = '5ms'\ncorrupt = '2%'");
    let errors = || {
        let of = |namespace| {
            Kernels::counter(namespace, "Tcp", "InCsumErrors")
                + Kernels::counter(namespace, "Ip", "InHdrErrors")
                + Kernels::counter(namespace, "Ip", "InAddrErrors")
        };
        (of(&kernels.a), of(&kernels.b))
    };
    let before = errors();
    kernels.transfer(2_000_000);
    let (report, after) = (gateway.report(), errors());
    let corrupted: u64 = report.links.iter().map(|link| link.2.corrupted).sum();
    let noticed = after.0 + after.1 - before.0 - before.1 + report.refused;
    eprintln!("{corrupted} corrupted, {noticed} noticed by checksums");
    // A flip in the type of service or of the time to live is noticed by the checksum of the IP
    // header like any other.
    assert!(corrupted > 20);
    assert!(
        noticed <= corrupted && noticed + 2 + corrupted / 10 >= corrupted,
        "{noticed} of {corrupted}"
    );
}

#[test]
fn a_queue_holds_so_much() {
    let Some(kernels) = kernels() else { return };
    let gateway =
        kernels.gateway("rate = '10mbit'\ndelay = '30ms'\nqueue = { droptail = { packets = 10 } }");
    kernels.transfer(3_000_000);
    let link = there(&gateway.report());
    assert_eq!(link.max_queue, 10);
    assert!(link.dropped_queue > 0);
}

/// Its devices go with it; the connection outlives them.
#[test]
fn a_transfer_outlives_its_gateway() {
    let Some(kernels) = kernels() else { return };
    let link = "rate = '20mbit'\ndelay = '5ms'";
    let gateway = kernels.gateway(link);
    let (address, sink) = kernels.sink();
    let mut stream = kernels.connect(address, "cubic");
    let sender = std::thread::spawn(move || {
        let sent = send(&mut stream, 5_000_000).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let _ = stream.read(&mut [0]);
        sent
    });
    std::thread::sleep(Duration::from_millis(700));
    let report = gateway.report();
    assert!(there(&report).departed > 100, "{report:?}");
    drop(gateway);
    let devices =
        kernels.a.run(|| std::fs::read_to_string("/proc/thread-self/net/dev").unwrap()).unwrap();
    assert!(!devices.contains("ack-a"), "{devices}");
    std::thread::sleep(Duration::from_millis(300));
    let gateway = kernels.gateway(link);
    let sent = sender.join().unwrap();
    let (received, _) = sink.join().unwrap().unwrap();
    assert_eq!(received, sent);
    assert!(there(&gateway.report()).departed > 100);
}

/// A device that is down for a while refuses what is due meanwhile.
#[test]
fn a_transfer_outlives_a_device_that_goes_down() {
    let Some(kernels) = kernels() else { return };
    let gateway = kernels.gateway("rate = '20mbit'\ndelay = '5ms'");
    let device = kernels.b.clone();
    let down = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(400));
        device.set_link("ack-b", false).unwrap();
        std::thread::sleep(Duration::from_millis(400));
        device.set_link("ack-b", true).unwrap();
    });
    kernels.transfer(4_000_000);
    down.join().unwrap();
    assert!(gateway.report().refused > 0);
    assert_eq!(gateway.failure(), None);
}

#[test]
fn what_is_wrong_is_said() {
    let Some(kernels) = kernels() else { return };
    let scenario = |text: &str| {
        Scenario::from_toml(&format!("duration = '1s'\n{text}"), &Registry::default()).unwrap()
    };
    let one =
        scenario("[[link]]\nfrom = 'a'\nto = 'b'\nrate = '1mbit'\ndelay = '0s'\nduplex = false");
    let start = |attachments| {
        RealTimeGateway::start(&one, 1, attachments).err().expect("an error").to_string()
    };
    let at = |node| attachment(node, &kernels.a, A);
    assert_eq!(start(vec![at("x")]), "there is no node `x`");
    assert_eq!(
        start(vec![at("a"), attachment("b", &kernels.b, B)]),
        "no links lead from `b` to `a` and back"
    );
    let twice = Attachment { node: "a".into(), ..attachment("b", &kernels.b, B) };
    assert_eq!(start(vec![at("a"), twice]), "node `a` has a device already");
}

/// What cannot be routed is counted and goes nowhere.
#[test]
fn packets_for_nobody() {
    let Some(kernels) = kernels() else { return };
    let gateway = kernels.gateway("rate = '1mbit'\ndelay = '1ms'");
    let socket = kernels.a.run(|| UdpSocket::bind((A[0], 0))).unwrap().unwrap();
    socket.send_to(b"x", "10.0.9.9:9").unwrap();
    std::thread::sleep(Duration::from_millis(50));
    let report = gateway.report();
    assert!(report.unroutable >= 1 && there(&report).packets == 0, "{report:?}");
    assert_eq!(gateway.failure(), None);
}

/// A datagram of 1000 bytes takes 10 ms, and 8.224 ms with its headers at 1 Mbit/s, whenever it is
/// written. One behind it waits for it, less what passes between the two.
#[test]
fn what_the_links_take() {
    let Some(kernels) = kernels() else { return };
    let gateway = kernels.gateway("rate = '1mbit'\ndelay = '10ms'");
    let socket = kernels.a.run(|| UdpSocket::bind((A[0], 0))).unwrap().unwrap();
    let to_b = |n: u64| {
        let begin = Instant::now();
        loop {
            let report = gateway.report();
            let (node, transit) = &report.transits[1];
            assert_eq!(node, "b");
            if transit.packets() == n {
                return transit.mean();
            }
            assert!(begin.elapsed() < Duration::from_secs(10), "{report:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    socket.send_to(&[0; 1000], (B[0], 9)).unwrap();
    assert_eq!(to_b(1), 18_224_000);
    socket.send_to(&[0; 1000], (B[0], 9)).unwrap();
    socket.send_to(&[0; 1000], (B[0], 9)).unwrap();
    // Of three, two waited for none, and one for at most 8.224 ms.
    let mean = to_b(3);
    assert!((18_224_001..=18_224_000 + 8_224_000 / 3).contains(&mean), "{mean}");
}
