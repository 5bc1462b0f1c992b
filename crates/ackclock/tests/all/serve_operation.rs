//! `serve` as its operator sees it: metrics, signals, errors, rights, the service manager. The
//! tests need root and curl; without root they say that they were skipped.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::daemon::{
    ADDRESS, Daemon, URL, connect, curl, metrics, namespace, noise, rest, run, scratch, serve,
    settled,
};

#[test]
fn metrics_of_a_known_exchange() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-metrics");
    fs::write(dir.join("file"), noise(100_000, 8)).unwrap();
    let server =
        serve(&ns, &dir, &["--metrics", "127.0.0.1:9100", "--mss", "1000", "--no-timestamps"]);
    let mut client = connect(&ns, ADDRESS);
    let request = b"GET /file HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    client.write_all(request).unwrap();
    let mut got = Vec::new();
    client.read_to_end(&mut got).unwrap();
    drop(client);
    std::thread::sleep(Duration::from_millis(200));
    let now = metrics(&ns, "127.0.0.1:9100");
    let is = |name: &str, value: usize| assert_eq!(now[name], value as f64, "{name}");
    is("ackclock_connections_total", 1);
    is("ackclock_connections_open", 0);
    is("ackclock_half_open_connections", 0);
    is("ackclock_bytes_total{direction=\"received\"}", request.len());
    is("ackclock_bytes_total{direction=\"sent\"}", got.len());
    is("ackclock_segments_sent_total", got.len().div_ceil(1000));
    is("ackclock_retransmissions_total", 0);
    is("ackclock_fast_retransmissions_total", 0);
    is("ackclock_timeouts_total{class=\"non_trigger\"}", 0);
    is("ackclock_timeouts_total{class=\"multiple_losses\"}", 0);
    is("ackclock_timeouts_total{class=\"lost_retransmission\"}", 0);
    is("ackclock_recoveries_total", 0);
    is("ackclock_syn_cookies_total", 0);
    is("ackclock_bad_checksums_total", 0);
    is("ackclock_device_refusals_total", 0);
    is("ackclock_device_drops_total{direction=\"received\"}", 0);
    is("ackclock_device_drops_total{direction=\"sent\"}", 0);
    is("ackclock_http_responses_total{code=\"200\"}", 1);
    is("ackclock_http_response_seconds_count", 1);
    is("ackclock_http_response_seconds_bucket{le=\"25\"}", 1);
    is(concat!("ackclock_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"}"), 1);
    let rtt = now["ackclock_rtt_seconds_sum"] / now["ackclock_rtt_seconds_count"];
    assert!(rtt > 0.0 && rtt < 1.0, "{rtt}");

    let code = |args: &[&str]| {
        curl(&ns, &[&["-o", "/dev/null", "-w", "%{http_code} %{size_download}"], args].concat())
    };
    assert_eq!(code(&["http://127.0.0.1:9100/"]), "404 14");
    assert_eq!(code(&["-I", "http://127.0.0.1:9100/metrics"]), "200 0");
    assert_eq!(code(&["-d", "x", "http://127.0.0.1:9100/metrics"]), "405 23");
    server.end();
}

