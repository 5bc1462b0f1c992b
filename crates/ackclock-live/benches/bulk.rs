//! How fast bulk data goes from a sender through a TUN device to a receiver of the kernel.
//!
//! ```text
//! cargo bench -p ackclock-live --bench bulk [-- [--rounds 5] [--seconds 1] [--json FILE] [SENDER...]]
//! ```
//!
//! Rounds take one sender after the other, so that what else the machine does meets all of them
//! alike; the numbers are medians over the rounds. It needs root. The senders:
//!
//! - `tso`: our stack, at MTU 1500, on a device with offload; a thread with a non-blocking event
//!   loop.
//! - `net`: the same through blocking sockets.
//! - `plain`: our stack on a device without offload.
//! - `relay-tso`, `relay-plain`: the kernel's TCP; a thread here carries its packets from one
//!   device to the other.
//! - `loopback`: the kernel's TCP over its loopback device, for scale.
//! - `smoltcp`: smoltcp, which has no TSO, on a device without offload.
//!
//! `link`, which is no sender, measures the CPU that our stack takes over a link of 50 Mbit/s.

use ackclock_tcp::Registry;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use ackclock_live::{Attachment, Gso, Host, Namespace, Net, RealTimeGateway, Tun, TunConfig};
use ackclock_net::scenario::Scenario;
use ackclock_stack::{Error, StackConfig, TcpConfig};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};
use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::phy::{
    Checksum, ChecksumCapabilities, Device, DeviceCapabilities, Medium, RxToken, TxToken,
};
use smoltcp::socket::tcp;
use smoltcp::wire::{HardwareAddress, IpCidr};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const OURS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const MTU: u16 = 1500;
/// What an application writes at a time.
const CHUNK: usize = 1 << 18;

/// Sends to `to` until it is told to stop.
type Sender = fn(&Namespace, to: SocketAddrV4, stop: &AtomicBool) -> Result<()>;

const SENDERS: &[(&str, Sender)] = &[
    ("tso", |namespace, to, stop| ours(namespace, true, to, stop)),
    ("net", net),
    ("relay-tso", |namespace, to, stop| relay(namespace, true, to, stop)),
    ("loopback", loopback),
    ("plain", |namespace, to, stop| ours(namespace, false, to, stop)),
    ("relay-plain", |namespace, to, stop| relay(namespace, false, to, stop)),
    ("smoltcp", smoltcp),
];

struct Options {
    rounds: usize,
    time: Duration,
    json: Option<String>,
    senders: Vec<(&'static str, Sender)>,
    link: bool,
}

fn options() -> Result<Options> {
    let mut options = Options {
        rounds: 5,
        time: Duration::from_secs(1),
        json: None,
        senders: Vec::new(),
        link: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} takes a value"));
        match argument.as_str() {
            "--bench" => {} // from cargo
            "--rounds" => options.rounds = value()?.parse()?,
            "--seconds" => options.time = Duration::from_secs_f64(value()?.parse()?),
            "--json" => options.json = Some(value()?),
            "link" => options.link = true,
            name => match SENDERS.iter().find(|(known, _)| *known == name) {
                Some(sender) => options.senders.push(*sender),
                None => {
                    let known: Vec<_> = SENDERS.iter().map(|(name, _)| *name).collect();
                    return Err(format!("no sender {name}; there are {}", known.join(", ")).into());
                }
            },
        }
    }
    if options.senders.is_empty() && !options.link {
        options.senders = SENDERS.to_vec();
        options.link = true;
    }
    Ok(options)
}

fn main() -> Result<()> {
    let options = options()?;
    let mut runs = vec![Vec::new(); options.senders.len()];
    for round in 0..options.rounds {
        for (runs, (name, sender)) in runs.iter_mut().zip(&options.senders) {
            runs.push(measure(*sender, options.time).map_err(|error| format!("{name}: {error}"))?);
            eprint!("\rround {} of {}: {name:<12}", round + 1, options.rounds);
        }
    }
    eprintln!();
    let mut results = serde_json::Map::new();
    for ((name, _), runs) in options.senders.iter().zip(&runs) {
        let (rate, cpu) = (median(runs, 0), median(runs, 1));
        let ends = runs
            .iter()
            .fold([f64::MAX, 0.0_f64], |[low, high], run| [low.min(run[0]), high.max(run[0])]);
        println!(
            "{name:<12} {rate:8.2} Gbit/s  ({:.2} to {:.2})  {cpu:6.3} CPU s/GB",
            ends[0], ends[1]
        );
        results.insert(
            (*name).into(),
            serde_json::json!({ "gbit_per_s": rate, "cpu_s_per_gb": cpu, "runs": runs }),
        );
    }
    for (of, to) in [
        ("tso", "relay-tso"),
        ("tso", "loopback"),
        ("net", "tso"),
        ("plain", "relay-plain"),
        ("plain", "smoltcp"),
    ] {
        if let (Some(a), Some(b)) = (results.get(of), results.get(to)) {
            let ratio =
                a["gbit_per_s"].as_f64().unwrap_or(0.0) / b["gbit_per_s"].as_f64().unwrap_or(0.0);
            println!("{of} / {to}: {ratio:.2}");
        }
    }
    if options.link {
        let cores = cores_at_50_mbit(options.time.max(Duration::from_secs(5)))?;
        results.insert("cores_at_50_mbit_per_s".into(), cores.into());
    }
    if let Some(file) = options.json {
        std::fs::write(file, serde_json::to_string_pretty(&results)? + "\n")?;
    }
    Ok(())
}

