//! Every byte arrives, once and in order, over links that lose, reorder, duplicate and corrupt
//! packets, and over a gateway that goes away and comes back. Compared by SHA-256.
//!
//! In a namespace our stack, `10.77.0.2`, behind a kernel that forwards; in another one a kernel,
//! `10.0.1.1`, and beside it another stack of ours, `10.0.2.2`; a gateway between the two.

use ackclock_tcp::Registry;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ackclock_live::{Attachment, Namespace, Net, RealTimeGateway, Tun, TunConfig};
use ackclock_net::scenario::Scenario;
use ackclock_stack::TcpConfig;
use ackclock_tcp::Span;

use crate::common::{Digested, host, namespace, patient, receive, send, tun};

/// Each way: 1 % of the data lost, 1 % of the packets twice, one in a thousand with a flipped bit;
/// and 1 % late by more than a round trip, where it is used.
const BAD: &str = "rate = '10gbit'\nqueue = { droptail = { packets = 1_000 } }\nloss = [{ \
    bernoulli = { p = '1%' } }]
duplicate = '1%'\ncorrupt = '0.1%'\n";

/// Kernels that listen: beyond the gateway, and right beside our stack. Then our stacks.
const BEYOND: &str = "10.0.1.1:5001";
const BESIDE: &str = "10.77.0.1:5001";
const OURS: &str = "10.77.0.2:80";
const OTHER: &str = "10.0.2.2:80";

struct World {
    a: Namespace,
    b: Namespace,
    /// At `a`, and at `b`.
    ours: Net,
    other: Net,
}

fn world() -> Option<World> {
    let (a, b) = (namespace()?, namespace()?);
    let net = |namespace: &Namespace, kernel: &str, address: &str| {
        namespace.sysctl("net/ipv4/ip_forward", "1").unwrap();
        Net::start(host(tun(namespace, &[(kernel, 24)], 1500, true), &[address])).unwrap()
    };
    let (ours, other) = (net(&a, "10.77.0.1", "10.77.0.2"), net(&b, "10.0.2.1", "10.0.2.2"));
    Some(World { a, b, ours, other })
}

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

impl World {
    /// A link of these settings each way. The prefixes of the devices are so wide that no routes
    /// are needed.
    fn gateway(&self, link: &str) -> RealTimeGateway {
        let text = format!("duration = '1s'\n[[link]]\nfrom = 'a'\nto = 'b'\n{link}");
        let scenario =
            Scenario::from_toml(&text, &Registry::default()).unwrap_or_else(|e| panic!("{e}"));
        let end = |node: &str, namespace: &Namespace, kernel: &str, len, behind: &str| {
            let kernel = kernel.parse().unwrap();
            let config = TunConfig {
                name: format!("gate-{node}"),
                addresses: vec![(kernel, len)],
                mtu: 1500,
                offload: false,
            };
            let tun = namespace.run(|| Tun::open(&config)).unwrap().unwrap();
            let prefixes = vec![(kernel, 32), (behind.parse().unwrap(), 24)];
            Attachment { node: node.into(), tun, prefixes }
        };
        let ends = vec![
            end("a", &self.a, "10.0.0.1", 16, "10.77.0.0"),
            end("b", &self.b, "10.0.1.1", 8, "10.0.2.0"),
        ];
        RealTimeGateway::start(&scenario, 1, ends).unwrap()
    }

    fn kernel_listener(&self) -> TcpListener {
        self.b.run(|| TcpListener::bind(BEYOND)).unwrap().unwrap()
    }
}

fn config() -> TcpConfig {
    // Connections that are over are not waited for when they are counted.
    TcpConfig { time_wait: Span::from_secs(1), ..TcpConfig::default() }
}

/// Sends, and hears from the peer what it has got.
fn ask<S: Read + Write>(mut stream: S, bytes: u64, finish: impl FnOnce(&S)) -> io::Result<()> {
    let sent = send(&mut stream, bytes)?;
    finish(&stream);
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    assert!(answer == told(sent), "{bytes} bytes");
    Ok(())
}

/// Takes everything, and tells what it was.
fn answer(mut stream: impl Read + Write) -> io::Result<u64> {
    let got = receive(&mut stream)?;
    stream.write_all(&told(got))?;
    Ok(got.0)
}

fn told((bytes, hash): Digested) -> Vec<u8> {
    [&bytes.to_be_bytes()[..], &hash].concat()
}

fn ask_kernel(stream: TcpStream, bytes: u64) -> io::Result<()> {
    ask(stream, bytes, |stream| stream.shutdown(Shutdown::Write).unwrap())
}

fn ask_ours(stream: ackclock_live::TcpStream, bytes: u64) -> io::Result<()> {
    ask(stream, bytes, |stream| stream.shutdown(Shutdown::Write).unwrap())
}