/// Connections that say nothing keep nobody from the metrics: the oldest makes room.
#[test]
fn silent_fetches_make_room() {
    let Some(ns) = namespace() else { return };
    let server = serve(&ns, &scratch("serve-silent"), &["--metrics", "127.0.0.1:9100"]);
    let mut silent: Vec<_> = (0..32).map(|_| connect(&ns, "127.0.0.1:9100")).collect();
    assert_eq!(metrics(&ns, "127.0.0.1:9100")["ackclock_connections_open"], 0.0);
    assert_eq!(rest(&mut silent[0]), "");
    silent[1].set_nonblocking(true).unwrap();
    assert_eq!(silent[1].read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    server.end();
}

/// The send buffer takes the whole response at once. Its time goes on until the client, which has
/// another strategy than that of the options, has taken it.
#[test]
fn a_response_takes_until_it_is_acknowledged() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-response");
    fs::write(dir.join("file"), noise(2_000_000, 8)).unwrap();
    let args = ["--metrics", "127.0.0.1:9100", "--split", "prr=10.77.0.0/24"];
    let server = serve(&ns, &dir, &args);
    let of = |key: &str| {
        let now = metrics(&ns, "127.0.0.1:9100");
        let key = |strategy: &str| match (strategy, key) {
            ("prr", key) => format!("ackclock_http_response{key}{{strategy=\"prr\"}}"),
            (_, key) => format!("ackclock_http_response{key}"),
        };
        [now[&key("linux")], now[&key("prr")]]
    };
    let mut client = connect(&ns, ADDRESS);
    rustix::net::sockopt::set_socket_recv_buffer_size(&client, 100_000).unwrap();
    client.write_all(b"GET /file HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    client.peek(&mut [0]).unwrap();
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(of("_seconds_count"), [0.0, 0.0]);
    let now = metrics(&ns, "127.0.0.1:9100");
    assert_eq!(now["ackclock_http_responses_total{strategy=\"prr\",code=\"200\"}"], 1.0);
    assert!(!now.contains_key("ackclock_http_responses_total{code=\"200\"}"), "{now:?}");
    let head = b"\r\n\r\n";
    let mut got = Vec::new();
    let mut buffer = vec![0; 1 << 20];
    while got.windows(4).position(|w| w == head).is_none_or(|at| got.len() < at + 4 + 2_000_000) {
        let n = client.read(&mut buffer).unwrap();
        got.extend_from_slice(&buffer[..n]);
    }
    assert_eq!(settled(|| of("_seconds_count")), [0.0, 1.0]);
    let [of_the_options, seconds] = of("_seconds_sum");
    assert_eq!(of_the_options, 0.0);
    assert!((0.7..20.0).contains(&seconds), "{seconds}");

    // Where it is acknowledged at once, nothing is added. The connection is still open.
    client.write_all(b"HEAD /file HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    assert!(client.read(&mut buffer).unwrap() > 0);
    assert_eq!(settled(|| of("_seconds_count")), [0.0, 2.0]);
    let more = of("_seconds_sum")[1] - seconds;
    assert!((0.0..0.5).contains(&more), "{more}");
    server.end();
}

#[test]
fn signals_end_it_and_leave_nothing() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-signals");
    fs::write(dir.join("big"), noise(20_000_000, 9)).unwrap();
    let devices = || ns.run(|| fs::read_to_string("/proc/thread-self/net/dev").unwrap()).unwrap();
    let before = devices();
    let download = |signals: &[Signal], drain: &str| {
        let server = serve(&ns, &dir, &["--send-buffer", "64kb", "--drain", drain]);
        assert_ne!(devices(), before);
        let mut idle = connect(&ns, ADDRESS);
        let mut busy = connect(&ns, ADDRESS);
        busy.write_all(b"GET /big HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
        busy.read_exact(&mut [0; 1000]).unwrap();
        let begin = Instant::now();
        server.signal(signals[0]);
        // What is idle ends at once.
        assert_eq!(rest(&mut idle), "");
        drop(idle);
        // Its end is to arrive before the next signal, which cuts off what there is.
        std::thread::sleep(Duration::from_millis(200));
        signals[1..].iter().for_each(|&signal| server.signal(signal));
        let said = server.wait();
        let cut = busy.read_to_end(&mut Vec::new()).unwrap_err().kind();
        assert_eq!((devices(), cut), (before.clone(), ErrorKind::ConnectionReset));
        assert!(said.starts_with("2 connections, 1 cut off; "), "{said}");
        begin.elapsed().as_secs_f64()
    };
    let waited = download(&[Signal::INT], "1s");
    assert!((1.0..30.0).contains(&waited), "{waited}");
    let waited = download(&[Signal::TERM, Signal::INT], "60s");
    assert!(waited < 30.0, "{waited}");

    // Two signals that it finds together end it at once, too.
    let server = serve(&ns, &dir, &["--drain", "60s"]);
    for signal in [Signal::STOP, Signal::TERM, Signal::INT, Signal::CONT] {
        server.signal(signal);
    }
    let begin = Instant::now();
    server.wait();
    assert!(begin.elapsed().as_secs_f64() < 30.0);

    // A download that goes on is finished first.
    let server = serve(&ns, &dir, &["--send-buffer", "64kb"]);
    let mut busy = connect(&ns, ADDRESS);
    busy.write_all(b"GET /big HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    busy.read_exact(&mut [0; 1000]).unwrap();
    server.signal(Signal::TERM);
    let mut got = Vec::new();
    busy.read_to_end(&mut got).unwrap();
    assert!(got.ends_with(&noise(20_000_000, 9)[1000..]));
    drop(busy);
    let said = server.wait();
    assert!(said.starts_with("1 connection, 0 cut off; "), "{said}");
}

#[test]
fn what_cannot_be_served_is_said() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-errors");
    let dir = dir.to_str().unwrap();
    let failed = |args: &[&str]| {
        let output = run(&ns, env!("CARGO_BIN_EXE_ackclock"), args);
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let missing = failed(&["serve", "/nowhere/at/all"]);
    assert_eq!(
        missing,
        (
            3,
            "error: /nowhere/at/all: cannot be read: No such file or directory (os error 2)\n"
                .into()
        )
    );
    let (code, text) = failed(&["serve", dir, "--metrics", "192.0.2.1:9100"]);
    assert_eq!((code, text.starts_with("error: --metrics 192.0.2.1:9100: ")), (4, true), "{text}");

    let (code, text) = failed(&["serve", dir, "--mss", "87"]);
    assert_eq!((code, text.contains("87 is not in 88..=65535")), (2, true), "{text}");
    let (code, text) = failed(&["serve", dir, "--addr", "10.77.0.0/24"]);
    assert_eq!((code, text.contains("the address of the network")), (2, true), "{text}");
}

/// Whoever takes it over finds no capability, and root's rights to no file.
#[test]
fn nothing_is_kept_that_it_does_not_need() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-privileges");
    fs::write(dir.join("open"), "open").unwrap();
    for (name, mode) in [("nobody", 0o000), ("root", 0o600)] {
        fs::write(dir.join(name), "secret").unwrap();
        fs::set_permissions(dir.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let code = |path: &str| {
        curl(&ns, &["-o", "/dev/null", "-w", "%{http_code}", &format!("{URL}/{path}")])
    };
    for (more, uid, root) in [(&[][..], "0", "200"), (&["--user", "nobody"], "65534", "403")] {
        let server = serve(&ns, &dir, more);
        assert_eq!(
            (code("open"), code("nobody"), code("root")),
            ("200".into(), "403".into(), root.into())
        );
        for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
            assert_eq!(server.status(set), "0000000000000000", "{set}");
        }
        assert_eq!(server.status("NoNewPrivs"), "1");
        assert_eq!(server.status("Uid"), [uid; 4].join("\t"));
        server.end();
    }
    let args = ["serve", dir.to_str().unwrap(), "--user", "no-such-user"];
    let output = run(&ns, env!("CARGO_BIN_EXE_ackclock"), &args);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text, "error: --user: there is no user `no-such-user`\n");
}

/// What it did is told, also where the device is taken away.
#[test]
fn a_device_that_is_gone_ends_it() {
    let Some(ns) = namespace() else { return };
    let server = serve(&ns, &scratch("serve-gone"), &["--tun", "gone"]);
    curl(&ns, &["-o", "/dev/null", URL]);
    let said = server.said_by();
    assert!(run(&ns, "ip", &["link", "delete", "gone"]).status.success());
    let (code, out) = server.code_and_output();
    assert_eq!(code, Some(4));
    assert!(out.starts_with("1 connection, "), "{out}");
    let last = settled(|| said.lock().unwrap().last().cloned()).unwrap();
    assert!(last.starts_with("error: the TUN device is gone: "), "{last}");
}

/// With less memory than `--max-connections` take there are fewer.
#[test]
fn little_memory_is_said() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-memory");
    let server = serve(&ns, &dir, &["--memory", "40mb"]);
    let warning = "warning: 40mb of memory may be taken, which is room for 435 connections at \
                   most, not for --max-connections 10000; further clients wait; --memory is the limit";
    assert_eq!(server.said(), [warning]);
    server.end();
    let server = serve(&ns, &dir, &["--memory", "40mb", "--max-connections", "435"]);
    assert_eq!(server.said(), [] as [&str; 0]);
    server.end();
}

#[test]
fn a_hangup_ends_nothing() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-hangup");
    fs::write(dir.join("file"), "hello").unwrap();
    let server = serve(&ns, &dir, &[]);
    let mut client = connect(&ns, ADDRESS);
    server.signal(Signal::HUP);
    client.write_all(b"GET /file HTTP/1.0\r\n\r\n").unwrap();
    assert!(rest(&mut client).ends_with("hello"));
    assert_eq!(settled(|| server.said()), [format!("SIGHUP: serving {}", dir.display())]);
    server.end();
}

