//! `proxy` from outside: the kernel's TCP on both sides of it, in namespaces that are gone
//! afterwards. The tests need root, curl and Python; without root they say that they were skipped.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ackclock_live::{Namespace, Tun, TunConfig};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use sha2::{Digest, Sha256};
use socket2::{Domain, Socket, Type};

use crate::daemon::{self, Daemon, connect, curl, metrics, namespace, noise, scratch, settled};
use crate::pair::Pair;

const ADDRESS: &str = "10.77.0.2:80";

fn proxy(namespace: &Namespace, to: &str, more: &[&str]) -> Daemon {
    Daemon::start(namespace, &[&["proxy", "--listen", ADDRESS, "--to", to], more].concat())
}

/// A backend that gives each of so many connections to `work`, in a thread of its own.
fn backend<T: Send + 'static>(
    namespace: &Namespace,
    connections: usize,
    work: impl Fn(TcpStream) -> T + Copy + Send + 'static,
) -> (SocketAddr, JoinHandle<Vec<T>>) {
    let listener = namespace.run(|| TcpListener::bind("127.0.0.1:0")).unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let take = |_| {
            let (stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            std::thread::spawn(move || work(stream))
        };
        let threads: Vec<_> = (0..connections).map(take).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    (address, thread)
}

/// Sends back what comes, until its end.
fn echo(mut stream: TcpStream) {
    let mut other = stream.try_clone().unwrap();
    std::io::copy(&mut stream, &mut other).unwrap();
    other.shutdown(Shutdown::Write).unwrap();
}

/// Dropped like this, a socket sends a reset.
fn reset(stream: TcpStream) {
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
}

/// Whether the peer has acknowledged everything.
fn is_sent(namespace: &Namespace, stream: &TcpStream) -> bool {
    let port = stream.local_addr().unwrap().port();
    let out = daemon::run(namespace, "ss", &["-Htn", &format!("sport = :{port}")]).stdout;
    let out = String::from_utf8(out).unwrap();
    out.split_whitespace().nth(2) == Some("0")
}

/// What reading to the end comes to.
fn outcome(stream: &mut TcpStream) -> Result<Vec<u8>, ErrorKind> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).map(|_| bytes).map_err(|e| e.kind())
}

/// Whether a connection is reset soon whose peer has sent its end: reading does not say so, and
/// Linux has EPIPE for it (`tcp_reset`).
fn is_reset_behind_its_end(stream: &TcpStream) -> bool {
    let timeout = Timespec { tv_sec: 10, tv_nsec: 0 };
    let changed = poll(&mut [PollFd::new(stream, PollFlags::empty())], Some(&timeout));
    let error = stream.take_error().unwrap().map(|error| error.kind());
    changed == Ok(1) && error == Some(ErrorKind::BrokenPipe)
}

/// What a client finds that says nothing; where it is reset at once, it may hear of that while it
/// connects.
fn attempt(namespace: &Namespace) -> Result<Vec<u8>, ErrorKind> {
    let address: SocketAddr = ADDRESS.parse().unwrap();
    let client = namespace.run(|| TcpStream::connect(address)).unwrap();
    client.map_err(|e| e.kind()).and_then(|mut client| outcome(&mut client))
}

