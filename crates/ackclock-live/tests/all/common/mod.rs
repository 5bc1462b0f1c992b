//! What the tests of the wire share: a kernel at `10.0.0.1` and `fd00::1` in a namespace, and a
//! stack of ours at `10.0.0.2` and `fd00::2`.
#![allow(dead_code, reason = "each test uses some of it")]

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use ackclock_live::{Host, Namespace, Net, Tun, TunConfig};
use ackclock_stack::{StackConfig, TcpConfig};
use sha2::{Digest, Sha256};

/// A new namespace, or `None` and a line on stderr where that is not permitted.
pub fn namespace() -> Option<Namespace> {
    let made = Namespace::new().and_then(|n| {
        n.run(|| {
            Tun::open(&TunConfig {
                name: "probe".into(),
                addresses: vec![],
                mtu: 1500,
                offload: false,
            })
        })??;
        Ok(n)
    });
    match made {
        Ok(namespace) => Some(namespace),
        Err(error) => {
            assert!(
                matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotFound),
                "{error}"
            );
            // Not by a macro: the line has to be seen where the test's output is not.
            std::io::stderr().write_all(b"skipped: needs root and /dev/net/tun\n").unwrap();
            None
        }
    }
}

/// A device in a namespace.
pub fn tun(namespace: &Namespace, addresses: &[(&str, u8)], mtu: u16, offload: bool) -> Tun {
    let addresses =
        addresses.iter().map(|(a, prefix)| (a.parse::<IpAddr>().unwrap(), *prefix)).collect();
    let config = TunConfig { name: "tun%d".into(), addresses, mtu, offload };
    namespace.run(|| Tun::open(&config)).unwrap().unwrap()
}

/// A host of ours.
pub fn host(tun: Tun, addresses: &[&str]) -> Host {
    let addresses = addresses.iter().map(|a| a.parse().unwrap()).collect();
    Host::new(tun, StackConfig { addresses, ..StackConfig::default() })
}

/// Our stack beside the kernel.
pub fn net(namespace: &Namespace, mtu: u16, offload: bool) -> Net {
    // Below 1280 there is no IPv6 (RFC 8200 section 5).
    let (kernel, ours): (&[_], &[_]) = match mtu {
        1280.. => (&[("10.0.0.1", 24), ("fd00::1", 64)], &["10.0.0.2", "fd00::2"]),
        _ => (&[("10.0.0.1", 24)], &["10.0.0.2"]),
    };
    Net::start(host(tun(namespace, kernel, mtu, offload), ours)).unwrap()
}

/// A namespace with its kernel, and our stack at MTU 1500 with offload.
pub fn pair() -> Option<(Namespace, Net)> {
    let namespace = namespace()?;
    let net = net(&namespace, 1500, true);
    Some((namespace, net))
}

pub fn config() -> TcpConfig {
    TcpConfig::default()
}

/// A listener of the kernel, and where it listens.
pub fn kernel_listener(namespace: &Namespace, address: &str) -> (TcpListener, SocketAddr) {
    let address = SocketAddr::new(address.parse().unwrap(), 0);
    let listener = namespace.run(|| TcpListener::bind(address)).unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// A connection of the kernel.
pub fn kernel_connect(namespace: &Namespace, address: SocketAddr) -> TcpStream {
    let stream = namespace
        .run(|| TcpStream::connect_timeout(&address, Duration::from_secs(5)))
        .unwrap()
        .unwrap();
    patient(&stream);
    stream
}

/// Let nothing of the kernel's wait for ever.
pub fn patient(stream: &TcpStream) {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
}

/// Bytes that tell where they belong: splitmix64 of the position.
pub struct Pattern {
    position: u64,
}

impl Pattern {
    pub fn new() -> Pattern {
        Pattern { position: 0 }
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let mut z = self.position.wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            chunk.copy_from_slice(&(z ^ (z >> 31)).to_le_bytes()[..chunk.len()]);
            self.position += 1;
        }
    }
}

pub type Digested = (u64, [u8; 32]);

/// Writes so many bytes, and returns their number and SHA-256.
pub fn send(mut to: impl Write, bytes: u64) -> std::io::Result<Digested> {
    let (mut pattern, mut hash, mut left) = (Pattern::new(), Sha256::new(), bytes);
    let mut buffer = vec![0; 1 << 16];
    while left > 0 {
        let chunk = &mut buffer[..left.min(1 << 16) as usize];
        pattern.fill(chunk);
        hash.update(&*chunk);
        to.write_all(chunk)?;
        left -= chunk.len() as u64;
    }
    Ok((bytes, hash.finalize().into()))
}

/// Reads to the end, and returns the number of bytes and their SHA-256.
pub fn receive(mut from: impl Read) -> std::io::Result<Digested> {
    let (mut hash, mut total) = (Sha256::new(), 0);
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok((total, hash.finalize().into())),
            len => {
                hash.update(&buffer[..len]);
                total += len as u64;
            }
        }
    }
}