/// SIGHUP before and during the end: what is under way goes on, and no more is read.
#[test]
fn a_hangup_does_not_keep_from_the_end() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-hangup-end");
    fs::write(dir.join("file"), "hello").unwrap();
    let log = dir.join("log");
    let server = serve(&ns, &dir, &["--drain", "60s", "--access-log", log.to_str().unwrap()]);
    let mut client = connect(&ns, ADDRESS);
    client.write_all(b"GET /file HTTP/1.0\r\n").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    server.signal(Signal::TERM);
    std::thread::sleep(Duration::from_millis(300));
    for _ in 0..2 {
        server.signal(Signal::HUP);
        let said = settled(|| server.said());
        let last = ["the access log is opened anew", "the end has begun; nothing is read again"];
        assert!(said.ends_with(&last.map(|line| format!("SIGHUP: {line}"))), "{said:?}");
    }
    client.write_all(b"\r\n").unwrap();
    assert!(rest(&mut client).ends_with("hello"));
    let said = server.wait();
    assert!(said.starts_with("1 connection, 0 cut off; "), "{said}");
    assert_eq!(fs::read_to_string(log).unwrap().lines().count(), 1);
}

/// A release is put in place by a link that leads elsewhere from now on.
#[test]
fn a_hangup_opens_the_directory_again() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-releases");
    let link = dir.join("current");
    for release in ["1", "2"] {
        fs::create_dir(dir.join(release)).unwrap();
        fs::write(dir.join(release).join("file"), release).unwrap();
    }
    let lead_to = |release: &str| {
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(release, &link).unwrap();
    };
    lead_to("1");
    let server = serve(&ns, &link, &[]);
    let get = || curl(&ns, &[&format!("{URL}/file")]);
    assert_eq!(get(), "1");
    lead_to("2");
    assert_eq!(get(), "1");
    server.signal(Signal::HUP);
    settled(|| server.said());
    assert_eq!(get(), "2");
    // What cannot be opened changes nothing.
    lead_to("3");
    server.signal(Signal::HUP);
    let said = settled(|| server.said());
    assert!(said[1].ends_with("; what was read before stays"), "{said:?}");
    assert_eq!(get(), "2");
    server.end();
}