/// Writes and reads at the same time; returns what came.
fn exchange(mut stream: TcpStream, bytes: Vec<u8>) -> Vec<u8> {
    let mut writer = stream.try_clone().unwrap();
    let writing = std::thread::spawn(move || {
        writer.write_all(&bytes).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let got = outcome(&mut stream).unwrap();
    writing.join().unwrap();
    got
}

#[test]
fn curl_reaches_a_web_server_of_the_kernel() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("proxy-curl");
    let bytes = noise(32 << 20, 1);
    fs::write(dir.join("big"), &bytes).unwrap();
    let mut command = Command::new("python3");
    command.args([
        "-um",
        "http.server",
        "--bind",
        "127.0.0.1",
        "8080",
        "-d",
        dir.to_str().unwrap(),
    ]);
    let mut python =
        ns.run(|| command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()).unwrap().unwrap();
    while ns.run(|| TcpStream::connect("127.0.0.1:8080")).unwrap().is_err() {
        std::thread::sleep(Duration::from_millis(50));
    }
    let daemon = proxy(&ns, "localhost:8080", &[]);
    let out = dir.join("out");
    curl(&ns, &["--fail", "-o", out.to_str().unwrap(), "http://10.77.0.2/big"]);
    assert_eq!(Sha256::digest(fs::read(&out).unwrap()), Sha256::digest(&bytes));
    python.kill().unwrap();
    python.wait().unwrap();
    daemon.end();
}

#[test]
fn bytes_are_the_same_both_ways() {
    let Some(ns) = namespace() else { return };
    for more in [&[][..], &["--no-offload"], &["--send-buffer", "4kb", "--receive-buffer", "4kb"]] {
        let (to, thread) = backend(&ns, 1, echo);
        let daemon = proxy(&ns, &to.to_string(), more);
        let bytes = noise(8_000_000, 2);
        assert!(exchange(connect(&ns, ADDRESS), bytes.clone()) == bytes, "{more:?}");
        thread.join().unwrap();
        let said = daemon.end();
        assert!(
            said.starts_with("1 connection, 0 cut off; 8000000 bytes in, 8000000 out; "),
            "{said}"
        );
    }
}

#[test]
fn the_backend_hears_who_the_client_is() {
    let Some(ns) = namespace() else { return };
    for version in ["v1", "v2"] {
        let (to, thread) = backend(&ns, 1, |mut stream| outcome(&mut stream).unwrap());
        let daemon = proxy(&ns, &to.to_string(), &["--proxy-protocol", version]);
        let mut client = connect(&ns, ADDRESS);
        let port = client.local_addr().unwrap().port();
        client.write_all(b"hello").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let got = &thread.join().unwrap()[0];
        match version {
            "v1" => {
                let text = format!("PROXY TCP4 10.77.0.1 10.77.0.2 {port} 80\r\nhello");
                assert_eq!(String::from_utf8_lossy(got), text);
            }
            _ => {
                let (header, rest) = got.split_at(28);
                let port = port.to_be_bytes();
                let end = [10, 77, 0, 1, 10, 77, 0, 2, port[0], port[1], 0, 80];
                assert_eq!((&header[16..], rest), (&end[..], &b"hello"[..]));
            }
        }
        daemon.end();
    }
}

/// The kernel hands what a backend answers to a client's address back to the proxy, as the guide
/// has it. Of all capabilities that one is kept, also by another user.
#[test]
fn the_backend_sees_the_clients_own_address() {
    let Some(pair) = Pair::new("own") else { return };
    let [left, right] = &pair.names;
    let ip = |args: &str| {
        let status = Command::new("ip").args(args.split(' ')).status().unwrap();
        assert!(status.success(), "ip {args}");
    };
    ip(&format!("-n {left} link add va type veth peer name vb netns {right}"));
    for (ns, device, host) in [(left, "va", 1), (right, "vb", 2)] {
        ip(&format!("-n {ns} addr add 10.50.0.{host}/24 dev {device}"));
        ip(&format!("-n {ns} addr add fd50::{host}/64 dev {device} nodad"));
        ip(&format!("-n {ns} link set {device} up"));
        ip(&format!("-n {ns} link set lo up"));
    }
    ip(&format!("-n {right} route add 10.77.0.0/24 via 10.50.0.1"));
    ip(&format!("-n {right} route add fd77::/64 via fd50::1"));
    let ns = pair.namespace(0);
    for switch in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
        ns.sysctl(&format!("net/{switch}"), "1").unwrap();
    }
    for (family, backend) in [("-4", "10.50.0.1"), ("-6", "fd50::1")] {
        ip(&format!(
            "{family} -n {left} rule add from {backend} ipproto tcp sport 8080 lookup 100"
        ));
        ip(&format!("{family} -n {left} route add local default dev lo table 100"));
    }
    let listen = |ip| ns.run(move || TcpListener::bind((ip, 8080))).unwrap().unwrap();
    let backends = ["10.50.0.1", "fd50::1"].map(listen);
    let proxies = [("10.77.0.2/24", "10.77.0.2:80"), ("fd77::2/64", "[fd77::2]:80")];
    for (backend, (addr, address)) in backends.iter().zip(proxies) {
        let to = backend.local_addr().unwrap().to_string();
        let args = ["proxy", "--listen", address, "--addr", addr, "--to", &to, "--transparent"];
        let proxy = Daemon::start(&ns, &[&args[..], &["--user", "nobody"]].concat());
        let client = pair.namespace(1);
        let client = client.run(|| TcpStream::connect(address)).unwrap().unwrap();
        let own = client.local_addr().unwrap();
        let (stream, peer) = backend.accept().unwrap();
        assert_eq!(peer.ip(), own.ip());
        // CAP_NET_RAW.
        assert_eq!(proxy.status("CapEff"), "0000000000002000");
        let thread = std::thread::spawn(move || echo(stream));
        let bytes = noise(300_000, 1);
        assert!(exchange(client, bytes.clone()) == bytes);
        thread.join().unwrap();
        proxy.end();
    }

    // Two ports are enough for two connections to each of two backends.
    let second = ns.run(|| TcpListener::bind("10.50.0.1:8081")).unwrap().unwrap();
    ip(&format!("-n {left} rule add from 10.50.0.1 ipproto tcp sport 8081 lookup 100"));
    ns.sysctl("net/ipv4/ip_local_port_range", "40000 40001").unwrap();
    let file = scratch("proxy-own").join("listeners.toml");
    let listener = |port: u16| {
        format!(
            "[[listener]]\nlisten = \"10.77.0.2:{port}\"\nto = \"10.50.0.1:{}\"\ntransparent = \
             true\n",
            8000 + port
        )
    };
    fs::write(&file, listener(80) + &listener(81)).unwrap();
    let proxy = Daemon::start(&ns, &["proxy", "--listeners", file.to_str().unwrap()]);
    let mut ports = Vec::new();
    let mut open = Vec::new();
    for (backend, address) in [(&backends[0], "10.77.0.2:80"), (&second, "10.77.0.2:81")] {
        for _ in 0..2 {
            let client = pair.namespace(1).run(|| TcpStream::connect(address)).unwrap().unwrap();
            let (stream, peer) = backend.accept().unwrap();
            ports.push(peer.port());
            open.push((client, stream));
        }
    }
    ports.sort_unstable();
    assert_eq!(ports, [40_000, 40_000, 40_001, 40_001]);
    drop(open);
    proxy.end();
}

#[test]
fn five_hundred_at_once() {
    let Some(ns) = namespace() else { return };
    let most = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).unwrap();
    let (to, thread) = backend(&ns, 500, echo);
    let daemon = proxy(&ns, &to.to_string(), &["--metrics", "127.0.0.1:9100"]);
    let clients: Vec<_> = (0..500).map(|_| connect(&ns, ADDRESS)).collect();
    let now = metrics(&ns, "127.0.0.1:9100");
    assert_eq!(
        (now["ackclock_connections_open"], now["ackclock_connections_total"]),
        (500.0, 500.0)
    );
    let exchanges = clients.into_iter().enumerate().map(|(i, client)| {
        std::thread::spawn(move || {
            let bytes = noise(20_000 + 100 * i, i as u64);
            assert!(exchange(client, bytes.clone()) == bytes, "{i}");
        })
    });
    exchanges.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
    thread.join().unwrap();
    let said = daemon.end();
    assert!(said.starts_with("500 connections, 0 cut off; "), "{said}");
}

#[test]
fn each_half_closes_by_itself() {
    let Some(ns) = namespace() else { return };
    // The client first: the backend answers after the end of the request.
    let (to, thread) = backend(&ns, 1, |mut stream| {
        let got = outcome(&mut stream).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        stream.write_all(b"answer").unwrap();
        got
    });
    let daemon = proxy(&ns, &to.to_string(), &[]);
    let mut client = connect(&ns, ADDRESS);
    client.write_all(b"question").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(outcome(&mut client), Ok(b"answer".to_vec()));
    assert_eq!(thread.join().unwrap(), [b"question"]);
    daemon.end();

    // The backend first: it reads on after its own end.
    let (to, thread) = backend(&ns, 1, |mut stream| {
        stream.write_all(b"greeting").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        outcome(&mut stream).unwrap()
    });
    let daemon = proxy(&ns, &to.to_string(), &[]);
    let mut client = connect(&ns, ADDRESS);
    assert_eq!(outcome(&mut client), Ok(b"greeting".to_vec()));
    std::thread::sleep(Duration::from_millis(300));
    client.write_all(b"farewell").unwrap();
    drop(client);
    assert_eq!(thread.join().unwrap(), [b"farewell"]);
    daemon.end();
}

