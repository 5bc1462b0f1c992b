//! Two namespaces, their kernels' TCP, and the gateway between them, which sends all through the
//! kernel of a third one in the middle:
//!
//! ```text
//! sender .1.1 ─TUN─ gateway ─TUN─ receiver .2.1
//! sender .1.1 ─veth─ router ─TUN─ gateway ─TUN─ receiver .2.1      with super-segments
//!                                    │
//!                                   TUN
//!                                middle .4.1
//! ```

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ackclock_live::{
    Attachment, DropLog, GatewayReport, Logs, Namespace, RealTimeGateway, Tun, TunConfig,
};
use rustix::time::{ClockId, clock_gettime};

use super::plan::{Planned, Settings};
use super::truth::{Drop, Info};
use crate::command::output;
use crate::places::PLACES;

/// A network for one capture.
pub(super) struct Testbed {
    pub sender: Namespace,
    pub receiver: Namespace,
    /// Where packets pass between the two.
    pub middle: Namespace,
    /// Where the sender and the receiver are.
    pub addresses: [IpAddr; 2],
    /// The sender's device.
    device: &'static str,
    gateway: RealTimeGateway,
    drops: Arc<Mutex<Vec<Drop>>>,
    /// Forwards for as long as it is held.
    _router: Option<Namespace>,
}

/// Sender 1, receiver 2, router's link 3, middle 4, router 254, of network `net`.
fn address(ipv6: bool, net: u8, host: u8) -> IpAddr {
    let (subnet, end) = if host == 254 { (1, 254) } else { (host, 1) };
    if ipv6 {
        Ipv6Addr::new(0xfd00, net.into(), 0, u16::from(subnet), 0, 0, 0, u16::from(end)).into()
    } else {
        Ipv4Addr::new(10, net, subnet, end).into()
    }
}

fn tun(namespace: &Namespace, address: IpAddr) -> io::Result<Tun> {
    let prefix = if address.is_ipv4() { 16 } else { 48 };
    let config = TunConfig {
        name: "gate".into(),
        addresses: vec![(address, prefix)],
        mtu: 1500,
        offload: false,
    };
    namespace.run(|| Tun::open(&config))?
}

impl Testbed {
    /// Builds it; `net` has to be of nobody else.
    pub fn new(planned: &Planned, sysctl: &Settings, net: u8) -> io::Result<Testbed> {
        let scenario = planned.scenario().map_err(io::Error::other)?;
        let (sender, receiver) = (Namespace::new()?, Namespace::new()?);
        for (key, value) in sysctl.iter().chain(&planned.sysctl) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_string);
            for namespace in [&sender, &receiver] {
                namespace.sysctl(&format!("net/ipv4/{key}"), &value)?;
            }
        }
        let addresses = [address(planned.ipv6, net, 1), address(planned.ipv6, net, 2)];
        let (from, device, router) = if planned.super_segments {
            let router = Namespace::new()?;
            veth(&sender, &router, planned.ipv6, net)?;
            (tun(&router, address(planned.ipv6, net, 3))?, "near", Some(router))
        } else {
            (tun(&sender, addresses[0])?, "gate", None)
        };
        let to = tun(&receiver, addresses[1])?;
        let (middle, through) = middle(address(planned.ipv6, net, 4))?;
        // A packet goes where its prefix is longest, but not back: so to the middle first.
        let (host, subnet) = if planned.ipv6 { (128, 64) } else { (32, 24) };
        let attach = |i: usize, tun, prefixes| Attachment { node: PLACES[i].into(), tun, prefixes };
        let attachments = vec![
            attach(0, from, vec![(addresses[0], subnet)]),
            attach(1, through, addresses.map(|address| (address, host)).to_vec()),
            attach(2, to, vec![(addresses[1], subnet)]),
        ];
        let drops = Arc::new(Mutex::new(Vec::new()));
        let log = drops.clone();
        let told: DropLog = Box::new(move |d| {
            let [sender, middle, receiver] = PLACES;
            let drop = Drop {
                at: d.at,
                from_sender: d.from == sender || d.to == receiver,
                near_sender: (d.from, d.to) == (sender, middle),
                why: d.why,
                packet: d.packet.to_vec(),
            };
            log.lock().unwrap_or_else(PoisonError::into_inner).push(drop);
        });
        let gateway = RealTimeGateway::start_logged(
            &scenario,
            planned.seed,
            attachments,
            Logs { drops: Some(told), queues: None },
        )?;
        Ok(Testbed { sender, receiver, middle, addresses, device, gateway, drops, _router: router })
    }

    /// What the gateway has dropped so far.
    pub fn drops(&self) -> Vec<Drop> {
        std::mem::take(&mut self.drops.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What the gateway did.
    pub fn report(&self) -> GatewayReport {
        self.gateway.report()
    }

    /// Begins a capture of headers at this one of [`PLACES`].
    pub fn capture(&self, place: usize, file: &Path) -> io::Result<Capture> {
        match place {
            0 => Capture::begin(&self.sender, self.device, "inout", file),
            // What it sends on has come in before.
            1 => Capture::begin(&self.middle, "gate", "in", file),
            _ => Capture::begin(&self.receiver, "gate", "inout", file),
        }
    }

    /// Waits until no connection of the sender has anything more to send, for so long at most.
    pub fn settle(&self, mut left: Duration) -> io::Result<()> {
        const STEP: Duration = Duration::from_millis(100);
        const BUSY: &str = "ss -tnH state fin-wait-1 state last-ack state closing state syn-recv";
        let busy = || self.sender.run(|| output(BUSY))?;
        while !left.is_zero() && !busy()?.is_empty() {
            thread::sleep(STEP);
            left = left.saturating_sub(STEP);
        }
        thread::sleep(STEP);
        Ok(())
    }

    /// What the sender's kernel says of its connections that are established, once all that was
    /// given to them is acknowledged, or after two seconds.
    pub fn tcp_info(&self) -> io::Result<Vec<Info>> {
        const STEP: Duration = Duration::from_millis(20);
        let mut left = Duration::from_secs(2);
        loop {
            let text = self.sender.run(|| output("ss -tinOH"))??;
            // The last ACK may come while `ss` starts. After it nothing happens.
            let now = clock_gettime(ClockId::Realtime);
            let t_ns = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
            let all: Vec<_> = text
                .lines()
                .filter(|line| line.starts_with("ESTAB"))
                .filter_map(|line| Info::parse(line, t_ns))
                .collect();
            if left.is_zero() || all.iter().all(|info| info.queued == 0) {
                return Ok(all);
            }
            thread::sleep(STEP);
            left = left.saturating_sub(STEP);
        }
    }

    /// The TCP counters of a namespace that are not 0.
    pub fn counters(namespace: &Namespace) -> io::Result<BTreeMap<String, u64>> {
        let mut all = BTreeMap::new();
        for file in ["snmp", "netstat"] {
            let text = namespace
                .run(|| std::fs::read_to_string(format!("/proc/thread-self/net/{file}")))??;
            let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("Tcp")).collect();
            for [names, values] in lines.as_chunks::<2>().0 {
                let pairs = names.split_whitespace().zip(values.split_whitespace()).skip(1);
                all.extend(
                    pairs.filter_map(|(name, value)| Some((name.to_string(), value.parse().ok()?))),
                );
            }
        }
        all.retain(|_, value| *value > 0);
        Ok(all)
    }
}