/// CPU time spent, in seconds.
fn cpu(clock: ClockId) -> f64 {
    let spent = clock_gettime(clock);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}

/// The median of rates (0) or of CPU times (1).
fn median(runs: &[[f64; 2]], which: usize) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(|run| run[which]).collect();
    values.sort_by(f64::total_cmp);
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}

/// The rate in Gbit/s at which a receiver of the kernel reads, after a while to get going, and what
/// sender and receiver spend of the CPU, in seconds for a gigabyte.
fn measure(sender: Sender, time: Duration) -> Result<[f64; 2]> {
    let namespace = Namespace::new()?;
    let listener = namespace.run(|| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 5001)))??;
    let stop = Arc::new(AtomicBool::new(false));
    let sending = {
        let (namespace, stop) = (namespace.clone(), stop.clone());
        thread::spawn(move || {
            let done = sender(&namespace, SocketAddrV4::new(KERNEL, 5001), &stop);
            done.map_err(|error| error.to_string())
        })
    };
    listener.set_nonblocking(true)?;
    let mut stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(_) if sending.is_finished() => {
                sending.join().map_err(|_| "panic")??;
                return Err("no connection".into());
            }
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    };
    stream.set_nonblocking(false)?;
    let mut buffer = vec![0; CHUNK];
    let mut count = |time: Duration| -> Result<[f64; 2]> {
        let (begin, before, mut bytes) = (Instant::now(), cpu(ClockId::ProcessCPUTime), 0);
        while begin.elapsed() < time {
            match stream.read(&mut buffer)? {
                0 => return Err("the sender ended".into()),
                len => bytes += len,
            }
        }
        let gigabytes = bytes as f64 / 1e9;
        let spent = cpu(ClockId::ProcessCPUTime) - before;
        Ok([gigabytes * 8.0 / begin.elapsed().as_secs_f64(), spent / gigabytes])
    };
    count(time / 4)?;
    let rate = count(time)?;
    stop.store(true, Relaxed);
    // Let the sender see that it can write, and stop.
    stream.set_read_timeout(Some(Duration::from_millis(100)))?;
    while stream.read(&mut buffer).is_ok_and(|len| len > 0) && !sending.is_finished() {}
    drop(stream);
    sending.join().map_err(|_| "panic")??;
    Ok(rate)
}

fn tun(namespace: &Namespace, address: Ipv4Addr, offload: bool) -> Result<Tun> {
    let addresses = vec![(address.into(), 24)];
    let config = TunConfig { name: "tun%d".into(), addresses, mtu: MTU, offload };
    Ok(namespace.run(|| Tun::open(&config))??)
}

fn host(namespace: &Namespace, offload: bool) -> Result<Host> {
    let config = StackConfig { addresses: vec![OURS.into()], ..StackConfig::default() };
    Ok(Host::new(tun(namespace, KERNEL, offload)?, config))
}

fn wait(readable: impl std::os::fd::AsFd, timeout: Option<Duration>, rests: bool) -> Result<()> {
    let timeout = timeout
        .map_or(Duration::from_millis(100), |timeout| timeout.min(Duration::from_millis(100)));
    let wanted = if rests { PollFlags::empty() } else { PollFlags::IN };
    poll(&mut [PollFd::new(&readable, wanted)], Some(&Timespec::try_from(timeout)?))?;
    Ok(())
}

/// Our stack in an event loop.
fn ours(namespace: &Namespace, offload: bool, to: SocketAddrV4, stop: &AtomicBool) -> Result<()> {
    let mut host = host(namespace, offload)?;
    let now = host.now();
    let socket = host.stack().connect(now, to.into(), TcpConfig::default())?;
    host.flush();
    let chunk = vec![0; CHUNK];
    while !stop.load(Relaxed) {
        let now = host.now();
        match host.stack().write(now, socket, &chunk) {
            Ok(_) => host.flush(),
            Err(Error::WouldBlock) => wait(&host, host.timeout(), host.rests())?,
            Err(error) => return Err(error.into()),
        }
        host.turn()?;
    }
    Ok(())
}