#[test]
fn resets_go_on_to_the_other_side() {
    let Some(ns) = namespace() else { return };
    let (to, thread) = backend(&ns, 1, |mut stream| {
        stream.read_exact(&mut [0; 1]).unwrap();
        reset(stream);
    });
    let daemon = proxy(&ns, &to.to_string(), &[]);
    let mut client = connect(&ns, ADDRESS);
    client.write_all(b"x").unwrap();
    assert_eq!(outcome(&mut client), Err(ErrorKind::ConnectionReset));
    thread.join().unwrap();
    daemon.end();

    let (to, thread) = backend(&ns, 1, |mut stream| outcome(&mut stream));
    let daemon = proxy(&ns, &to.to_string(), &[]);
    let mut client = connect(&ns, ADDRESS);
    client.write_all(b"x").unwrap();
    std::thread::sleep(Duration::from_millis(200));
    reset(client);
    assert_eq!(thread.join().unwrap(), [Err(ErrorKind::ConnectionReset)]);
    let said = daemon.end();
    assert!(said.starts_with("1 connection, 0 cut off; 1 byte in, 0 out; "), "{said}");
}

/// A client that has not read yet when the backend's reset comes gets what was sent before it.
#[test]
fn a_reset_destroys_nothing_that_was_sent_before_it() {
    let Some(ns) = namespace() else { return };
    let (to, thread) = backend(&ns, 1, |mut stream| {
        stream.read_exact(&mut [0; 1]).unwrap();
        stream.write_all(&noise(2_000_000, 9)).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        reset(stream);
    });
    let daemon = proxy(&ns, &to.to_string(), &["--metrics", "127.0.0.1:9100"]);
    let open = || metrics(&ns, "127.0.0.1:9100")["ackclock_connections_open"];
    let mut client = connect(&ns, ADDRESS);
    rustix::net::sockopt::set_socket_recv_buffer_size(&client, 100_000).unwrap();
    client.write_all(b"x").unwrap();
    thread.join().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(open(), 1.0);
    let mut got = Vec::new();
    let end = client.read_to_end(&mut got).map_err(|e| e.kind());
    assert_eq!((got.len(), end), (2_000_000, Err(ErrorKind::ConnectionReset)));
    assert!(got == noise(2_000_000, 9));
    assert_eq!(settled(open), 0.0);
    daemon.end();
}

/// A connection that is on its way. To wait until it stands may take longer than its reset takes to
/// come, and would be told of that first.
fn begin_to_connect(ns: &Namespace) -> TcpStream {
    let stream = || Socket::new(Domain::IPV4, Type::STREAM, None);
    let stream = ns.run(stream).unwrap().unwrap();
    stream.set_nonblocking(true).unwrap();
    let _ = stream.connect(&ADDRESS.parse::<SocketAddr>().unwrap().into());
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.into()
}

/// A backend that resets as soon as it is connected has often done so before the proxy looks.
#[test]
fn what_a_backend_sent_before_it_reset_at_once_reaches_the_client() {
    let Some(ns) = namespace() else { return };
    let (to, thread) = backend(&ns, 20, |mut stream| {
        stream.write_all(&noise(30_000, 9)).unwrap();
        reset(stream);
    });
    let daemon = proxy(&ns, &to.to_string(), &[]);
    for _ in 0..20 {
        let mut got = Vec::new();
        let end = begin_to_connect(&ns).read_to_end(&mut got).map_err(|e| e.kind());
        assert_eq!((got.len(), end), (30_000, Err(ErrorKind::ConnectionReset)));
        assert!(got == noise(30_000, 9));
    }
    thread.join().unwrap();
    let said = daemon.end();
    assert!(said.starts_with("20 connections, 0 cut off; 0 bytes in, 600000 out; "), "{said}");
}

/// A backend that has sent its end and resets then: the client hears of both, in this order.
#[test]
fn a_reset_behind_the_backends_end_reaches_the_client() {
    let Some(ns) = namespace() else { return };
    let (to, thread) = backend(&ns, 1, |mut stream| {
        stream.write_all(&noise(30_000, 9)).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        stream.read_exact(&mut [0; 1]).unwrap();
        reset(stream);
    });
    let daemon = proxy(&ns, &to.to_string(), &["--metrics", "127.0.0.1:9100"]);
    let mut client = connect(&ns, ADDRESS);
    assert!(outcome(&mut client) == Ok(noise(30_000, 9)));
    client.write_all(b"x").unwrap();
    thread.join().unwrap();
    assert!(is_reset_behind_its_end(&client));
    let open = || metrics(&ns, "127.0.0.1:9100")["ackclock_connections_open"];
    assert_eq!(settled(open), 0.0);
    daemon.end();
}

/// What nobody reads of a connection that is reset does not keep it open for `--idle`.
#[test]
fn a_reset_in_front_of_who_does_not_read_has_the_time_of_a_half_closed_one() {
    let Some(ns) = namespace() else { return };
    let listener = ns.run(|| TcpListener::bind("127.0.0.1:0")).unwrap().unwrap();
    let args = ["--half-closed-idle", "1s", "--metrics", "127.0.0.1:9100"];
    let daemon = proxy(&ns, &listener.local_addr().unwrap().to_string(), &args);
    let mut client = connect(&ns, ADDRESS);
    let mut backend = listener.accept().unwrap().0;
    client.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    assert!(client.write_all(&noise(60_000_000, 3)).is_err());
    reset(client);
    let begin = Instant::now();
    let rested = "ackclock_rested_connections_total{state=\"half_closed\"}";
    while metrics(&ns, "127.0.0.1:9100")[rested] == 0.0 {
        assert!(begin.elapsed().as_secs() < 20);
        std::thread::sleep(Duration::from_millis(200));
    }
    let mut got = Vec::new();
    let end = backend.read_to_end(&mut got).map_err(|e| e.kind());
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
    assert!(got == noise(60_000_000, 3)[..got.len()]);
    daemon.end();
}

