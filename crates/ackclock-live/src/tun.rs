//! A TUN device: IP packets between this process and the kernel's network, with `virtio_net_hdr`
//! where segmentation and checksums are left to the other side (Linux
//! `Documentation/networking/tuntap.rst`, virtio 1.2 section 5.1.6).

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, IoSlice, Read, Seek};
use std::net::{IpAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;
use std::time::{Duration, Instant};

use arrayvec::ArrayVec;
use rustix::io::Errno;
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketType};
use tun_rs::{
    DeviceBuilder, SyncDevice, VIRTIO_NET_HDR_GSO_TCPV4, VIRTIO_NET_HDR_GSO_TCPV6,
    VIRTIO_NET_HDR_LEN, VirtioNetHdr,
};

use crate::link::{self, Change};

// The two of virtio 1.2 section 5.1.6 that tun-rs does not export.
const VIRTIO_NET_HDR_F_NEEDS_CSUM: u8 = 1;
const VIRTIO_NET_HDR_GSO_NONE: u8 = 0;
/// Where the checksum lies in a TCP header (RFC 9293 section 3.1).
const TCP_CHECKSUM: u16 = 16;

/// Packets up to this size are copied together: that costs less than having the kernel gather them.
const COPIED: usize = 2048;

/// How long to wait for an address.
const SETTLE: Duration = Duration::from_secs(3);
/// Packets that wait to be read from a device, where nothing else is asked for. The kernel drops
/// what its queue does not hold: the ACKs and requests of a thousand clients, or without offload a
/// window in packets of an MTU, come in one burst.
const QUEUE: u32 = 10_000;
/// The most queues of a device (`MAX_TAP_QUEUES` in Linux `drivers/net/tun.c`).
const MOST_QUEUES: usize = 256;

/// How to make a TUN device.
#[derive(Clone, Debug)]
pub struct TunConfig {
    /// Its name, at most 15 bytes; the kernel fills in a `%d`.
    pub name: String,
    /// The kernel's own addresses on it, with prefix lengths: what lies in these prefixes is
    /// routed to the device.
    pub addresses: Vec<(IpAddr, u8)>,
    /// MTU.
    pub mtu: u16,
    /// `vnet_hdr` with segmentation and checksum offload in both directions.
    pub offload: bool,
}

/// A packet read from a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The IP packet.
    pub packet: &'a [u8],
    /// With offload: the packet stands for segments of so many bytes of payload. 0 if it is one
    /// segment.
    pub segment: u16,
    /// With offload: the kernel made the packet and left its checksum out, as no wire lies
    /// between.
    pub partial_checksum: bool,
}

/// How the kernel is to finish a packet: the counterpart of `Outgoing` in `ackclock-stack`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Gso {
    /// Bytes of the IP header.
    pub ip_header: u16,
    /// Cut the TCP payload into segments of this size; 0 to leave it whole.
    pub segment: u16,
    /// Complete the TCP checksum, which holds the sum of the pseudo-header; has to be set with
    /// `segment`.
    pub partial_checksum: bool,
}

/// Packets that the kernel dropped at a device since it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DeviceDrops {
    /// On their way to this process: the device's queue was full, or the device was down.
    pub to_us: u64,
    /// Written by this process: they were malformed, or the kernel had no room.
    pub from_us: u64,
}

/// A TUN device, or one queue of it; gone when all of them are dropped. Nothing that it does
/// blocks.
pub struct Tun {
    device: SyncDevice,
    name: String,
    mtu: u16,
    offload: bool,
    /// The counters of all devices in its namespace, whatever thread reads them.
    counters: File,
}

impl Tun {
    /// What the buffer for [`Tun::receive`] has to hold: the largest IP packet, and the header
    /// before it.
    pub const BUFFER: usize = VIRTIO_NET_HDR_LEN + 65_535;

    /// Makes a device in the network namespace of the calling thread, and brings it up.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if there is a device of this name: it is somebody else's,
    /// and would keep our addresses. Else what the kernel says: it takes `CAP_NET_ADMIN` and
    /// `/dev/net/tun`, and IPv6 an MTU of 1280.
    pub fn open(config: &TunConfig) -> io::Result<Tun> {
        let device = create(config, false)?;
        bring_up(&device, config)?;
        Tun::of(device, config)
    }

