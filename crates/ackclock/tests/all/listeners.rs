//! Several listeners of `proxy` from a file that is read again, in a namespace that is gone
//! afterwards. The tests need root; without it they say that they were skipped.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::daemon::{Daemon, backend, connect, metrics, namespace, run, scratch, settled};

fn listener(listen: &str, to: SocketAddr) -> String {
    format!("[[listener]]\nlisten = \"{listen}\"\nto = \"{to}\"\n")
}

fn part(strategy: &str, clients: &str) -> String {
    format!("[[split]]\nstrategy = \"{strategy}\"\nclients = \"{clients}\"\n")
}

fn greeting(mut stream: &TcpStream) -> String {
    let mut bytes = [0; 3];
    stream.read_exact(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn a_file_of_listeners_is_read_again_and_nothing_is_cut() {
    let Some(ns) = namespace() else { return };
    let file = scratch("listeners").join("proxy.toml");
    let [one, two] = [backend(&ns, "one"), backend(&ns, "two")];
    let [first, second, third] = ["10.77.0.2:80", "10.77.0.2:81", "10.77.0.2:82"];
    fs::write(&file, listener(first, one) + &listener(second, two)).unwrap();
    let name = file.to_str().unwrap();
    let args = ["proxy", "--listeners", name, "--metrics", "127.0.0.1:9100"];
    let daemon = Daemon::start(&ns, &args);
    let read = || metrics(&ns, "127.0.0.1:9100")["ackclock_config_last_reload_successful"];
    let mut old = connect(&ns, first);
    assert_eq!((greeting(&old), greeting(&connect(&ns, second))), ("one".into(), "two".into()));

    // The first goes, the second leads elsewhere, the third is new.
    fs::write(&file, listener(second, one) + &listener(third, two)).unwrap();
    let before = settled(|| daemon.said());
    daemon.signal(Signal::HUP);
    let said = settled(|| daemon.said()).split_off(before.len());
    assert_eq!((said, read()), (vec![format!("SIGHUP: 2 listeners from {name}")], 1.0));
    assert_eq!(greeting(&connect(&ns, second)), "one");
    assert_eq!(greeting(&connect(&ns, third)), "two");
    let refused = ns.run(|| TcpStream::connect(first)).unwrap().unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    old.write_all(b"old").unwrap();
    assert_eq!(greeting(&old), "old");

    // What cannot be had changes nothing, whichever way it is wrong.
    for (text, part) in [
        (listener(first, one) + "liste = 1\n", "there is no key `liste`"),
        (listener(first, one) + &listener("10.1.1.1:80", one), "does not have this address"),
        (listener(first, one) + &listener("0.0.0.0:80", one), "another listener has"),
        ("listener = []".into(), "write one [[listener]]"),
    ] {
        fs::write(&file, text).unwrap();
        let before = settled(|| daemon.said());
        daemon.signal(Signal::HUP);
        let said = settled(|| daemon.said()).split_off(before.len());
        let line = said.join("\n");
        assert!(line.contains(part), "{line}");
        assert!(line.ends_with("; what was read before stays"), "{line}");
        assert_eq!(read(), 0.0);
        assert_eq!(greeting(&connect(&ns, third)), "two");
        assert!(ns.run(|| TcpStream::connect(first)).unwrap().is_err());
    }
    drop(old);
    daemon.end();
    let output = run(&ns, env!("CARGO_BIN_EXE_ackclock"), &["proxy", "--to", "127.0.0.1:1"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), text.contains("--listen")), (Some(2), true), "{text}");
}

#[test]
fn listeners_take_turns() {
    let Some(ns) = namespace() else { return };
    let file = scratch("listeners-turns").join("proxy.toml");
    let to = backend(&ns, "one");
    let [first, second] = ["10.77.0.2:80", "10.77.0.2:81"];
    fs::write(&file, listener(first, to) + &listener(second, to)).unwrap();
    let args = ["proxy", "--listeners", file.to_str().unwrap(), "--max-connections", "1"];
    let daemon = Daemon::start(&ns, &args);
    for (busy, other) in [(first, second), (second, first)] {
        let served = connect(&ns, busy);
        greeting(&served);
        let waiting = [(); 3].map(|()| connect(&ns, busy));
        let one = connect(&ns, other);
        drop(served);
        greeting(&one);
        drop((waiting, one));
        // Whoever came before is gone once this one is served.
        greeting(&connect(&ns, busy));
    }
    daemon.end();
}

/// Backends that have moved are found by their names, without SIGHUP. What the file says by then
/// does not count, no other name is looked up, and of one that is not found the addresses stay.
#[test]
fn names_are_looked_up_again_where_nobody_answers() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("listeners-look-up");
    let (file, hosts) = (dir.join("proxy.toml"), dir.join("hosts"));
    let port = backend(&ns, "one").port();
    let names = ["moving.example", "lost.example", "staying.example"];
    let listens = [80, 81, 82].map(|port| SocketAddr::from(([10, 77, 0, 2], port)));
    let listener = |(listen, name): (&SocketAddr, &str)| {
        format!("[[listener]]\nlisten = \"{listen}\"\nto = \"{name}:{port}\"\n")
    };
    fs::write(&file, listens.iter().zip(names).map(listener).collect::<String>()).unwrap();
    fs::write(&hosts, "127.0.0.2 moving.example lost.example\n127.0.0.1 staying.example\n")
        .unwrap();
    let args = ["proxy", "--listeners", file.to_str().unwrap(), "--metrics", "127.0.0.1:9100"];
    let daemon = Daemon::start_with_hosts(&ns, &args, &hosts);
    let look_ups = || {
        let now = metrics(&ns, "127.0.0.1:9100");
        ["found", "failed"].map(|r| now[&format!("ackclock_name_lookups_total{{result=\"{r}\"}}")])
    };
    assert_eq!(look_ups(), [3.0, 0.0]);
    fs::write(&hosts, "127.0.0.1 moving.example\n").unwrap();
    fs::write(&file, "half of it").unwrap();
    for (listen, one, said, counts) in [
        (listens[0], Some(1), format!("moving.example:{port} is at 127.0.0.1"), [4.0, 0.0]),
        (listens[1], None, format!("lost.example:{port}: "), [4.0, 1.0]),
    ] {
        // It is refused where the backend was, and waits for the look-up.
        let read = || TcpStream::connect(listen).and_then(|mut stream| stream.read(&mut [0]));
        assert_eq!(ns.run(read).unwrap().ok(), one);
        let said_so =
            |line: &String| line.starts_with(&format!("no backend takes clients: {said}"));
        let all = settled(|| daemon.said());
        assert_eq!(all.iter().filter(|line| said_so(line)).count(), 1, "{all:?}");
        assert_eq!(look_ups(), counts);
    }
    for listen in ["10.77.0.2:80", "10.77.0.2:82"] {
        assert_eq!(greeting(&connect(&ns, listen)), "one");
    }
    assert_eq!(look_ups(), [4.0, 1.0]);
    // A second later it is asked again.
    fs::write(&hosts, "127.0.0.1 lost.example\n").unwrap();
    thread::sleep(Duration::from_millis(1100));
    assert_eq!(greeting(&connect(&ns, "10.77.0.2:81")), "one");
    assert_eq!(look_ups(), [5.0, 1.0]);
    daemon.end();
}

