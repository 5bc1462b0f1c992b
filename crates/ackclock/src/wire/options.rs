//! The options that all commands on the wire share: our stack, its device, how its connections
//! behave.

#[cfg(test)]
mod tests;

use std::net::IpAddr;

use ackclock_live::{Host, Tun, TunConfig};
use ackclock_net::scenario::units::{Duration, Size};
use ackclock_net::scenario::{DelayedAck, deployable};
use ackclock_stack::{EcnUse, StackConfig, TcpConfig};
use ackclock_tcp::{Composition, Registry, Span};
use clap::{Args, ValueEnum};

use super::prefix::{Prefix, check_free, check_reached};
use crate::error::Error;

/// The strategy where none is given: what the kernels on the other hosts of a path use, as far as
/// it is here, so that it takes neither more nor less than its share beside them.
pub(crate) const DEFAULT_STRATEGY: &str = "linux";

/// How large packets may be.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Mtu {
    /// The MTU of each device.
    #[arg(
        id = "mtu",
        long = "mtu",
        value_name = "BYTES",
        default_value_t = 1500,
        value_parser = clap::value_parser!(u16).range(576..)
    )]
    pub bytes: u16,
}

/// Our stack and how it behaves.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Our stack")]
pub(crate) struct WireArgs {
    /// The name of the TUN device. The kernel puts a number in place of `%d`. The device vanishes
    /// when the command ends.
    #[arg(long, value_name = "NAME", default_value = "ackclock%d", value_parser = device)]
    pub tun: String,
    /// The address of our stack, with the prefix that the kernel routes to it. Repeat the option to
    /// have an IPv4 and an IPv6 address.
    #[arg(long, value_name = "ADDR/PREFIX", default_value = "10.77.0.2/24")]
    pub addr: Vec<Prefix>,
    /// The kernel's address on the device, one for each --addr. Default: the first address of the
    /// prefix that is not ours.
    #[arg(long, value_name = "ADDR")]
    pub kernel_addr: Vec<IpAddr>,
    #[command(flatten)]
    pub mtu: Mtu,
    /// Packets that wait in the device (in each of its queues) until our stack reads them. The
    /// kernel drops what comes beyond.
    #[arg(
        long,
        value_name = "PACKETS",
        default_value_t = 10_000,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    pub queue: u32,
    /// Cut segments and compute checksums in our stack, and not in the device.
    #[arg(long)]
    pub no_offload: bool,
    /// The largest payload of a segment, options included. Default, and at most: what the MTU
    /// allows.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(88..))]
    pub mss: Option<u16>,
    /// Do not offer SACK.
    #[arg(long)]
    pub no_sack: bool,
    /// Do not offer timestamps.
    #[arg(long)]
    pub no_timestamps: bool,
    /// Do not look for paths that drop large packets and tell nobody, and do not send smaller ones
    /// over them.
    #[arg(long)]
    pub no_black_hole_detection: bool,
    /// The differentiated services codepoint of our packets (RFC 2474): a number below 64, or a
    /// name such as `af11`, `cs1`, `le` or `ef`.
    #[arg(long, value_name = "CODEPOINT", default_value = "0", value_parser = dscp)]
    pub dscp: u8,
    /// Explicit Congestion Notification (RFC 3168): queues on the path may mark packets instead of
    /// dropping them.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Ecn::Accept)]
    pub ecn: Ecn,
    /// The size of the send buffer. It limits how much data may be unacknowledged.
    #[arg(long, value_name = "SIZE", default_value = "4mb", value_parser = size)]
    pub send_buffer: Size,
    /// The size of the receive buffer. It limits the window that we advertise.
    #[arg(long, value_name = "SIZE", default_value = "4mb", value_parser = size)]
    pub receive_buffer: Size,
    /// The initial window in segments. Default: 10, but no more than 14,600 bytes or two segments
    /// (RFC 6928), unless the strategy's window law has another.
    #[arg(long, value_name = "SEGMENTS", value_parser = clap::value_parser!(u32).range(1..=10))]
    pub initial_window: Option<u32>,
    /// The lower bound of the retransmission timeout. Default: that of the strategy's timer.
    #[arg(long, value_name = "TIME")]
    pub min_rto: Option<Duration>,
    /// Whether ACKs are delayed: `off`, how long an ACK may wait for a second segment, or `linux`.
    #[arg(long, value_name = "off|linux|TIME", default_value = "40ms", value_parser = delayed_ack)]
    pub delayed_ack: DelayedAck,
}