/// A second server would say that it serves, and get nothing.
#[test]
fn a_prefix_belongs_to_one_device() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-conflict");
    fs::write(dir.join("file"), "hello").unwrap();
    let server = serve(&ns, &dir, &["--tun", "first"]);
    let dir = dir.to_str().unwrap();
    let second = |more: &[&str]| {
        let output = run(&ns, env!("CARGO_BIN_EXE_ackclock"), &[&["serve", dir], more].concat());
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    for addr in ["10.77.0.2/24", "10.77.0.9/24", "10.77.0.9/28", "10.77.3.1/16"] {
        let text = format!(
            "error: --addr {addr}: device first has 10.77.0.1/24; choose a prefix that nothing \
             else uses, or end what uses it\n"
        );
        assert_eq!(second(&["--addr", addr]), (2, text));
    }
    let (code, text) = second(&["--addr", "10.78.0.2/24", "--tun", "first"]);
    assert_eq!((code, text.contains("there is a device of this name")), (4, true), "{text}");
    assert_eq!(curl(&ns, &[&format!("{URL}/file")]), "hello");

    // A part of a LAN's prefix, for which the kernel may answer; but not the kernel's own address.
    let ip = |args: &[&str]| assert!(run(&ns, "ip", args).status.success(), "{args:?}");
    ip(&["link", "add", "lan", "type", "veth", "peer", "name", "wire"]);
    ip(&["addr", "add", "10.79.0.1/16", "dev", "lan"]);
    let part = Daemon::start(&ns, &["serve", dir, "--addr", "10.79.8.2/24"]);
    assert_eq!(curl(&ns, &["http://10.79.8.2/file"]), "hello");
    part.end();
    let (code, text) = second(&["--addr", "10.79.0.2/24"]);
    assert_eq!((code, text.contains("device lan has 10.79.0.1/16")), (2, true), "{text}");

    // What another route has, and a kernel's address outside the prefix.
    ip(&["route", "add", "unreachable", "10.80.0.0/16"]);
    for more in [["10.80.0.2/16", "10.80.0.1"], ["10.81.0.2/24", "10.99.0.1"]] {
        let (code, text) = second(&["--addr", more[0], "--kernel-addr", more[1]]);
        assert_eq!((code, text.contains("do not come to our device")), (2, true), "{text}");
    }
    server.end();
}

