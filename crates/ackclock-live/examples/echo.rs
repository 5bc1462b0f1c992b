//! An echo server whose TCP is ours, at port 7 of an address on a TUN device.
//!
//! ```text
//! cargo build --example echo && sudo target/debug/examples/echo
//! nc 10.77.0.2 7
//! ```

use std::io;
use std::thread;

use ackclock_live::{Host, Net, Tun, TunConfig};
use ackclock_stack::{StackConfig, TcpConfig};

fn main() -> io::Result<()> {
    let tun = Tun::open(&TunConfig {
        name: "ackclock%d".into(),
        addresses: vec![([10, 77, 0, 1].into(), 24)],
        mtu: 1500,
        offload: true,
    })?;
    let mut secret = [0; 16];
    rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())?;
    let config =
        StackConfig { addresses: vec![[10, 77, 0, 2].into()], secret, ..StackConfig::default() };
    let net = Net::start(Host::new(tun, config))?;
    let listener = net.listen(([0, 0, 0, 0], 7).into(), TcpConfig::default(), 128)?;
    println!("an echo server at 10.77.0.2 port 7; end it with Ctrl-C");
    for stream in listener.incoming() {
        let stream = stream?;
        thread::spawn(move || {
            let copied = io::copy(&mut &stream, &mut &stream);
            println!("{:?}: {copied:?}, {:?}", stream.peer_addr(), stream.info());
        });
    }
    Ok(())
}