/// When connections have ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ecn {
    /// Never, as Linux with tcp_ecn=0.
    Off,
    /// Where the peer asks for it, as Linux with tcp_ecn=2.
    Accept,
    /// That, and ask for it where we connect, as Linux with tcp_ecn=1.
    Ask,
}

impl From<Ecn> for EcnUse {
    fn from(ecn: Ecn) -> EcnUse {
        match ecn {
            Ecn::Off => EcnUse::Off,
            Ecn::Accept => EcnUse::Accept,
            Ecn::Ask => EcnUse::Ask,
        }
    }
}

/// The name of a device, or what the kernel makes one of (Linux `dev_valid_name` and
/// `__dev_alloc_name`).
fn device(text: &str) -> Result<String, String> {
    let percents = text.matches('%').count();
    let unfit = |c: char| c == '/' || c == ':' || c.is_whitespace();
    if text.is_empty() || text.len() > 15 {
        Err(format!("`{text}` is no name of a device: that has 1 to 15 bytes"))
    } else if text.contains(unfit) || text == "." || text == ".." {
        Err(format!("`{text}` is no name of a device: there may be no space, slash or colon in it"))
    } else if percents > 1 || percents == 1 && !text.contains("%d") {
        Err(format!("`{text}` is no name of a device: of `%` it takes one, in `%d`"))
    } else {
        Ok(text.into())
    }
}

/// The least size of a buffer: two segments of Ethernet. With less, one at a time would wait for
/// its delayed ACK.
const LEAST_BUFFER: Size = Size(4 << 10);

/// The size of a buffer.
fn size(text: &str) -> Result<Size, String> {
    match text.parse::<Size>() {
        Ok(size) if size < LEAST_BUFFER => {
            Err(format!("it takes at least {LEAST_BUFFER}; write a size such as 4mb"))
        }
        parsed => parsed.map_err(|e| e.to_string()),
    }
}

/// How long to wait for something: at least as long as the second between two looks at what waits.
pub(crate) fn patience(text: &str) -> Result<Duration, String> {
    match text.parse::<Duration>() {
        Ok(Duration(time)) if time < Span::from_secs(1) => {
            Err(format!("`{text}` is no time of at least 1s; for hardly any limit write 1000000s"))
        }
        parsed => parsed.map_err(|e| e.to_string()),
    }
}

fn delayed_ack(text: &str) -> Result<DelayedAck, String> {
    match text.parse::<DelayedAck>() {
        Ok(DelayedAck::Bsd | DelayedAck::Ns2(_)) => Err(format!(
            "`{text}` is for the simulated network: write `off`, `linux` or a time such as 40ms"
        )),
        parsed => parsed.map_err(|e| e.to_string()),
    }
}

/// A codepoint by its number, or by the name of its class: RFC 2474 (cs), 2597 (af), 3246 (ef),
/// 5865 (voice-admit) and 8622 (le).
fn dscp(text: &str) -> Result<u8, String> {
    let found = match text.as_bytes() {
        b"le" => Some(1),
        b"voice-admit" => Some(44),
        b"ef" => Some(46),
        [b'c', b's', class @ b'0'..=b'7'] => Some(8 * (class - b'0')),
        [b'a', b'f', class @ b'1'..=b'4', drop @ b'1'..=b'3'] => {
            Some(8 * (class - b'0') + 2 * (drop - b'0'))
        }
        _ => text.parse().ok().filter(|number| *number < 64),
    };
    found.ok_or_else(|| {
        format!("`{text}` is no codepoint; write a number below 64, `le`, `ef`, `cs1` or `af11`")
    })
}

/// The strategy that `--strategy` names: one that needs no oracle.
pub(crate) fn strategy(text: &str, registry: &Registry) -> Result<Composition, Error> {
    deployable(text, registry).map_err(|message| Error::Usage(format!("--strategy: {message}")))
}

impl WireArgs {
    /// How connections behave that send by `strategy`.
    pub fn tcp(&self, strategy: &Composition) -> TcpConfig {
        let bytes = |size: Size| usize::try_from(size.0).unwrap_or(usize::MAX);
        TcpConfig {
            strategy: strategy.clone(),
            send_buffer: bytes(self.send_buffer),
            receive_buffer: bytes(self.receive_buffer),
            sack: !self.no_sack,
            timestamps: !self.no_timestamps,
            ecn: self.ecn.into(),
            window_scaling: true,
            find_black_holes: !self.no_black_hole_detection,
            mss: self.mss,
            initial_window: self.initial_window,
            min_rto: self.min_rto.map(|d| d.0),
            delayed_ack: match self.delayed_ack {
                DelayedAck::After(time) => ackclock_tcp::DelayedAck::After(time.0),
                // The handshake measures the round trip.
                DelayedAck::Linux => ackclock_tcp::DelayedAck::Linux(Span::ZERO),
                DelayedAck::Off | DelayedAck::Bsd | DelayedAck::Ns2(_) => {
                    ackclock_tcp::DelayedAck::Off
                }
            },
            nagle: false,
            keep_alive: None,
            // RFC 9293 section 3.8.3 has five minutes.
            user_timeout: Some(Span::from_secs(300)),
            time_wait: Span::from_secs(60),
            events: false,
        }
    }

