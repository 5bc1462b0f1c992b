//! Devices changed by rtnetlink(7), in the network namespace of the calling thread.
//!
//! It asks for `CAP_NET_ADMIN` in the user namespace that the network namespace belongs to. Some
//! ioctls ask for it in the first one, where root in a user namespace has none: `SIOCSIFTXQLEN` is
//! one of them (Linux `net/core/dev_ioctl.c`, `dev_ioctl`).

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::net::netdevice::name_to_index;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

/// What to change of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// Whether it is up.
    Up(bool),
    /// How many packets wait to be sent.
    Queue(u32),
}

/// Changes a device.
///
/// # Errors
/// What the kernel says.
pub(crate) fn change(name: &str, change: Change) -> io::Result<()> {
    let kernel = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None, // NETLINK_ROUTE
    )?;
    let sequence = SEQUENCE.fetch_add(1, Ordering::Relaxed);
    let request = request(name_to_index(&kernel, name)?, change, sequence);
    rustix::net::sendto(&kernel, &request, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut message = [0; 64];
    loop {
        let (len, _) = rustix::net::recv(&kernel, &mut message[..], RecvFlags::empty())?;
        if let Some(answer) = answer(&message[..len], sequence) {
            return answer;
        }
    }
}

/// The number of the next request.
static SEQUENCE: AtomicU32 = AtomicU32::new(1);

/// What the kernel says of the request of this number; `None` if it is of something else.
/// `NLMSG_ERROR` acknowledges a request, too (netlink(7)).
fn answer(message: &[u8], sequence: u32) -> Option<io::Result<()>> {
    const NLMSG_ERROR: u16 = 2;
    let kind = u16::from_ne_bytes(*message.get(4..)?.first_chunk()?);
    let of = u32::from_ne_bytes(*message.get(8..)?.first_chunk()?);
    // struct nlmsgerr follows the header: 0, or a negative errno.
    let error = i32::from_ne_bytes(*message.get(16..)?.first_chunk()?);
    (kind == NLMSG_ERROR && of == sequence).then(|| match error {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error.saturating_neg())),
    })
}

/// An `RTM_NEWLINK` request (rtnetlink(7)): a `struct nlmsghdr`; a `struct ifinfomsg`, which sets
/// `IFF_UP` or clears it; and, for the queue, the attribute `IFLA_TXQLEN`.
fn request(index: u32, change: Change, sequence: u32) -> Vec<u8> {
    const RTM_NEWLINK: u16 = 16;
    const NLM_F_REQUEST_ACK: u16 = 1 | 4;
    const IFF_UP: u32 = 1;
    const IFLA_TXQLEN: u16 = 13;
    let mut message = vec![0; 32];
    message[4..6].copy_from_slice(&RTM_NEWLINK.to_ne_bytes());
    message[6..8].copy_from_slice(&NLM_F_REQUEST_ACK.to_ne_bytes());
    message[8..12].copy_from_slice(&sequence.to_ne_bytes());
    message[20..24].copy_from_slice(&index.to_ne_bytes());
    match change {
        Change::Up(up) => {
            message[24..28].copy_from_slice(&(if up { IFF_UP } else { 0 }).to_ne_bytes());
            message[28..32].copy_from_slice(&IFF_UP.to_ne_bytes());
        }
        Change::Queue(packets) => {
            // struct nlattr: its length with itself, and its type.
            message.extend(8_u16.to_ne_bytes());
            message.extend(IFLA_TXQLEN.to_ne_bytes());
            message.extend(packets.to_ne_bytes());
        }
    }
    let length = message.len() as u32;
    message[0..4].copy_from_slice(&length.to_ne_bytes());
    message
}

#[cfg(test)]
mod tests;
