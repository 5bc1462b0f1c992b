//! Two namespaces with the gateway between them:
//!
//! ```text
//! sender:    our stack 10.78.0.2 ─TUN─ 10.78.0.1 kernel 10.77.0.1 ─TUN─ gateway
//! receiver:  gateway ─TUN─ 10.77.0.2 kernel
//! ```
//!
//! The kernel of the namespace `sender` forwards what our stack sends, and is itself the sender of
//! the kernel's rows. The receiver's prefix holds both senders, so that no routes are needed. All
//! of it is gone with the process, however that ends.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::thread;

use ackclock_live::{
    Attachment, GatewayReport, Host, Namespace, Net, RealTimeGateway, Tun, TunConfig, be_prompt,
};
use ackclock_net::scenario::Scenario;
use ackclock_stack::StackConfig;

use crate::format::{Lab, Row};
use crate::tcp;

const SENDER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 1));
const RECEIVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 2));
const ROUTER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 78, 0, 1));
const OURS: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 78, 0, 2));
const OURS_PREFIX: (IpAddr, u8) = (IpAddr::V4(Ipv4Addr::new(10, 78, 0, 0)), 16);

/// A network for one run.
pub(crate) struct Testbed {
    /// Where the sender is.
    pub sender: Namespace,
    /// Where the receiver is.
    pub receiver: Namespace,
    gateway: RealTimeGateway,
    mtu: u16,
}

impl Testbed {
    /// Builds it for a row of a lab.
    pub fn new(lab: &Lab, scenario: &Scenario, row: &Row, seed: u64) -> io::Result<Testbed> {
        let (sender, receiver) = (Namespace::new()?, Namespace::new()?);
        let mtu = tcp::mtu(scenario);
        let from = open(&sender, "to-gateway", (SENDER, 16), mtu)?;
        let to = open(&receiver, "to-gateway", (RECEIVER, 8), mtu)?;
        let timestamps = if tcp::timestamps(scenario) { "1" } else { "0" };
        for namespace in [&sender, &receiver] {
            namespace.sysctl("net/ipv4/tcp_timestamps", timestamps)?;
        }
        if row.kernel.is_some() {
            sender.sysctl("net/ipv4/tcp_sack", if row.sack == Some(false) { "0" } else { "1" })?;
        } else {
            sender.sysctl("net/ipv4/ip_forward", "1")?;
        }
        let set = |namespace: &Namespace, all: &BTreeMap<String, String>| {
            all.iter().try_for_each(|(key, value)| namespace.sysctl(key, value))
        };
        set(&sender, &lab.sender_sysctl)?;
        set(&receiver, &lab.receiver_sysctl)?;
        let flow = &scenario.flows[0];
        let attachments = vec![
            Attachment {
                node: flow.from.clone(),
                tun: from,
                prefixes: vec![(SENDER, 32), OURS_PREFIX],
            },
            Attachment { node: flow.to.clone(), tun: to, prefixes: vec![(RECEIVER, 32)] },
        ];
        let gateway = RealTimeGateway::start(scenario, seed, attachments)?;
        Ok(Testbed { sender, receiver, gateway, mtu })
    }

    /// The receiver at a port.
    pub fn to(port: u16) -> SocketAddr {
        (RECEIVER, port).into()
    }

    /// Our stack, beside the sender's kernel.
    pub fn stack(&self) -> io::Result<Net> {
        let tun = open(&self.sender, "to-stack", (ROUTER, 16), self.mtu)?;
        let mut secret = [0; 16];
        io::Read::read_exact(&mut fs::File::open("/dev/urandom")?, &mut secret)?;
        let config = StackConfig {
            addresses: vec![OURS],
            mtu: self.mtu,
            offload: false,
            secret,
            half_open: 16,
            memory: usize::MAX,
            dscp: 0,
        };
        // The kernel sends from interrupts, which no other work of the machine holds up. The
        // stack's thread inherits the priority of the one that starts it.
        let start = || {
            be_prompt();
            Net::start(Host::new(tun, config))
        };
        thread::scope(|scope| scope.spawn(start).join())
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// What became of the packets.
    pub fn report(&self) -> GatewayReport {
        self.gateway.report()
    }

    /// The counters of the sender's kernel.
    pub fn counters(&self) -> io::Result<Counters> {
        self.sender.run(Counters::read)?
    }
}

fn open(namespace: &Namespace, name: &str, address: (IpAddr, u8), mtu: u16) -> io::Result<Tun> {
    let config = TunConfig { name: name.into(), addresses: vec![address], mtu, offload: false };
    namespace.run(|| Tun::open(&config))?
}

/// The TCP counters of a namespace.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// Retransmissions of data.
    pub retransmissions: u64,
    /// Timeouts of data.
    pub timeouts: u64,
}

impl Counters {
    /// The sum.
    pub fn plus(self, other: Counters) -> Counters {
        Counters {
            retransmissions: self.retransmissions + other.retransmissions,
            timeouts: self.timeouts + other.timeouts,
        }
    }

    /// Those of the calling thread's namespace.
    fn read() -> io::Result<Counters> {
        let mut all = BTreeMap::new();
        for file in ["/proc/thread-self/net/snmp", "/proc/thread-self/net/netstat"] {
            parse(&fs::read_to_string(file)?, &mut all);
        }
        let get = |name: &str| all.get(name).copied().unwrap_or_default();
        // Both count SYNs, which are not what is compared; each retransmitted SYN is one timeout.
        let syns = get("TcpExt.TCPSynRetrans");
        Ok(Counters {
            retransmissions: get("Tcp.RetransSegs").saturating_sub(syns),
            timeouts: get("TcpExt.TCPTimeouts").saturating_sub(syns),
        })
    }
}

/// Pairs of lines: names, then numbers, each after the same prefix.
fn parse(text: &str, into: &mut BTreeMap<String, u64>) {
    let lines: Vec<&str> = text.lines().collect();
    for [names, values] in lines.as_chunks::<2>().0 {
        let (Some((prefix, names)), Some((_, values))) =
            (names.split_once(':'), values.split_once(':'))
        else {
            continue;
        };
        for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
            // Some, such as MaxConn, may be negative.
            into.insert(format!("{prefix}.{name}"), value.parse().unwrap_or_default());
        }
    }
}

/// Whether tests may make namespaces and devices; says on stderr if they may not.
#[cfg(test)]
pub(crate) fn permitted() -> bool {
    let made = Namespace::new().and_then(|n| open(&n, "probe", (SENDER, 16), 1500));
    // Where there is root, a failure is one of ours.
    let root =
        rustix::process::geteuid().is_root() && std::path::Path::new("/dev/net/tun").exists();
    match made {
        Err(error) if root => panic!("{error}"),
        Err(_) => eprintln!("skipped: needs root and /dev/net/tun"),
        Ok(_) => {}
    }
    root
}

#[cfg(test)]
mod tests;