/// A service manager that listens (sd_notify(3)).
struct Manager {
    socket: UnixDatagram,
    path: PathBuf,
}

impl Manager {
    fn new(name: &str) -> Manager {
        // The path of a socket has at most 107 bytes.
        let path = std::env::temp_dir().join(format!("ackclock-{name}-{}", std::process::id()));
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Manager { socket, path }
    }

    /// The next that it is told.
    fn told(&self) -> String {
        let mut buffer = [0; 100];
        let n = self.socket.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..n]).into_owned()
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[test]
fn a_service_manager_is_told() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-notify");
    let manager = Manager::new("notify");
    let env = [("NOTIFY_SOCKET", manager.path.to_str().unwrap())];
    let server = Daemon::start_with(&ns, &["serve", dir.to_str().unwrap()], &env);
    let told = || manager.told();
    assert_eq!(told(), "READY=1\n");
    server.signal(Signal::HUP);
    let reloading = told();
    let usec = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").unwrap().trim_end();
    assert!(usec.parse::<u64>().unwrap() > 0);
    assert_eq!(told(), "READY=1\n");
    server.signal(Signal::TERM);
    // --drain, and what the end takes.
    assert_eq!(told(), "STOPPING=1\nEXTEND_TIMEOUT_USEC=10000000\n");
    server.wait();
}

/// A manager with a watchdog hears of us as long as all queues turn, and of an end that takes
/// longer than there is room for in a message (71 minutes) in parts.
#[test]
fn a_watchdog_hears_of_us() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-watchdog");
    let manager = Manager::new("watchdog");
    let env = [("NOTIFY_SOCKET", manager.path.to_str().unwrap()), ("WATCHDOG_USEC", "200000")];
    let args = ["serve", dir.to_str().unwrap(), "--queues", "2", "--drain", "7200s"];
    let server = Daemon::start_with(&ns, &args, &env);
    let told = || manager.told();
    assert_eq!(told(), "READY=1\n");
    let begin = Instant::now();
    assert_eq!([told(), told(), told()], ["WATCHDOG=1\n"; 3]);
    assert!(begin.elapsed() >= Duration::from_millis(150));
    // Something that is open, so that the end takes its time.
    let mut client = connect(&ns, ADDRESS);
    client.write_all(b"GET / ").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    server.signal(Signal::TERM);
    let stopping = std::iter::repeat_with(told).find(|said| said != "WATCHDOG=1\n").unwrap();
    assert_eq!(stopping, "STOPPING=1\nEXTEND_TIMEOUT_USEC=3600000000\n");
    assert_eq!(told(), "WATCHDOG=1\n");
    server.signal(Signal::TERM);
    server.wait();
}

/// Every metric that the dashboard shows is there, and `proxy` has those that `serve` lacks.
#[test]
fn the_dashboard_shows_what_there_is() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-dashboard");
    let log = dir.join("log");
    let args = ["--metrics", "127.0.0.1:9100", "--access-log", log.to_str().unwrap()];
    let server = serve(&ns, &dir, &args);
    let mut there = curl(&ns, &["http://127.0.0.1:9100/metrics"]);
    server.end();
    let args = ["proxy", "--listen", ADDRESS, "--to", "127.0.0.1:1", "--metrics", "127.0.0.1:9100"];
    let proxy = Daemon::start(&ns, &args);
    there += &curl(&ns, &["http://127.0.0.1:9100/metrics"]);
    proxy.end();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/grafana-dashboard.json");
    let dashboard = fs::read_to_string(path).unwrap();
    let name = |c: char| c.is_ascii_lowercase() || c == '_';
    let mut shown = 0;
    for (at, _) in dashboard.match_indices("ackclock_") {
        let metric: String = dashboard[at..].chars().take_while(|&c| name(c)).collect();
        let is_there = |end| there.contains(&format!("\n{metric}{end}"));
        assert!(is_there('{') || is_there(' '), "{metric}");
        shown += 1;
    }
    assert_eq!(shown, 44);
}