/// From our stack to the kernel, from the kernel to our stack, and from one stack of ours to
/// another, at the same time, each over so many connections of so many bytes.
fn transfers(world: &World, connections: usize, bytes: u64) {
    let kernel = world.kernel_listener();
    let listener = world.ours.listen(address(OURS), config(), 64).unwrap();
    let other = world.other.listen(address(OTHER), config(), 64).unwrap();
    thread::scope(|scope| {
        for _ in 0..connections {
            scope.spawn(|| answer(kernel.accept().unwrap().0).unwrap());
            scope.spawn(|| answer(listener.accept().unwrap().0).unwrap());
            scope.spawn(|| answer(other.accept().unwrap().0).unwrap());
            let connect = |to| world.ours.connect(address(to), config()).unwrap();
            scope.spawn(move || ask_ours(connect(BEYOND), bytes).unwrap());
            scope.spawn(move || ask_ours(connect(OTHER), bytes).unwrap());
            scope.spawn(|| {
                let stream = world.b.run(|| TcpStream::connect(OURS)).unwrap().unwrap();
                ask_kernel(stream, bytes).unwrap();
            });
        }
    });
}

fn bad_link(connections: usize, bytes: u64) {
    let Some(world) = world() else { return };
    let gateway =
        world.gateway(&format!("{BAD}delay = '100us'\nreorder = {{ p = '1%', delay = '300us' }}"));
    let begin = Instant::now();
    transfers(&world, connections, bytes);
    let (report, stats) = (gateway.report(), world.ours.with_stack(|stack, _| *stack.stats()));
    let lost: u64 = report.links.iter().map(|link| link.2.dropped_loss).sum();
    let corrupted: u64 = report.links.iter().map(|link| link.2.corrupted).sum();
    let all = 3 * connections as u64 * bytes;
    let seconds = begin.elapsed().as_secs_f64();
    eprintln!(
        "{:.1} MB in {seconds:.1} s, {:.0} Mbit/s; of {} packets {lost} lost, {corrupted} \
         corrupted, {} of these noticed by our stack",
        all as f64 / 1e6,
        8e-6 * all as f64 / seconds,
        report.entered,
        stats.bad_checksums
    );
    assert!(
        lost > report.entered / 400 && corrupted > report.entered / 2000 && stats.bad_checksums > 0
    );
}

#[test]
fn over_a_link_that_loses_reorders_duplicates_and_corrupts() {
    bad_link(2, 8_000_000);
}

/// Part of `make soak`.
#[test]
#[ignore = "takes minutes"]
fn ten_gigabytes_over_a_link_that_loses_reorders_duplicates_and_corrupts() {
    bad_link(4, 10_000_000_000 / 12);
}

/// The gateway's devices go with it, and come back after a while: everybody goes on.
fn gateway_gone(outage: Duration) {
    let Some(world) = world() else { return };
    let link = "rate = '100mbit'\ndelay = '5ms'\nqueue = { droptail = { packets = 200 } }";
    let mut gateway = world.gateway(link);
    let world = Arc::new(world);
    let all = thread::spawn({
        let world = Arc::clone(&world);
        move || transfers(&world, 2, 6_000_000)
    });
    for _ in 0..2 {
        // After an outage they go on when a timer expires, which has backed off: after as long
        // again at most.
        let begin = Instant::now();
        while gateway.report().delivered < 1000 {
            assert!(begin.elapsed() < 3 * outage + Duration::from_secs(10), "nobody goes on");
            thread::sleep(Duration::from_millis(10));
        }
        assert!(!all.is_finished());
        drop(gateway);
        thread::sleep(outage);
        gateway = world.gateway(link);
    }
    all.join().unwrap();
}

#[test]
fn over_a_gateway_that_is_restarted() {
    gateway_gone(Duration::from_millis(500));
}

/// Part of `make soak`.
#[test]
#[ignore = "takes a minute"]
fn over_a_gateway_that_is_away_for_thirty_seconds() {
    gateway_gone(Duration::from_secs(30));
}

/// Bytes of memory that the process holds.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() << 10
}

