//! What the tests of the wire share.

use std::net::IpAddr;

use ackclock_live::{Namespace, Tun, TunConfig};

/// A new namespace, or `None` and a line on stderr where that is not permitted.
pub fn namespace() -> Option<Namespace> {
    let made = Namespace::new().and_then(|n| {
        n.run(|| Tun::open(&TunConfig { name: "probe".into(), addresses: vec![], mtu: 1500, offload: false }))??;
        Ok(n)
    });
    match made {
        Ok(namespace) => Some(namespace),
        Err(error) => {
            // Where there is root, a failure is one of ours.
            assert!(!rustix::process::geteuid().is_root() || !std::path::Path::new("/dev/net/tun").exists(), "{error}");
            eprintln!("skipped: needs root and /dev/net/tun");
            None
        }
    }
}

/// A device in a namespace.
pub fn tun(namespace: &Namespace, addresses: &[(&str, u8)], mtu: u16, offload: bool) -> Tun {
    let addresses = addresses.iter().map(|(a, prefix)| (a.parse::<IpAddr>().unwrap(), *prefix)).collect();
    let config = TunConfig { name: "tun%d".into(), addresses, mtu, offload };
    namespace.run(|| Tun::open(&config)).unwrap().unwrap()
}