    /// The same with several queues, from 1 to 256, each to be read and written by a thread of its
    /// own.
    ///
    /// The kernel leads a packet to the queue by which the last packet of its flow was written,
    /// either way; where there was none within 3 s, by a hash of the flow, which is that of both
    /// directions (Linux `drivers/net/tun.c`, `tun_automq_select_queue`, `tun_flow_update`). So as
    /// long as each queue writes only to flows that it reads, a flow stays at its queue, also after
    /// a rest. Errors of ICMP have a hash of their own, and may come to any queue.
    ///
    /// # Errors
    /// As [`Tun::open`]; and [`io::ErrorKind::InvalidInput`] for another number of queues.
    pub fn open_queues(config: &TunConfig, queues: usize) -> io::Result<Vec<Tun>> {
        if !(1..=MOST_QUEUES).contains(&queues) {
            let message = format!("a device has from 1 to {MOST_QUEUES} queues");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let mut devices = vec![create(config, queues > 1)?];
        for _ in 1..queues {
            let device = devices[0].try_clone()?;
            device.set_nonblocking(true)?;
            devices.push(device);
        }
        // No packet comes before all queues are there: which one it is led to depends on how many
        // there are.
        bring_up(&devices[0], config)?;
        devices.into_iter().map(|device| Tun::of(device, config)).collect()
    }

    fn of(device: SyncDevice, config: &TunConfig) -> io::Result<Tun> {
        let counters = File::open("/proc/thread-self/net/dev")?;
        let (name, mtu) = (device.name()?, config.mtu);
        Ok(Tun { device, name, mtu, offload: config.offload, counters })
    }

    /// Lets so many packets wait to be read from each queue, at least one; 10,000 unless this is
    /// called.
    ///
    /// # Errors
    /// What the kernel says: it takes `CAP_NET_ADMIN`, and the namespace of the device.
    pub fn set_queue(&self, packets: u32) -> io::Result<()> {
        link::change(&self.name, Change::Queue(packets.max(1)))
    }

    /// What the kernel dropped.
    ///
    /// # Errors
    /// What reading its counters returns, and [`io::ErrorKind::NotFound`] if the device is gone.
    pub fn drops(&self) -> io::Result<DeviceDrops> {
        let mut text = String::new();
        (&self.counters).rewind()?;
        (&self.counters).read_to_string(&mut text)?;
        drops(&text, &self.name).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its MTU.
    pub fn mtu(&self) -> u16 {
        self.mtu
    }

    /// Whether it leaves segmentation and checksums to the other side.
    pub fn offload(&self) -> bool {
        self.offload
    }

    /// The next packet that waits, read into a buffer of [`Tun::BUFFER`] bytes; `None` if none
    /// does.
    ///
    /// # Errors
    /// What reading returns, such as `EBADFD` when the device has been deleted.
    pub fn receive<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Option<Frame<'a>>> {
        let length =
            match rustix::io::retry_on_intr(|| rustix::io::read(&self.device, &mut *buffer)) {
                Ok(length) => length,
                Err(Errno::AGAIN) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
        if !self.offload {
            return Ok(Some(Frame {
                packet: &buffer[..length],
                segment: 0,
                partial_checksum: false,
            }));
        }
        let header = VirtioNetHdr::decode(&buffer[..length])?;
        Ok(Some(Frame {
            packet: &buffer[VIRTIO_NET_HDR_LEN..length],
            segment: if header.gso_type == VIRTIO_NET_HDR_GSO_NONE { 0 } else { header.gso_size },
            partial_checksum: header.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM != 0,
        }))
    }

    /// Sends a packet that lies in pieces: its headers, and its payload. `gso` counts on a device
    /// with offload only.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if the kernel has no room now, `EIO` while the device is down,
    /// and what else writing returns.
    pub fn send(&self, headers: &[u8], payload: [&[u8]; 2], gso: Gso) -> io::Result<()> {
        if !self.offload {
            return self.send_plain(headers, payload);
        }
        let mut header = VirtioNetHdr {
            csum_start: gso.ip_header,
            csum_offset: TCP_CHECKSUM,
            ..Default::default()
        };
        if gso.partial_checksum {
            header.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
        }
        if gso.segment > 0 {
            let ipv6 = headers.first().is_some_and(|b| b >> 4 == 6);
            header.gso_type =
                if ipv6 { VIRTIO_NET_HDR_GSO_TCPV6 } else { VIRTIO_NET_HDR_GSO_TCPV4 };
            header.gso_size = gso.segment;
            header.hdr_len = headers.len() as u16;
        }
        let mut vnet_hdr = [0; VIRTIO_NET_HDR_LEN];
        header.encode(&mut vnet_hdr)?;
        self.write(&[&vnet_hdr, headers, payload[0], payload[1]].map(IoSlice::new))
    }

    fn send_plain(&self, headers: &[u8], payload: [&[u8]; 2]) -> io::Result<()> {
        let pieces = [headers, payload[0], payload[1]];
        let mut packet = ArrayVec::<u8, COPIED>::new();
        for piece in pieces {
            if packet.try_extend_from_slice(piece).is_err() {
                return self.write(&pieces.map(IoSlice::new));
            }
        }
        written(rustix::io::retry_on_intr(|| rustix::io::write(&self.device, &packet)))
    }

    fn write(&self, pieces: &[IoSlice<'_>]) -> io::Result<()> {
        written(rustix::io::retry_on_intr(|| rustix::io::writev(&self.device, pieces)))
    }

    /// Sends a whole packet with a complete checksum.
    ///
    /// # Errors
    /// As [`Tun::send`].
    pub fn send_packet(&self, packet: &[u8]) -> io::Result<()> {
        self.send(packet, [&[], &[]], Gso::default())
    }

    /// The next packet that waits, as it would be on a wire: for devices without offload. `None` if
    /// none waits.
    ///
    /// # Errors
    /// As [`Tun::receive`].
    pub fn receive_packet<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
        debug_assert!(!self.offload, "packets of a device with offload are not fit for a wire");
        Ok(self.receive(buffer)?.map(|frame| frame.packet))
    }
}

/// The drops of a device in `/proc/net/dev` (proc(5)): the fourth field is what the kernel dropped
/// of the packets that it received from the device, the twelfth of those that it sent to it.
fn drops(text: &str, name: &str) -> Option<DeviceDrops> {
    let fields =
        text.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'))?;
    let mut fields = fields.split_whitespace().map(|field| field.parse().ok());
    let from_us = fields.nth(3)??;
    let to_us = fields.nth(7)??;
    Some(DeviceDrops { to_us, from_us })
}

/// Waits until an address can be used. There is nobody on the device whom duplicate address
/// detection could ask (RFC 4862 section 5.4), but the kernel comes to that conclusion in a time of
/// its own.
fn settle(address: IpAddr) -> io::Result<()> {
    let begin = Instant::now();
    loop {
        match UdpSocket::bind((address, 0)) {
            Err(error)
                if error.kind() == io::ErrorKind::AddrNotAvailable && begin.elapsed() < SETTLE =>
            {
                thread::sleep(Duration::from_millis(1));
            }
            result => return result.map(drop),
        }
    }
}

/// What writing to a device has come to: it takes a packet whole or not at all.
fn written(result: Result<usize, Errno>) -> io::Result<()> {
    match result {
        Ok(_) => Ok(()),
        Err(Errno::NOBUFS) => Err(io::ErrorKind::WouldBlock.into()),
        Err(error) => Err(error.into()),
    }
}

/// Makes a device that is down.
fn create(config: &TunConfig, multi_queue: bool) -> io::Result<SyncDevice> {
    let kernel = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    if name_to_index(&kernel, &config.name).is_ok() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "there is a device of this name; choose another name, or delete the device",
        ));
    }
    let builder = DeviceBuilder::new().name(&config.name).mtu(config.mtu).enable(false);
    let builder = builder.with(|builder| {
        builder.offload(config.offload).multi_queue(multi_queue);
    });
    let device = builder.build_sync().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let message = format!("{error}; this takes /dev/net/tun (`modprobe tun`)");
            io::Error::new(error.kind(), message)
        }
        _ => error,
    })?;
    link::change(&device.name()?, Change::Queue(QUEUE))?;
    device.set_nonblocking(true)?;
    Ok(device)
}

/// Gives a device its addresses, and brings it up.
fn bring_up(device: &SyncDevice, config: &TunConfig) -> io::Result<()> {
    // Otherwise a device that goes down loses its IPv6 addresses for good (Linux
    // `Documentation/networking/ip-sysctl.rst`). Where there is no IPv6, or the file may not be
    // written, all else works.
    let name = device.name()?;
    let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/keep_addr_on_down"), "1");
    for &(address, prefix) in &config.addresses {
        match address {
            IpAddr::V4(address) => device.add_address_v4(address, prefix)?,
            IpAddr::V6(address) => device.add_address_v6(address, prefix)?,
        }
    }
    device.enabled(true)?;
    for (address, _) in &config.addresses {
        settle(*address)?;
    }
    Ok(())
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}