/// Our stack in a thread of its own.
fn net(namespace: &Namespace, to: SocketAddrV4, stop: &AtomicBool) -> Result<()> {
    let net = Net::start(host(namespace, true)?)?;
    let mut stream = net.connect(to.into(), TcpConfig::default())?;
    let chunk = vec![0; CHUNK];
    while !stop.load(Relaxed) {
        stream.write_all(&chunk)?;
    }
    stream.abort();
    Ok(())
}

fn kernel(mut stream: TcpStream, stop: &AtomicBool) -> Result<()> {
    let chunk = vec![0; CHUNK];
    while !stop.load(Relaxed) {
        stream.write_all(&chunk)?;
    }
    Ok(())
}

/// The kernel's TCP in another namespace; this thread carries the packets.
fn relay(namespace: &Namespace, offload: bool, to: SocketAddrV4, stop: &AtomicBool) -> Result<()> {
    let other = Namespace::new()?;
    let (near, far) = (tun(&other, OURS, offload)?, tun(namespace, KERNEL, offload)?);
    thread::scope(|scope| {
        let sending = scope.spawn(|| -> std::result::Result<(), String> {
            let stream = other.run(|| TcpStream::connect(to)).and_then(|stream| stream);
            stream
                .map_err(Into::into)
                .and_then(|stream| kernel(stream, stop))
                .map_err(|error| error.to_string())
        });
        let mut buffer = vec![0; Tun::BUFFER];
        while !sending.is_finished() {
            let mut carried = 0;
            for (from, to) in [(&near, &far), (&far, &near)] {
                for _ in 0..64 {
                    let Some(frame) = from.receive(&mut buffer)? else { break };
                    carried += 1;
                    let gso = Gso {
                        ip_header: 20,
                        segment: frame.segment,
                        partial_checksum: frame.partial_checksum,
                    };
                    if frame.packet[0] >> 4 == 4 {
                        let header = 20 + 4 * usize::from(frame.packet[32] >> 4);
                        to.send(&frame.packet[..header], [&frame.packet[header..], &[]], gso)?;
                    }
                }
            }
            if carried == 0 {
                let mut both =
                    [PollFd::new(&near, PollFlags::IN), PollFd::new(&far, PollFlags::IN)];
                poll(&mut both, Some(&Timespec { tv_sec: 0, tv_nsec: 100_000_000 }))?;
            }
        }
        Ok(sending.join().map_err(|_| "panic")??)
    })
}

fn loopback(namespace: &Namespace, to: SocketAddrV4, stop: &AtomicBool) -> Result<()> {
    let to = SocketAddrV4::new(Ipv4Addr::LOCALHOST, to.port());
    kernel(namespace.run(|| TcpStream::connect(to))??, stop)
}

/// A device for smoltcp: as its own `TunTapInterface`, without a buffer allocated for each packet.
struct Phy {
    tun: Tun,
    input: Vec<u8>,
    output: Vec<u8>,
}

struct Rx<'a>(&'a [u8]);
struct Tx<'a>(&'a Tun, &'a mut Vec<u8>);

impl RxToken for Rx<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(self.0)
    }
}

impl TxToken for Tx<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, fill: F) -> R {
        self.1.resize(len, 0);
        let result = fill(self.1);
        // As in smoltcp's own: what the device has no room for is lost.
        let _ = self.0.send_packet(self.1);
        result
    }
}

impl Device for Phy {
    type RxToken<'a> = Rx<'a>;
    type TxToken<'a> = Tx<'a>;

    fn receive(&mut self, _: smoltcp::time::Instant) -> Option<(Rx<'_>, Tx<'_>)> {
        let packet = self.tun.receive_packet(&mut self.input).ok()??;
        Some((Rx(packet), Tx(&self.tun, &mut self.output)))
    }

    fn transmit(&mut self, _: smoltcp::time::Instant) -> Option<Tx<'_>> {
        Some(Tx(&self.tun, &mut self.output))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = MTU.into();
        capabilities.checksum = ChecksumCapabilities::default();
        capabilities.checksum.tcp = Checksum::Both;
        capabilities
    }
}