/// A backend that has moved is found by its name, without SIGHUP. Clients wait for that, and no
/// longer: within 10 s of a look-up there is no other.
#[test]
fn a_name_is_looked_up_again_where_nobody_answers() {
    let Some(ns) = namespace() else { return };
    let listener = ns.run(|| TcpListener::bind("127.0.0.3:8080")).unwrap().unwrap();
    let hosts = scratch("proxy-look-up").join("hosts");
    fs::write(&hosts, "127.0.0.2 moving.example\n").unwrap();
    let args = ["proxy", "--listen", ADDRESS, "--to", "moving.example:8080"];
    let daemon = Daemon::start_with_hosts(&ns, &args, &hosts);
    fs::write(&hosts, "127.0.0.3 moving.example\n").unwrap();
    // The first two are refused where the backend was.
    let clients = [(); 2].map(|()| connect(&ns, ADDRESS));
    for mut client in clients.into_iter().chain([connect(&ns, ADDRESS)]) {
        client.write_all(b"x").unwrap();
        listener.accept().unwrap().0.read_exact(&mut [0]).unwrap();
    }
    let line = "no backend takes clients: moving.example:8080 is at 127.0.0.3";
    assert_eq!(settled(|| daemon.said()), [line]);
    drop(listener);
    assert_eq!(attempt(&ns), Err(ErrorKind::ConnectionReset));
    let reset = format!("a client of {ADDRESS} is reset: no backend takes it (refused)");
    assert_eq!(settled(|| daemon.said()), [line, &reset]);
    daemon.end();
}

/// The other way round, and for every client: what it sent before its reset reaches the backend,
/// also where the reset comes before the client is taken, or the backend reads only then.
#[test]
fn what_a_client_sent_before_its_reset_reaches_the_backend() {
    let Some(ns) = namespace() else { return };
    // The first window of ten segments; and more than the kernel has under way to the backend.
    for (len, more) in [(14_000, &["--max-connections", "4"][..]), (2_000_000, &[])] {
        let (to, thread) = backend(&ns, 20, |mut stream| {
            std::thread::sleep(Duration::from_millis(200));
            let mut got = Vec::new();
            let end = stream.read_to_end(&mut got).map_err(|e| e.kind());
            (got.len(), got == noise(got.len(), 9), end)
        });
        let log = scratch("proxy-client-resets").join("log");
        let more = [more, &["--access-log", log.to_str().unwrap()]].concat();
        let daemon = proxy(&ns, &to.to_string(), &more);
        for _ in 0..20 {
            let mut client = connect(&ns, ADDRESS);
            client.write_all(&noise(len, 9)).unwrap();
            // The reset takes what has not left.
            while len > 14_000 && !is_sent(&ns, &client) {
                std::thread::sleep(Duration::from_millis(10));
            }
            reset(client);
        }
        for got in thread.join().unwrap() {
            assert_eq!(got, (len, true, Err(ErrorKind::ConnectionReset)));
        }
        let said = daemon.end();
        let start = format!("20 connections, 0 cut off; {} bytes in, 0 out; ", 20 * len);
        assert!(said.starts_with(&start), "{said}");
        let log = fs::read_to_string(log).unwrap();
        assert_eq!(log.matches("\"ended\":\"reset_by_client\"").count(), 20, "{log}");
    }
}

/// A backend that has answered and closed does not read what the client still sends: its kernel
/// resets, which the client hears behind the answer.
#[test]
fn what_a_backend_does_not_read_costs_no_answer() {
    let Some(ns) = namespace() else { return };
    let (to, thread) = backend(&ns, 1, |mut stream| {
        stream.read_exact(&mut [0; 1]).unwrap();
        stream.write_all(&noise(2_000_000, 9)).unwrap();
    });
    let daemon = proxy(&ns, &to.to_string(), &[]);
    let mut client = connect(&ns, ADDRESS);
    rustix::net::sockopt::set_socket_recv_buffer_size(&client, 100_000).unwrap();
    client.write_all(b"x").unwrap();
    thread.join().unwrap();
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(100));
        client.write_all(&[0; 1000]).unwrap();
    }
    assert!(outcome(&mut client) == Ok(noise(2_000_000, 9)));
    assert!(is_reset_behind_its_end(&client));
    let said = daemon.end();
    assert!(said.starts_with("1 connection, 0 cut off; 3001 bytes in, 2000000 out; "), "{said}");
}

#[test]
fn a_process_that_is_killed_resets_or_ends_the_other_side() {
    let Some(ns) = namespace() else { return };
    let listen = "import \
        socket,time\ns=socket.create_server(('127.0.0.1',9000))\nc,_=s.accept()\nprint(flush=True)\ntime.sleep(60)";
    let mut command = Command::new("python3");
    let mut python =
        ns.run(|| command.args(["-c", listen]).stdout(Stdio::piped()).spawn()).unwrap().unwrap();
    let listening = || {
        ns.run(|| fs::read_to_string("/proc/thread-self/net/tcp").unwrap())
            .unwrap()
            .contains(":2328 ")
    };
    while !listening() {
        std::thread::sleep(Duration::from_millis(50));
    }
    let daemon = proxy(&ns, "127.0.0.1:9000", &[]);
    let mut client = connect(&ns, ADDRESS);
    python.stdout.take().unwrap().read_exact(&mut [0; 1]).unwrap();
    // What it has not read makes the kernel reset the connection when it dies.
    client.write_all(b"unread").unwrap();
    std::thread::sleep(Duration::from_millis(200));
    python.kill().unwrap();
    python.wait().unwrap();
    assert_eq!(outcome(&mut client), Err(ErrorKind::ConnectionReset));
    // And now there is no backend.
    assert_eq!(attempt(&ns), Err(ErrorKind::ConnectionReset));
    daemon.end();
}

/// The address of a name may change.
#[test]
fn a_name_is_looked_up_again_at_sighup() {
    let Some(ns) = namespace() else { return };
    let name = "localhost:9";
    let proxy = proxy(&ns, name, &[]);
    proxy.signal(Signal::HUP);
    let said = settled(|| proxy.said());
    let last = said.last().unwrap();
    assert!(last.starts_with(&format!("SIGHUP: {name} is at ")), "{said:?}");
    assert!(last.contains("127.0.0.1"), "{said:?}");
    proxy.end();
}

