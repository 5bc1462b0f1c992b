//! Connections of all kinds for a long time: nothing leaks. Part of `make soak`; `ACKCLOCK_SOAK` is how many seconds, 600 if unset.

mod common;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use ackclock_live::Namespace;
use ackclock_stack::TcpConfig;
use ackclock_tcp::Span;
use common::*;

/// Memory of this process, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim_end_matches("kB").trim().parse().unwrap()
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// An echo server of the kernel for whoever comes.
fn echo(namespace: &Namespace) -> SocketAddr {
    let (listener, address) = kernel_listener(namespace, "10.0.0.1");
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || {
                let stream = stream.unwrap();
                let _ = std::io::copy(&mut &stream, &mut &stream);
            });
        }
    });
    address
}

#[test]
#[ignore = "takes ten minutes"]
fn nothing_leaks() {
    let Some((namespace, net)) = pair() else { return };
    let time = std::env::var("ACKCLOCK_SOAK").map_or(600, |seconds| seconds.parse().unwrap());
    let time = Duration::from_secs(time);
    // With the usual 60 s of TIME-WAIT the number of connections would level off only after a minute.
    let config = || TcpConfig { time_wait: Span::from_secs(1), ..config() };
    let address = echo(&namespace);
    let ours: SocketAddr = "10.0.0.2:7".parse().unwrap();
    let listener = net.listen(ours, config(), 64).unwrap();
    thread::spawn(move || {
        // Until the net is down.
        while let Ok((stream, _)) = listener.accept() {
            thread::spawn(move || std::io::copy(&mut &stream, &mut &stream));
        }
    });

    let begin = Instant::now();
    let workers: Vec<_> = (0..8_u64)
        .map(|worker| {
            let (net, namespace, config) = (net.clone(), namespace.clone(), config());
            thread::spawn(move || {
                let mut rounds = 0_u64;
                while begin.elapsed() < time {
                    let size = [1, 1_000, 65_536, 3_000_000][(rounds + worker) as usize % 4];
                    match (worker + rounds / 4) % 4 {
                        0 => {
                            let stream = net.connect(address, config.clone()).unwrap();
                            echoed(&stream, &stream, size, || stream.shutdown(Shutdown::Write).unwrap());
                        }
                        1 => {
                            let stream = kernel_connect(&namespace, ours);
                            echoed(&stream, &stream, size, || stream.shutdown(Shutdown::Write).unwrap());
                        }
                        2 => {
                            let mut stream = net.connect(address, config.clone()).unwrap();
                            stream.write_all(&vec![0; size as usize]).unwrap();
                            stream.abort();
                        }
                        // Dropped with the answer unread: a reset.
                        _ => drop(kernel_connect(&namespace, ours).write_all(&vec![0; size as usize])),
                    }
                    rounds += 1;
                }
                rounds
            })
        })
        .collect();

    // Buffers and caches have grown to what they need after a tenth of the time.
    thread::sleep(time / 10);
    let early = (resident(), open_files());
    let rounds: u64 = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
    let late = resident();
    eprintln!("{rounds} connections; {} KiB after a tenth of the time, {late} KiB at the end", early.0);
    assert!(late < early.0 + early.0 / 4 + 16_384, "memory grows");

    let begin = Instant::now();
    loop {
        let connections = net.with_stack(|stack, _| stack.connections());
        if connections == 0 && open_files() <= early.1 {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(10), "{connections} connections, {} files", open_files());
        thread::sleep(Duration::from_millis(100));
    }
    let stats = net.with_stack(|stack, _| *stack.stats());
    assert_eq!(stats.opened, stats.closed);
    net.shutdown(Duration::from_secs(1)).unwrap();
}

/// Sends so many bytes, ends with `finish`, and gets the same ones back.
fn echoed(mut to: impl Write + Send, from: impl Read + Send, bytes: u64, finish: impl FnOnce()) {
    thread::scope(|scope| {
        let receiving = scope.spawn(|| receive(from).unwrap());
        let sent = send(&mut to, bytes).unwrap();
        finish();
        assert_eq!(receiving.join().unwrap(), sent);
    });
}