/// The pair of devices between the sender and its router.
fn veth(sender: &Namespace, router: &Namespace, ipv6: bool, net: u8) -> io::Result<()> {
    let ip = |arguments: &str| output(&format!("ip {arguments}")).map(drop);
    let (prefix, all) = if ipv6 { (64, "::/0") } else { (24, "0.0.0.0/0") };
    let [near, far] = [1, 254].map(|host| address(ipv6, net, host));
    sender.run(|| {
        let here = rustix::thread::gettid().as_raw_nonzero();
        router.run(|| {
            ip(&format!("link add far type veth peer name near netns {here}"))?;
            ip(&format!("address add {far}/{prefix} dev far"))?;
            ip("link set far up")
        })??;
        ip(&format!("address add {near}/{prefix} dev near"))?;
        ip("link set near up")?;
        ip(&format!("route add {all} via {far}"))
    })??;
    forward(router)
}

fn forward(namespace: &Namespace) -> io::Result<()> {
    namespace.sysctl("net/ipv4/ip_forward", "1")?;
    namespace.sysctl("net/ipv6/conf/all/forwarding", "1")
}

/// A namespace that sends back what it gets.
fn middle(address: IpAddr) -> io::Result<(Namespace, Tun)> {
    let namespace = Namespace::new()?;
    // Otherwise it says each time that this was a detour (RFC 792, redirect).
    for device in ["all", "default"] {
        namespace.sysctl(&format!("net/ipv4/conf/{device}/send_redirects"), "0")?;
    }
    let tun = tun(&namespace, address)?;
    forward(&namespace)?;
    Ok((namespace, tun))
}

/// A tcpdump.
pub(super) struct Capture(Child);

impl Capture {
    fn begin(
        namespace: &Namespace,
        device: &str,
        direction: &str,
        file: &Path,
    ) -> io::Result<Capture> {
        let options = [
            "-Z",
            "root",
            "-s",
            "120",
            "--time-stamp-precision=nano",
            "--immediate-mode",
            "-B",
            "16384",
        ];
        let mut child = namespace.run(|| {
            Command::new("tcpdump")
                .args(["-i", device, "-Q", direction, "-w"])
                .arg(file)
                .args(options)
                .arg("tcp")
                .stdin(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
        })??;
        let said = child.stderr.take().map(BufReader::new);
        for line in said.into_iter().flat_map(BufRead::lines) {
            if line?.contains("listening on") {
                return Ok(Capture(child));
            }
        }
        Err(io::Error::other("tcpdump does not listen"))
    }

    /// Ends it.
    pub fn end(mut self) -> io::Result<()> {
        if let Some(pid) = rustix::process::Pid::from_raw(self.0.id() as i32) {
            rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        }
        self.0.wait().map(drop)
    }
}