#[test]
fn no_backend_means_a_reset() {
    let Some(ns) = namespace() else { return };
    // Behind this device nobody answers.
    let nobody = TunConfig {
        name: "nobody".into(),
        addresses: vec![("10.98.0.1".parse().unwrap(), 24)],
        mtu: 1500,
        offload: false,
    };
    let _nobody = ns.run(|| Tun::open(&nobody)).unwrap().unwrap();
    let wait = |to: &str, reason: &str| {
        let daemon = proxy(&ns, to, &["--connect-timeout", "1s", "--metrics", "127.0.0.1:9100"]);
        let begin = Instant::now();
        assert_eq!(attempt(&ns), Err(ErrorKind::ConnectionReset), "{to}");
        let waited = begin.elapsed().as_secs_f64();
        let name = format!("ackclock_backend_failures_total{{reason=\"{reason}\"}}");
        assert_eq!(metrics(&ns, "127.0.0.1:9100")[&name], 1.0);
        let line = format!("a client of {ADDRESS} is reset: no backend takes it ({reason})");
        assert_eq!(daemon.said(), [line]);
        daemon.end();
        waited
    };
    // Nobody listens; no way there; no answer.
    assert!(wait("127.0.0.1:1", "refused") < 1.0);
    assert!(wait("192.0.2.1:80", "unreachable") < 1.0);
    let waited = wait("10.98.0.2:80", "timeout");
    assert!((1.0..4.0).contains(&waited), "{waited}");
}

/// At the start there is room for as many clients as open files; where others have used those up
/// meanwhile, clients wait as well. None is reset.
#[test]
fn clients_wait_where_there_are_no_open_files() {
    let Some(ns) = namespace() else { return };
    let (to, thread) = backend(&ns, 30, echo);
    let to = to.to_string();
    let args = ["proxy", "--listen", ADDRESS, "--to", &to, "--metrics", "127.0.0.1:9100"];
    let daemon = Daemon::start_with_files(&ns, &args, 70);
    // All 32 fetches of metrics may be there, and four files may be opened for a moment.
    let room = 70 - daemon.open_files() - 32 - 4;
    assert!((10..30).contains(&room), "{room}");
    let mut clients: Vec<_> = (0..30).map(|_| connect(&ns, ADDRESS)).collect();
    let counts = || {
        let now = metrics(&ns, "127.0.0.1:9100");
        let named = ["open", "waiting"].map(|n| now[&format!("ackclock_connections_{n}")]);
        let failures = now.iter().filter(|(name, _)| name.contains("backend_failures"));
        (named, failures.map(|(_, n)| n).sum::<f64>())
    };
    assert_eq!(settled(counts), ([room as f64, (30 - room) as f64], 0.0));
    let expected = format!(
        "warning: 70 open files are allowed, which is room for {room} connections, not for \
         --max-connections 10000; further clients wait; `ulimit -Hn` is the limit"
    );
    assert_eq!(daemon.said()[0], expected);
    for mut client in clients.drain(..) {
        client.write_all(b"x").unwrap();
        client.read_exact(&mut [0; 1]).unwrap();
    }
    thread.join().unwrap();
    daemon.end();

    let (to, thread) = backend(&ns, 3, echo);
    let daemon = proxy(&ns, &to.to_string(), &["--metrics", "127.0.0.1:9100"]);
    let mut fetch = connect(&ns, "127.0.0.1:9100");
    // Its file is not the one that is left.
    std::thread::sleep(Duration::from_millis(300));
    daemon.limit_files(1);
    let [mut first, mut second, mut third] = [(); 3].map(|()| connect(&ns, ADDRESS));
    second.write_all(b"x").unwrap();
    third.write_all(b"x").unwrap();
    third.set_read_timeout(Some(Duration::from_millis(1500))).unwrap();
    assert_eq!(third.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock);
    let said = "1 client waits: there are no more open files (`ulimit -Hn`)";
    assert_eq!(daemon.said(), [said]);
    fetch.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let text = String::from_utf8(outcome(&mut fetch).unwrap()).unwrap();
    assert!(text.contains("\nackclock_connections_waiting_for_file 2\n"), "{text}");
    assert!(text.contains("\nackclock_connections_waiting_for_name 0\n"), "{text}");
    // The file of the first is for the second, and more of them for the third.
    first.write_all(b"x").unwrap();
    first.read_exact(&mut [0; 1]).unwrap();
    drop(first);
    second.read_exact(&mut [0; 1]).unwrap();
    daemon.limit_files(100);
    third.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    third.read_exact(&mut [0; 1]).unwrap();
    drop((second, third));
    thread.join().unwrap();
    daemon.end();
}

/// A connection that rests ends after its time, another one for a half-closed one, and one that
/// moves does not.
#[test]
fn connections_that_rest_are_reset() {
    let Some(ns) = namespace() else { return };
    let (to, thread) = backend(&ns, 3, |mut stream| outcome(&mut stream));
    let args = ["--idle", "3s", "--half-closed-idle", "1s", "--metrics", "127.0.0.1:9100"];
    let daemon = proxy(&ns, &to.to_string(), &args);
    let mut silent = connect(&ns, ADDRESS);
    let half = connect(&ns, ADDRESS);
    let mut busy = connect(&ns, ADDRESS);
    half.shutdown(Shutdown::Write).unwrap();
    let rested = |state: &str| {
        let name = format!("ackclock_rested_connections_total{{state=\"{state}\"}}");
        metrics(&ns, "127.0.0.1:9100")[&name]
    };
    let begin = Instant::now();
    assert_eq!(outcome(&mut { half }), Ok(Vec::new()), "the backend answers with FIN");
    let mut sent = 0;
    while rested("open") == 0.0 {
        busy.write_all(b"x").unwrap();
        sent += 1;
        std::thread::sleep(Duration::from_millis(200));
        assert!(begin.elapsed().as_secs() < 20);
    }
    let waited = begin.elapsed().as_secs_f64();
    assert!(waited > 2.5, "{waited}");
    assert_eq!(outcome(&mut silent), Err(ErrorKind::ConnectionReset));
    drop(busy);
    let mut got = thread.join().unwrap();
    got.sort();
    assert_eq!(got, [Ok(vec![]), Ok(vec![b'x'; sent]), Err(ErrorKind::ConnectionReset)]);
    daemon.end();
}

/// Where the option asks for keep-alives, and nowhere else.
#[test]
fn a_client_that_is_gone_without_a_word_is_noticed() {
    let Some(ns) = namespace() else { return };
    for (keep_alive, open) in [("1s", 0.0), ("off", 1.0)] {
        let (to, thread) = backend(&ns, 1, |mut stream| outcome(&mut stream));
        let args = ["--keep-alive", keep_alive, "--metrics", "127.0.0.1:9100", "--drain", "1s"];
        let daemon = proxy(&ns, &to.to_string(), &args);
        let client = connect(&ns, ADDRESS);
        std::thread::sleep(Duration::from_millis(200));
        // Nobody answers for this address any more.
        let gone = daemon::run(&ns, "ip", &["address", "del", "10.77.0.1/24", "dev", "ackclock0"]);
        assert!(gone.status.success(), "{gone:?}");
        std::thread::sleep(Duration::from_millis(3500));
        let now = metrics(&ns, "127.0.0.1:9100");
        assert_eq!(now["ackclock_connections_open"], open, "{keep_alive}");
        daemon.end();
        thread.join().unwrap();
        drop(client);
    }
}