/// Which strategy a client gets, in the access log and in metrics, before and after a reload.
#[test]
fn clients_get_the_strategies_of_the_file() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("listeners-split");
    let (file, log) = (dir.join("proxy.toml"), dir.join("log"));
    let to = backend(&ns, "one");
    let first = "10.77.0.2:80";
    fs::write(&file, listener(first, to) + &part("prr", "10.77.0.0/24")).unwrap();
    let (name, log_name) = (file.to_str().unwrap(), log.to_str().unwrap());
    let args = ["proxy", "--listeners", name, "--access-log", log_name, "--strategy", "sack"];
    let daemon = Daemon::start(&ns, &[&args[..], &["--metrics", "127.0.0.1:9100"]].concat());
    let open = || {
        let now = metrics(&ns, "127.0.0.1:9100");
        ["sack", "prr", "newreno"].map(|strategy| {
            let key = format!("ackclock_connections_open{{strategy=\"{strategy}\"}}");
            now.get(&key).copied()
        })
    };
    let old = connect(&ns, first);
    greeting(&old);
    assert_eq!(open(), [Some(0.0), Some(1.0), None]);
    // No connection changes its strategy.
    fs::write(&file, listener(first, to) + &part("newreno", "100%")).unwrap();
    daemon.signal(Signal::HUP);
    settled(|| daemon.said());
    let new = connect(&ns, first);
    greeting(&new);
    assert_eq!(open(), [Some(0.0), Some(1.0), Some(1.0)]);
    // Nor does a file that is refused change that of new ones.
    fs::write(&file, listener("10.77.0.3:80", to)).unwrap();
    let before = settled(|| daemon.said()).len();
    daemon.signal(Signal::HUP);
    let said = settled(|| daemon.said()).split_off(before);
    assert!(said.join("\n").ends_with("; what was read before stays"), "{said:?}");
    let newer = connect(&ns, first);
    greeting(&newer);
    assert_eq!(open(), [Some(0.0), Some(1.0), Some(2.0)]);
    drop((old, new, newer));
    settled(open);
    daemon.end();
    let text = fs::read_to_string(&log).unwrap();
    let mut strategies: Vec<_> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["strategy"].clone())
        .collect();
    strategies.sort_by_key(|s| s.to_string());
    assert_eq!(strategies, ["newreno", "newreno", "prr"]);
    let output = run(&ns, env!("CARGO_BIN_EXE_ackclock"), &["access-log", log_name]);
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("prr - newreno"), "{table}");
}