/// Transfers of all sizes both ways, some of them given up in the middle by either side, until told
/// to stop.
fn worker(
    world: Arc<World>,
    seed: u64,
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut state = seed;
        let mut draw = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        while !stop.load(Ordering::Relaxed) {
            // From a byte to 4 MB, as many of each magnitude.
            let bytes = 1 << draw(22) | draw(1000);
            let (way, give_up) = (draw(4), draw(10) == 0);
            match [BEYOND, OTHER, BESIDE].get(way as usize) {
                Some(to) => {
                    let Ok(mut stream) = world.ours.connect(address(to), config()) else {
                        continue;
                    };
                    if give_up {
                        let _ = send(&mut stream, bytes);
                        stream.abort();
                    } else {
                        ask_ours(stream, bytes).unwrap();
                    }
                }
                None => {
                    let Ok(Ok(mut stream)) = world.b.run(|| TcpStream::connect(OURS)) else {
                        continue;
                    };
                    if give_up {
                        // Closed with an answer unread, which resets it.
                        let _ = send(&mut stream, bytes);
                    } else {
                        ask_kernel(stream, bytes).unwrap();
                    }
                }
            }
            done.fetch_add(1, Ordering::Relaxed);
        }
    })
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Neither memory nor connections grow while transfers come and go, for `ACKCLOCK_SOAK` seconds,
/// 600 if unset. Part of `make soak`.
#[test]
#[ignore = "takes ten minutes"]
fn nothing_grows() {
    let Some(world) = world() else { return };
    let link = format!("{BAD}delay = '1ms'\nreorder = {{ p = '1%', delay = '2ms' }}");
    let mut gateway = world.gateway(&link);
    let world = Arc::new(world);
    let serve = |accept: Box<dyn Fn() -> io::Result<u64> + Send + Sync>| {
        let accept = Arc::new(accept);
        for _ in 0..16 {
            let accept = Arc::clone(&accept);
            // What is given up is no error.
            thread::spawn(move || {
                loop {
                    let _ = accept();
                }
            });
        }
    };
    let beside = world.a.run(|| TcpListener::bind(BESIDE)).unwrap().unwrap();
    let kernel = world.kernel_listener();
    let listener = world.ours.listen(address(OURS), config(), 64).unwrap();
    let other = world.other.listen(address(OTHER), config(), 64).unwrap();
    let files = open_files();
    // A reset that is lost, or the challenge ACK that it draws behind a gap (RFC 5961 section 3.2),
    // leaves who reads waiting for ever, unless told otherwise.
    let kernels = |listener: TcpListener| {
        move || listener.accept().map(|(stream, _)| stream).inspect(patient).and_then(answer)
    };
    serve(Box::new(kernels(beside)));
    serve(Box::new(kernels(kernel)));
    let ours = |listener: ackclock_live::TcpListener| {
        move || {
            let stream = listener.accept()?.0;
            stream.set_read_timeout(Some(Duration::from_secs(20)))?;
            answer(stream)
        }
    };
    serve(Box::new(ours(listener)));
    serve(Box::new(ours(other)));

    let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let workers: Vec<_> = (1..=16)
        .map(|seed| worker(Arc::clone(&world), seed, Arc::clone(&stop), Arc::clone(&done)))
        .collect();
    let time = std::env::var("ACKCLOCK_SOAK").map_or(600, |seconds| seconds.parse().unwrap());
    let (begin, time) = (Instant::now(), Duration::from_secs(time));
    let connections =
        || [&world.ours, &world.other].map(|net| net.with_stack(|stack, _| stack.connections()));
    // Memory, and for how long a connection is kept, in milliseconds (Little's law): how many there
    // are depends on how fast the machine transfers.
    let mut samples = Vec::new();
    let mut before = 0;
    let tick = time / 60;
    eprintln!("{:>8}  {:>10}  {:>18}  {:>9}", "seconds", "RSS (MiB)", "connections", "transfers");
    while begin.elapsed() < time {
        thread::sleep(tick);
        let open = connections().iter().sum::<usize>() as u64;
        let transfers = done.load(Ordering::Relaxed);
        let kept = open * tick.as_millis() as u64 / (transfers - before).max(1);
        before = transfers;
        samples.push((resident(), kept));
        // A gateway remembers the last 65,536 connections, which would take ten minutes to level
        // off.
        if samples.len() % 5 == 0 {
            assert_eq!(gateway.failure(), None);
            drop(gateway);
            gateway = world.gateway(&link);
        }
        eprintln!(
            "{:>8.0}  {:>10.1}  {:>18}  {:>9}",
            begin.elapsed().as_secs_f64(),
            resident() as f64 / f64::from(1 << 20),
            open,
            transfers
        );
    }
    stop.store(true, Ordering::Relaxed);
    workers.into_iter().for_each(|worker| worker.join().unwrap());

    // The medians of the last third and of the middle one, when everything has been in use once.
    let third = samples.len() / 3;
    let median = |mut values: Vec<u64>| {
        values.sort();
        values[values.len() / 2]
    };
    let medians = |samples: &[(u64, u64)]| {
        (
            median(samples.iter().map(|s| s.0).collect()),
            median(samples.iter().map(|s| s.1).collect()),
        )
    };
    let (middle, last) = (medians(&samples[third..2 * third]), medians(&samples[2 * third..]));
    assert!(
        last.0 <= middle.0 + middle.0 / 10,
        "memory grew from {} to {} bytes",
        middle.0,
        last.0
    );
    assert!(
        last.1 <= middle.1 + middle.1 / 2,
        "connections were kept for {} ms, then for {} ms",
        middle.1,
        last.1
    );
    // When all is over, nothing is left but what TIME-WAIT keeps for a second, and what answers a
    // peer that gave up.
    let end = Instant::now() + Duration::from_secs(30);
    while connections() != [0, 0] || open_files() > files {
        assert!(
            Instant::now() < end,
            "{:?} connections and {} files are left",
            connections(),
            open_files() - files
        );
        thread::sleep(Duration::from_millis(100));
    }
    for net in [&world.ours, &world.other] {
        let stats = net.with_stack(|stack, _| *stack.stats());
        // What a reset ends before its handshake is over was never open.
        assert!(stats.opened <= stats.closed, "{stats:?}");
    }
    assert!(gateway.failure().is_none() && done.load(Ordering::Relaxed) > 100);
}