#[test]
fn half_closed_connections_have_a_time_of_their_own() {
    let Some(ns) = namespace() else { return };
    // It never answers the client's FIN.
    let (to, thread) = backend(&ns, 1, |mut stream| {
        let got = outcome(&mut stream);
        std::thread::sleep(Duration::from_secs(4));
        (got, stream.write_all(b"late").and_then(|()| stream.write_all(b"late")).is_err())
    });
    let args = ["--half-closed-idle", "1s", "--metrics", "127.0.0.1:9100"];
    let daemon = proxy(&ns, &to.to_string(), &args);
    let mut client = connect(&ns, ADDRESS);
    client.write_all(b"question").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(outcome(&mut client), Err(ErrorKind::ConnectionReset));
    let now = metrics(&ns, "127.0.0.1:9100");
    assert_eq!(now["ackclock_rested_connections_total{state=\"half_closed\"}"], 1.0);
    assert_eq!(now["ackclock_rested_connections_total{state=\"open\"}"], 0.0);
    assert_eq!(thread.join().unwrap(), [(Ok(b"question".to_vec()), true)]);
    daemon.end();
}

/// Who waits, and who is refused, is seen from outside.
#[test]
fn clients_that_wait_and_clients_too_many_are_counted() {
    let Some(ns) = namespace() else { return };
    let (to, thread) = backend(&ns, 3, echo);
    let args = ["--max-connections", "2", "--metrics", "127.0.0.1:9100"];
    let daemon = proxy(&ns, &to.to_string(), &args);
    let mut clients: Vec<_> = (0..3).map(|_| connect(&ns, ADDRESS)).collect();
    std::thread::sleep(Duration::from_millis(200));
    let now = metrics(&ns, "127.0.0.1:9100");
    let seen = |now: &std::collections::BTreeMap<String, f64>| {
        ["open", "waiting", "total"].map(|n| now[&format!("ackclock_connections_{n}")])
    };
    assert_eq!(seen(&now), [2.0, 1.0, 2.0]);
    assert_eq!(
        settled(|| daemon.said()),
        ["1 client waits: there may be 2 connections (--max-connections, --memory, open files)"]
    );
    drop(clients.remove(0));
    clients[1].write_all(b"x").unwrap();
    clients[1].read_exact(&mut [0; 1]).unwrap();
    assert_eq!(seen(&metrics(&ns, "127.0.0.1:9100")), [2.0, 0.0, 3.0]);
    drop(clients);
    thread.join().unwrap();
    daemon.end();

    let (to, thread) = backend(&ns, 3, echo);
    let args = ["--max-per-source", "2", "--metrics", "127.0.0.1:9100"];
    let daemon = proxy(&ns, &to.to_string(), &args);
    let first = [connect(&ns, ADDRESS), connect(&ns, ADDRESS)];
    assert_eq!(attempt(&ns), Err(ErrorKind::ConnectionReset));
    assert_eq!(attempt(&ns), Err(ErrorKind::ConnectionReset));
    assert_eq!(
        metrics(&ns, "127.0.0.1:9100")["ackclock_connections_refused_total{limit=\"connections\"}"],
        2.0
    );
    let line = "10.77.0.1 is refused: it has 2 connections (--max-per-source)";
    assert_eq!(settled(|| daemon.said()), [line], "not a line for each");
    // Once one has ended there is room for another one.
    drop(first);
    std::thread::sleep(Duration::from_millis(200));
    drop(connect(&ns, ADDRESS));
    thread.join().unwrap();
    daemon.end();
}

/// Where nothing moves for 100 s, who has never sent anything makes room for those who wait, and
/// not who has asked and pauses.
#[test]
fn who_has_sent_nothing_makes_room_before_who_pauses() {
    let Some(ns) = namespace() else { return };
    let (to, thread) = backend(&ns, 3, |mut stream| {
        stream.set_read_timeout(None).unwrap();
        if stream.read_exact(&mut [0; 1]).is_ok() {
            stream.write_all(&noise(9_000_000, 3)).unwrap();
        }
    });
    let args = ["--max-connections", "2", "--metrics", "127.0.0.1:9100"];
    let daemon = proxy(&ns, &to.to_string(), &args);
    let mut pauses = connect(&ns, ADDRESS);
    rustix::net::sockopt::set_socket_recv_buffer_size(&pauses, 50_000).unwrap();
    pauses.write_all(b"x").unwrap();
    let begin = Instant::now();
    let mut silent = connect(&ns, ADDRESS);
    let mut one = connect(&ns, ADDRESS);
    one.write_all(b"x").unwrap();
    one.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    assert!(outcome(&mut one) == Ok(noise(9_000_000, 3)));
    let waited = begin.elapsed().as_secs_f64();
    assert!((99.0..110.0).contains(&waited), "{waited}");
    assert_eq!(outcome(&mut silent), Err(ErrorKind::ConnectionReset));
    let now = metrics(&ns, "127.0.0.1:9100");
    assert_eq!(now["ackclock_connections_displaced_total"], 1.0);
    assert!(outcome(&mut pauses) == Ok(noise(9_000_000, 3)));
    thread.join().unwrap();
    daemon.end();
}

/// Who has sent something and reset while there is no open file for its backend has no place where
/// another one waits for that.
#[test]
fn who_is_gone_waits_for_no_file() {
    let Some(ns) = namespace() else { return };
    let (to, thread) = backend(&ns, 2, echo);
    let args = ["--max-connections", "2", "--metrics", "127.0.0.1:9100"];
    let daemon = proxy(&ns, &to.to_string(), &args);
    let mut fetch = connect(&ns, "127.0.0.1:9100");
    // Its file is not the one that is left.
    std::thread::sleep(Duration::from_millis(300));
    daemon.limit_files(1);
    let mut first = connect(&ns, ADDRESS);
    first.write_all(b"x").unwrap();
    first.read_exact(&mut [0; 1]).unwrap();
    let mut gone = connect(&ns, ADDRESS);
    gone.write_all(b"x").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    reset(gone);
    let mut waits = connect(&ns, ADDRESS);
    std::thread::sleep(Duration::from_secs(4));
    fetch.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let text = String::from_utf8(outcome(&mut fetch).unwrap()).unwrap();
    assert!(text.contains("\nackclock_connections_waiting 0\n"), "{text}");
    assert!(text.contains("\nackclock_connections_waiting_for_file 1\n"), "{text}");
    // The file of the first is for it.
    drop(first);
    waits.write_all(b"x").unwrap();
    waits.read_exact(&mut [0; 1]).unwrap();
    drop(waits);
    thread.join().unwrap();
    daemon.end();
}