/// A listener may have a strategy and limits of its own, which SIGHUP changes for new clients.
#[test]
fn a_listener_has_limits_and_a_strategy_of_its_own() {
    let Some(ns) = namespace() else { return };
    let file = scratch("listeners-own").join("proxy.toml");
    let to = backend(&ns, "one");
    let [own, other] = ["10.77.0.2:80", "10.77.0.2:81"];
    let write = |strategy: &str, most: u32| {
        let keys = format!("strategy = \"{strategy}\"\nmax_per_source = {most}\n");
        fs::write(&file, listener(own, to) + &keys + &listener(other, to)).unwrap();
    };
    write("prr", 1);
    let args = ["proxy", "--listeners", file.to_str().unwrap(), "--metrics", "127.0.0.1:9100"];
    let more = ["--strategy", "sack", "--max-per-source", "2"];
    let daemon = Daemon::start(&ns, &[&args[..], &more].concat());
    // One that is refused may hear of it while it connects.
    let taken = |listen: &str| {
        let listen: SocketAddr = listen.parse().unwrap();
        let mut client = ns.run(|| TcpStream::connect(listen)).unwrap().ok()?;
        client.read_exact(&mut [0; 3]).ok().map(|()| client)
    };
    let open = || {
        let now = metrics(&ns, "127.0.0.1:9100");
        ["sack", "prr", "newreno"].map(|strategy| {
            let key = format!("ackclock_connections_open{{strategy=\"{strategy}\"}}");
            now.get(&key).copied()
        })
    };
    let mut clients: Vec<_> = [own, own, other, other, other].map(taken).into();
    let found: Vec<bool> = clients.iter().map(Option::is_some).collect();
    assert_eq!(found, [true, false, true, true, false]);
    assert_eq!(open(), [Some(2.0), Some(1.0), None]);
    let said = settled(|| daemon.said());
    // A line for each.
    let at_own = format!("10.77.0.1 is refused at {own}: it has 1 connection (max_per_source)");
    let others = "10.77.0.1 is refused: it has 2 connections (--max-per-source)".to_string();
    assert!(said.ends_with(&[at_own, others]), "{said:?}");
    // Those that are open go on, and count.
    write("newreno", 2);
    daemon.signal(Signal::HUP);
    settled(|| daemon.said());
    let more = [own, own, other].map(taken);
    assert_eq!(more.each_ref().map(Option::is_some), [true, false, false]);
    assert_eq!(open(), [Some(2.0), Some(1.0), Some(1.0)]);
    clients.extend(more);
    drop(clients);
    daemon.end();
}

