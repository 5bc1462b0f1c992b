//! Memory of connections that have ended is given back, with an allocator that counts. It runs
//! without the test harness, whose own thread allocates meanwhile.

use std::alloc::System;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use ackclock_impair::{Conditions, Proxy, ProxyConfig, Simple};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Clients at the same time, and how often.
const CLIENTS: usize = 200;
const ROUNDS: usize = 5;
/// What the server sends each of them.
const BYTES: usize = 300_000;

fn held(region: &Region<'_, System>) -> usize {
    let change = region.change();
    change.bytes_allocated - change.bytes_deallocated
}

/// So many clients come, read nothing for a while, then everything, and go. Returns how much memory
/// was held while they waited.
fn round(
    proxy: &Proxy,
    server: &TcpListener,
    clients: usize,
    region: &Region<'_, System>,
) -> usize {
    let address = proxy.addresses()[0];
    let mut clients: Vec<TcpStream> =
        (0..clients).map(|_| TcpStream::connect(address).unwrap()).collect();
    let bytes = vec![7; BYTES];
    let writers: Vec<_> = clients
        .iter()
        .map(|_| {
            let (mut stream, bytes) = (server.accept().unwrap().0, bytes.clone());
            thread::Builder::new()
                .stack_size(64 << 10)
                .spawn(move || {
                    stream.write_all(&bytes).unwrap();
                    stream.shutdown(Shutdown::Write).unwrap();
                    let _ = stream.read(&mut [0]);
                })
                .unwrap()
        })
        .collect();
    thread::sleep(Duration::from_millis(500));
    let most = held(region);
    let mut received = vec![0; BYTES];
    for client in &mut clients {
        client.read_exact(&mut received).unwrap();
    }
    drop(clients);
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    most
}

fn main() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = server.local_addr().unwrap();
    let simple = Simple { delay: "2ms".parse().unwrap(), ..Simple::default() };
    let conditions = Conditions::simple(&simple, 1).unwrap();
    let listen: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let config = ProxyConfig::new(vec![listen], vec![to]);
    let proxy = Proxy::start(&config, &[conditions]).unwrap();
    let region = Region::new(ALLOCATOR);
    round(&proxy, &server, 1, &region);
    let begin = held(&region);
    let most = (0..ROUNDS).map(|_| round(&proxy, &server, CLIENTS, &region)).max().unwrap();
    let end = Instant::now() + Duration::from_secs(30);
    while proxy.report().unwrap().open > 0 && Instant::now() < end {
        thread::sleep(Duration::from_millis(10));
    }
    // Once a second it looks at what is to be given back.
    thread::sleep(Duration::from_millis(2500));
    let left = held(&region);
    eprintln!("{begin} bytes at the begin, {most} at most, {left} at the end");
    assert_eq!(proxy.report().map(|report| (report.accepted, report.open)), Some((1001, 0)));
    // What waited for the clients was much. What is left are lists that do not shrink, TIME-WAIT,
    // and what links know of flows, of which they know at most 65,536.
    assert!(most > 30 << 20 && left < 6 << 20);
}