/// A client that has sent something and reset while its backend is being connected to has its place
/// only as long as nobody waits. Where nobody does, a backend that takes no client is seen by it.
#[test]
fn who_is_gone_before_there_is_a_backend_makes_room() {
    let Some(ns) = namespace() else { return };
    // Where nobody accepts, two SYNs fill a queue of one, and further ones are dropped.
    let listener = ns.run(|| Socket::new(Domain::IPV4, Type::STREAM, None)).unwrap().unwrap();
    listener.bind(&"127.0.0.1:0".parse::<SocketAddr>().unwrap().into()).unwrap();
    listener.listen(0).unwrap();
    let to = listener.local_addr().unwrap().as_socket().unwrap();
    let fill = ns.run(|| TcpStream::connect(to)).unwrap().unwrap();
    let args = ["--max-connections", "1", "--metrics", "127.0.0.1:9100"];
    let args = [&args[..], &["--connect-timeout", "5s", "--drain", "1s"]].concat();
    let daemon = proxy(&ns, &to.to_string(), &args);
    let named = |name: &str| metrics(&ns, "127.0.0.1:9100")[name];
    let failed = "ackclock_backend_failures_total{reason=\"timeout\"}";
    let leave = || {
        let mut client = connect(&ns, ADDRESS);
        client.write_all(b"hi").unwrap();
        std::thread::sleep(Duration::from_millis(100));
        reset(client);
    };
    leave();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(named("ackclock_connections_open"), 1.0);
    let begin = Instant::now();
    let waits = connect(&ns, ADDRESS);
    while named("ackclock_connections_total") < 2.0 {
        assert!(begin.elapsed() < Duration::from_secs(4), "it has the place of one that is gone");
        std::thread::sleep(Duration::from_millis(50));
    }
    reset(waits);
    assert_eq!(named(failed), 0.0);
    // Where nobody waits, it is tried for as long as for others.
    leave();
    std::thread::sleep(Duration::from_millis(7500));
    assert_eq!((named("ackclock_connections_open"), named(failed)), (0.0, 1.0));
    let line = format!("a client of {ADDRESS} is reset: no backend takes it (timeout)");
    assert_eq!(settled(|| daemon.said()).last(), Some(&line));
    drop((fill, listener));
    daemon.end();
}

/// Of those that come at once from one address, as many are taken as it may open in a second.
#[test]
fn clients_that_come_too_fast_are_refused() {
    let Some(ns) = namespace() else { return };
    let log = scratch("proxy-rate").join("log");
    let (to, thread) = backend(&ns, 2, echo);
    let args = ["--max-rate-per-source", "2", "--metrics", "127.0.0.1:9100", "--access-log"];
    let args = [&args[..], &[log.to_str().unwrap()]].concat();
    let daemon = proxy(&ns, &to.to_string(), &args);
    // Some hear of their reset while they connect.
    let clients: Vec<_> =
        (0..20).map(|_| ns.run(|| TcpStream::connect(ADDRESS)).unwrap()).collect();
    let line =
        "10.77.0.1 is refused: it opens more than 2 connections a second (--max-rate-per-source)";
    assert_eq!(settled(|| daemon.said()), [line]);
    let now = metrics(&ns, "127.0.0.1:9100");
    let refused = now["ackclock_connections_refused_total{limit=\"rate\"}"];
    assert_eq!(refused + now["ackclock_connections_total"], 20.0);
    // However slow this machine is, twenty in a row do not take the nine seconds that they may.
    assert!(refused > 0.0);
    drop(clients);
    daemon.end();
    let text = std::fs::read_to_string(&log).unwrap();
    // A line a second, which stands for those before it.
    let lines = text.lines().filter(|line| line.contains("\"ended\":\"refused_rate\""));
    let counts = lines.map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["refused"].as_f64().unwrap()
    });
    let counts: Vec<f64> = counts.collect();
    assert_eq!(counts[0], 1.0);
    assert!(counts.iter().sum::<f64>() <= refused && counts.len() < 11, "{counts:?}");
    drop(thread);
}

#[test]
fn a_side_that_does_not_read_holds_the_other_one_back() {
    let Some(ns) = namespace() else { return };
    let small =
        ["--send-buffer", "64kb", "--receive-buffer", "64kb", "--metrics", "127.0.0.1:9100"];
    let listener = ns.run(|| TcpListener::bind("127.0.0.1:0")).unwrap().unwrap();
    let daemon = proxy(&ns, &listener.local_addr().unwrap().to_string(), &small);
    let moved = |direction: &str| {
        let name = format!("ackclock_bytes_total{{direction=\"{direction}\"}}");
        let ns = ns.clone();
        move || metrics(&ns, "127.0.0.1:9100")[&name]
    };
    let mut client = connect(&ns, ADDRESS);
    let (mut backend, _) = listener.accept().unwrap();
    let (up, down) = (noise(60_000_000, 3), noise(60_000_000, 4));
    let (mut up_to, mut down_to, up_copy, down_copy) =
        (client.try_clone().unwrap(), backend.try_clone().unwrap(), up.clone(), down.clone());
    let writers = [
        std::thread::spawn(move || {
            up_to.write_all(&up_copy).and_then(|()| up_to.shutdown(Shutdown::Write))
        }),
        std::thread::spawn(move || {
            down_to.write_all(&down_copy).and_then(|()| down_to.shutdown(Shutdown::Write))
        }),
    ];
    // Nobody reads: what is on its way is what the kernel's buffers and ours hold, and nothing more
    // happens.
    for direction in ["received", "sent"] {
        let held = settled(moved(direction));
        assert!(held < 30_000_000.0, "{direction} {held}");
    }
    let before = settled(|| daemon.cpu());
    std::thread::sleep(Duration::from_secs(2));
    let used = daemon.cpu() - before;
    assert!(used <= 0.03, "{used} s");
    let reading = std::thread::spawn(move || outcome(&mut backend).unwrap());
    assert!(outcome(&mut client).unwrap() == down);
    assert!(reading.join().unwrap() == up);
    writers.into_iter().for_each(|writer| writer.join().unwrap().unwrap());
    daemon.end();
}