fn smoltcp(namespace: &Namespace, to: SocketAddrV4, stop: &AtomicBool) -> Result<()> {
    let mut phy = Phy {
        tun: tun(namespace, KERNEL, false)?,
        input: vec![0; Tun::BUFFER],
        output: Vec::new(),
    };
    let now = smoltcp::time::Instant::now;
    let mut iface = Interface::new(Config::new(HardwareAddress::Ip), &mut phy, now());
    iface.update_ip_addrs(|addresses| {
        addresses.push(IpCidr::new(OURS.into(), 24)).expect("there is room for one");
    });
    let buffer = || tcp::SocketBuffer::new(vec![0; TcpConfig::default().send_buffer]);
    let mut sockets = SocketSet::new(Vec::new());
    let socket = sockets.add(tcp::Socket::new(buffer(), buffer()));
    sockets
        .get_mut::<tcp::Socket>(socket)
        .connect(iface.context(), to, 49_152)
        .map_err(|e| e.to_string())?;
    let chunk = vec![0; CHUNK];
    while !stop.load(Relaxed) {
        iface.poll(now(), &mut phy, &mut sockets);
        let tcp = sockets.get_mut::<tcp::Socket>(socket);
        if tcp.can_send() && tcp.send_slice(&chunk).map_err(|e| e.to_string())? > 0 {
            continue;
        }
        let timeout = iface.poll_delay(now(), &sockets).map(Into::into);
        if timeout != Some(Duration::ZERO) {
            wait(&phy.tun, timeout, false)?;
        }
    }
    Ok(())
}

/// Cores that a thread with our stack keeps busy while a link of 50 Mbit/s and 20 ms each way is
/// its clock. Its share of the kernel's work is included, which forwards what it writes to the
/// gateway's device.
fn cores_at_50_mbit(time: Duration) -> Result<f64> {
    const LINK: &str =
        "duration = '1s'\n[[link]]\nfrom = 'a'\nto = 'b'\nrate = '50mbit'\ndelay = '20ms'\n";
    let (near, far) = (Namespace::new()?, Namespace::new()?);
    near.sysctl("net/ipv4/ip_forward", "1")?;
    let device = |namespace: &Namespace, address: Ipv4Addr, prefix| -> Result<Tun> {
        let addresses = vec![(address.into(), prefix)];
        let config = TunConfig { name: "link".into(), addresses, mtu: MTU, offload: false };
        Ok(namespace.run(|| Tun::open(&config))??)
    };
    let receiver = Ipv4Addr::new(10, 0, 1, 1);
    let attachments = vec![
        Attachment {
            node: "a".into(),
            tun: device(&near, [10, 0, 1, 2].into(), 24)?,
            prefixes: vec![(OURS.into(), 32)],
        },
        Attachment {
            node: "b".into(),
            tun: device(&far, receiver, 16)?,
            prefixes: vec![(receiver.into(), 32)],
        },
    ];
    let _gateway =
        RealTimeGateway::start(&Scenario::from_toml(LINK, &Registry::default())?, 1, attachments)?;
    let listener = far.run(|| TcpListener::bind((receiver, 5001)))??;
    let receiving =
        thread::spawn(move || std::io::copy(&mut listener.accept()?.0, &mut std::io::sink()));

    let mut host = host(&near, true)?;
    let now = host.now();
    // A bandwidth-delay product and as much again in the queue.
    let config = TcpConfig { send_buffer: 500_000, ..TcpConfig::default() };
    let socket = host.stack().connect(now, SocketAddrV4::new(receiver, 5001).into(), config)?;
    host.flush();
    let chunk = vec![0; CHUNK];
    let (mut begin, mut before, mut acked) = (Instant::now(), 0.0, None);
    while acked.is_none() || begin.elapsed() < time {
        if acked.is_none() && begin.elapsed() > Duration::from_secs(1) {
            (begin, before, acked) = (
                Instant::now(),
                cpu(ClockId::ThreadCPUTime),
                Some(host.stack().sender(socket)?.acked()),
            );
        }
        let now = host.now();
        match host.stack().write(now, socket, &chunk) {
            Ok(_) => host.flush(),
            Err(Error::WouldBlock) => {}
            Err(error) => return Err(error.into()),
        }
        wait(&host, host.timeout(), host.rests())?;
        host.turn()?;
    }
    let cores = (cpu(ClockId::ThreadCPUTime) - before) / begin.elapsed().as_secs_f64();
    let bytes = host.stack().sender(socket)?.acked() - acked.unwrap_or(0);
    let rate = bytes as f64 * 8.0 / begin.elapsed().as_secs_f64() / 1e6;
    println!("our stack over a link of 50 Mbit/s: {rate:.1} Mbit/s, {cores:.4} cores");
    let now = host.now();
    host.stack().abort(now, socket);
    host.flush();
    // The reset ends the receiver with an error.
    let _ = receiving.join();
    Ok(cores)
}