    /// The kernel's addresses on the device, in the order of --addr.
    pub fn kernel(&self) -> Result<Vec<IpAddr>, Error> {
        if self.kernel_addr.len() > self.addr.len() {
            return Err(Error::Usage("--kernel-addr: there is one for each --addr".into()));
        }
        let given = self.kernel_addr.iter().copied().map(Some).chain(std::iter::repeat(None));
        let pairs = self.addr.iter().zip(given);
        pairs
            .map(|(&ours, given)| match given {
                Some(kernel) if kernel.is_ipv4() != ours.addr.is_ipv4() || kernel == ours.addr => {
                    Err(Error::Usage(format!(
                        "--kernel-addr: {kernel} cannot be the other end of {}",
                        ours.addr
                    )))
                }
                Some(kernel) => match (Prefix { addr: kernel, ..ours }).unfit() {
                    Some(why) => Err(Error::Usage(format!("--kernel-addr: {kernel}: {why}"))),
                    None => Ok(kernel),
                },
                None => Ok(ours.kernel()),
            })
            .collect()
    }
}

/// Our stack on a TUN device of its own.
pub(crate) fn open_host(args: &WireArgs) -> Result<Host, Error> {
    // One queue has one host.
    Ok(open_hosts(args, 1, usize::MAX, 1024)?.swap_remove(0))
}

/// A stack for each of so many queues of a TUN device, at least one. The buffers of each take at
/// most `memory` bytes, beyond what each connection has in any case. Of the half-open connections
/// of each so many are kept; beyond them SYNs are answered by cookies.
pub(crate) fn open_hosts(
    args: &WireArgs,
    queues: usize,
    memory: usize,
    half_open: usize,
) -> Result<Vec<Host>, Error> {
    if args.mtu.bytes < 1280 && args.addr.iter().any(|own| own.addr.is_ipv6()) {
        return Err(Error::Usage(
            "--mtu: IPv6 takes at least 1280 bytes (RFC 8200 section 5)".into(),
        ));
    }
    // A header of IPv4 has 20 bytes, one of IPv6 40, and one of TCP 20.
    let headers = if args.addr.iter().any(|own| own.addr.is_ipv4()) { 40 } else { 60 };
    if let Some(mss) = args.mss.filter(|&mss| mss > args.mtu.bytes - headers) {
        let (mtu, most) = (args.mtu.bytes, args.mtu.bytes - headers);
        let text = format!("--mss {mss}: an MTU of {mtu} (--mtu) has room for at most {most}");
        return Err(Error::Usage(text));
    }
    let kernel = args.kernel()?;
    for (number, &own) in args.addr.iter().enumerate() {
        check_free("--addr", own)?;
        if args.addr[..number].iter().any(|before| before.addr == own.addr) {
            let text = format!("--addr {own}: our stack has this address already; give it once");
            return Err(Error::Usage(text));
        }
    }
    let device = TunConfig {
        name: args.tun.clone(),
        addresses: kernel.into_iter().zip(args.addr.iter().map(|a| a.len)).collect(),
        mtu: args.mtu.bytes,
        offload: !args.no_offload,
    };
    let queues = Tun::open_queues(&device, queues)
        .and_then(|queues| queues.iter().try_for_each(|q| q.set_queue(args.queue)).map(|()| queues))
        .map_err(Error::system(format!("TUN device {}", args.tun)))?;
    for (&own, (from, _)) in args.addr.iter().zip(&device.addresses) {
        check_reached("--addr", own.addr, &[*from])?;
    }
    let mut secret = [0; 16];
    rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| Error::System { what: "random numbers".into(), error: error.into() })?;
    let config = StackConfig {
        addresses: args.addr.iter().map(|a| a.addr).collect(),
        mtu: args.mtu.bytes,
        offload: !args.no_offload,
        secret,
        half_open,
        memory,
        dscp: args.dscp,
    };
    Ok(Host::on_queues(queues, &config))
}