#[test]
fn metrics_of_a_known_exchange() {
    let Some(ns) = namespace() else { return };
    let (to, thread) = backend(&ns, 1, |mut stream| {
        stream.read_exact(&mut [0; 5000]).unwrap();
        stream.write_all(&noise(30_000, 5)).unwrap();
    });
    let args =
        ["--metrics", "127.0.0.1:9100", "--mss", "1000", "--no-timestamps", "--strategy", "sack"];
    let daemon = proxy(&ns, &to.to_string(), &args);
    let mut client = connect(&ns, ADDRESS);
    client.write_all(&noise(5000, 6)).unwrap();
    assert_eq!(outcome(&mut client).unwrap().len(), 30_000);
    drop(client);
    thread.join().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let now = metrics(&ns, "127.0.0.1:9100");
    let is = |name: &str, value: u64| assert_eq!(now[name], value as f64, "{name}");
    is("ackclock_connections_total{strategy=\"sack\"}", 1);
    is("ackclock_connections_open{strategy=\"sack\"}", 0);
    is("ackclock_bytes_total{strategy=\"sack\",direction=\"received\"}", 5000);
    is("ackclock_bytes_total{strategy=\"sack\",direction=\"sent\"}", 30_000);
    is("ackclock_retransmissions_total{strategy=\"sack\"}", 0);
    is("ackclock_timeouts_total{strategy=\"sack\",class=\"non_trigger\"}", 0);
    is("ackclock_backend_failures_total{reason=\"refused\"}", 0);
    is("ackclock_backend_connect_seconds_count", 1);
    for times in ["connection_duration", "connection_rtt"] {
        is(&format!("ackclock_{times}_seconds_count{{strategy=\"sack\"}}"), 1);
        is(&format!("ackclock_{times}_seconds_bucket{{strategy=\"sack\",le=\"+Inf\"}}"), 1);
        is(&format!("ackclock_{times}_seconds_bucket{{strategy=\"sack\",le=\"60\"}}"), 1);
    }
    daemon.end();
}

/// Each is refused before there is a device.
#[test]
fn what_leads_nowhere_or_round_is_refused() {
    let refused = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ackclock"));
        let output = command.arg("proxy").args(args).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let own = "is an address of our own stack (--addr), where the proxy listens; write the address \
        of the backend";
    for (args, text) in [
        (
            &["--listen", "10.77.0.2:80", "--to", "10.77.0.2:80"][..],
            format!("--to 10.77.0.2:80: 10.77.0.2 {own}"),
        ),
        (
            &[
                "--addr",
                "10.1.0.2/24",
                "--addr",
                "fd77::2/64",
                "--listen",
                "10.1.0.2:80",
                "--to",
                "[fd77::2]:1",
            ],
            format!("--to [fd77::2]:1: fd77::2 {own}"),
        ),
        (
            &["--listen", "10.77.0.2:80", "--to", "127.0.0.1:0"],
            "--to 127.0.0.1:0: no server has port 0; write the port of the server".into(),
        ),
        (
            &["--listen", "10.77.0.2:80", "--to", "127.0.0.1"],
            "--to 127.0.0.1: invalid socket address; write for example 127.0.0.1:8080".into(),
        ),
        (
            &["--listen", "10.77.0.2:0", "--to", "127.0.0.1:1"],
            "--listen 10.77.0.2:0: no client can know port 0; write the port to listen at".into(),
        ),
        (
            &["--listen", "10.77.0.2:80", "--to", "127.0.0.1:1", "--mss", "1461"],
            "--mss 1461: an MTU of 1500 (--mtu) has room for at most 1460".into(),
        ),
        (
            &[
                "--addr",
                "fd77::2/64",
                "--mtu",
                "1300",
                "--listen",
                "[fd77::2]:80",
                "--to",
                "127.0.0.1:1",
                "--mss",
                "1241",
            ],
            "--mss 1241: an MTU of 1300 (--mtu) has room for at most 1240".into(),
        ),
    ] {
        assert_eq!(refused(args), (Some(2), format!("error: {text}\n")));
    }
    for (args, line) in [
        (
            ["--listeners", "no.toml", "--to", "127.0.0.1:1"],
            "error: the argument '--listeners <FILE.toml>' cannot be used with '--to <HOST:PORT>'",
        ),
        (
            ["--listeners", "no.toml", "--metrics", "foo"],
            "error: invalid value 'foo' for '--metrics <ADDR:PORT>': an address of this machine \
             and a port are expected, such as `127.0.0.1:9100`",
        ),
    ] {
        let (code, said) = refused(&args);
        assert_eq!((code, said.lines().next()), (Some(2), Some(line)));
    }
}

/// A client is offered an MSS, up to the largest there is; of its segments 12 bytes are timestamps.
#[test]
fn a_client_is_offered_the_mss() {
    let Some(ns) = namespace() else { return };
    let to = daemon::backend(&ns, "one").to_string();
    for (mss, segment) in [("1460", " mss:1448 "), ("1000", " mss:988 ")] {
        let args = ["proxy", "--listen", "10.77.0.2:80", "--to", &to, "--mss", mss];
        let proxy = Daemon::start(&ns, &args);
        let client = ns.run(|| TcpStream::connect(ADDRESS)).unwrap().unwrap();
        let port = client.local_addr().unwrap().port();
        let told = daemon::run(&ns, "ss", &["-Htni", &format!("sport = :{port}")]).stdout;
        let told = String::from_utf8(told).unwrap();
        assert!(told.contains(segment), "{told}");
        drop(client);
        proxy.end();
    }
}

#[test]
fn an_address_that_is_not_ours_is_refused() {
    let Some(ns) = namespace() else { return };
    let args = ["proxy", "--listen", "10.1.1.1:80", "--to", "127.0.0.1:1"];
    let output = daemon::run(&ns, env!("CARGO_BIN_EXE_ackclock"), &args);
    let text = "error: --listen 10.1.1.1:80: our stack does not have this address; --addr gives it \
        10.77.0.2\n";
    assert_eq!(
        (output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()),
        (Some(2), text)
    );
}