/// Queues take clients of their listeners by turns; strategies have one number at all of them.
#[test]
fn a_strategy_is_the_same_at_each_queue() {
    let Some(ns) = namespace() else { return };
    let file = scratch("listeners-queues").join("proxy.toml");
    let to = backend(&ns, "one");
    let [first, second] = ["10.77.0.2:80", "10.77.0.2:81"];
    let write = |[one, two]: [&str; 2]| {
        fs::write(&file, listener(first, to) + one + &listener(second, to) + two).unwrap();
    };
    write(["", ""]);
    let args = ["proxy", "--listeners", file.to_str().unwrap(), "--queues", "2"];
    let args = [&args[..], &["--strategy", "sack", "--metrics", "127.0.0.1:9100"]].concat();
    let daemon = Daemon::start(&ns, &args);
    // It turns the listeners of one queue.
    assert_eq!(greeting(&connect(&ns, first)), "one");
    let before = settled(|| daemon.said()).len();
    write(["strategy = \"prr\"\n", "strategy = \"newreno\"\n"]);
    daemon.signal(Signal::HUP);
    assert_eq!(settled(|| daemon.said()).len(), before + 1);
    // They come to one queue by chance once in 2^19 times.
    let clients: Vec<TcpStream> = (0..20).map(|_| connect(&ns, first)).collect();
    clients.iter().for_each(|client| assert_eq!(greeting(client), "one"));
    let now = metrics(&ns, "127.0.0.1:9100");
    let open = |name| now[&format!("ackclock_connections_open{{strategy=\"{name}\"}}")];
    assert_eq!(["prr", "newreno"].map(open), [20.0, 0.0]);
    drop(clients);
    daemon.end();
}

/// SIGHUP while a name is looked up at the start ends nothing, and SIGTERM everything at once.
#[test]
fn signals_are_heeded_while_the_start_looks_a_name_up() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("listeners-start");
    let (file, resolver) = (dir.join("proxy.toml"), dir.join("resolv.conf"));
    fs::write(&file, "[[listener]]\nlisten = \"10.77.0.2:80\"\nto = \"silent.example:80\"\n")
        .unwrap();
    fs::write(&resolver, "nameserver 127.0.0.1\n").unwrap();
    let _silent = ns.run(|| UdpSocket::bind("127.0.0.1:53")).unwrap().unwrap();
    let mut command = Command::new("unshare");
    let mount = "mount --bind \"$RESOLVER\" /etc/resolv.conf && exec \"$0\" \"$@\"";
    command.args(["-m", "sh", "-c", mount, env!("CARGO_BIN_EXE_ackclock"), "proxy"]);
    command.args(["--listeners", file.to_str().unwrap()]).env("RESOLVER", &resolver);
    let mut child = ns.run(|| command.spawn()).unwrap().unwrap();
    let signal = |child: &Child, signal| kill_process(Pid::from_child(child), signal).unwrap();
    thread::sleep(Duration::from_millis(1500));
    signal(&child, Signal::HUP);
    thread::sleep(Duration::from_millis(500));
    assert_eq!(child.try_wait().unwrap(), None);
    let begin = Instant::now();
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(begin.elapsed() < Duration::from_secs(3), "it waits for no answer");
}
