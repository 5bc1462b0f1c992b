//! `serve` from outside: the kernel's TCP, curl and plain sockets as clients, in namespaces that
//! are gone afterwards. The tests need root and curl; without root they say that they were skipped.

mod daemon;

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::{Duration, Instant};

use ackclock_live::Namespace;
use daemon::{Daemon, connect, curl, metrics, namespace, noise, run, scratch, settled};
use rustix::process::Signal;
use sha2::{Digest, Sha256};

const URL: &str = "http://10.77.0.2";
const ADDRESS: &str = "10.77.0.2:80";

fn serve(namespace: &Namespace, dir: &Path, more: &[&str]) -> Daemon {
    Daemon::start(namespace, &[&["serve", dir.to_str().unwrap()], more].concat())
}

/// Everything until the end of the stream.
fn rest(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// The status codes of responses that follow each other.
fn codes(text: &str) -> Vec<&str> {
    text.split("HTTP/1.1 ").skip(1).map(|response| &response[..3]).collect()
}

#[test]
fn curl_gets_files_parts_and_pages() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-curl");
    fs::create_dir_all(dir.join("sub/with index")).unwrap();
    fs::write(dir.join("sub/a <b>.txt"), "hello").unwrap();
    fs::write(dir.join("sub/with index/index.html"), "<p>index").unwrap();
    let bytes = noise(100_000, 1);
    fs::write(dir.join("noise.png"), &bytes).unwrap();
    let server = serve(&ns, &dir, &[]);
    let get = |args: &[&str]| curl(&ns, args);
    let code =
        |args: &[&str]| curl(&ns, &[&["-o", "/dev/null", "-w", "%{http_code}"], args].concat());
    let noise_png = &format!("{URL}/noise.png");

    assert_eq!(get(&[&format!("{URL}/sub/a%20%3Cb%3E.txt?query")]), "hello");
    assert_eq!(get(&["-0", &format!("{URL}/sub/with%20index/")]), "<p>index");
    assert_eq!(get(&["-L", &format!("{URL}/sub/with%20index")]), "<p>index");
    let listing = get(&[&format!("{URL}/sub/")]);
    assert!(
        listing.contains("<li><a href=\"a%20%3Cb%3E.txt\">a &lt;b&gt;.txt</a></li>\n"),
        "{listing}"
    );
    assert!(listing.contains("<li><a href=\"with%20index/\">with index/</a></li>\n"), "{listing}");

    let head = get(&["-I", noise_png]);
    assert!(head.contains("\r\nContent-Type: image/png\r\nContent-Length: 100000\r\n"), "{head}");
    let etag = head.lines().find_map(|l| l.strip_prefix("ETag: ")).unwrap();
    assert_eq!(code(&["-H", &format!("If-None-Match: {etag}"), noise_png]), "304");
    assert_eq!(code(&["-H", "If-None-Match: \"x\"", noise_png]), "200");
    let future = "If-Modified-Since: Fri, 31 Dec 9999 23:59:59 GMT";
    assert_eq!(
        (code(&["-H", future, noise_png]), code(&["-z", "1994-11-06", noise_png])),
        ("304".into(), "200".into())
    );

    let out = dir.join("out");
    let part = |range: &str| {
        let _ = fs::remove_file(&out);
        let code =
            get(&["-r", range, "-o", out.to_str().unwrap(), "-w", "%{http_code}", noise_png]);
        (code, fs::read(&out).unwrap())
    };
    assert_eq!(part("10-19"), ("206".into(), bytes[10..20].to_vec()));
    assert_eq!(part("-7"), ("206".into(), bytes[99_993..].to_vec()));
    assert_eq!(part("90000-"), ("206".into(), bytes[90_000..].to_vec()));
    assert_eq!(part("0-1,5-6"), ("200".into(), bytes.clone()));
    assert_eq!(part("100000-").0, "416");
    // Resuming a download.
    fs::write(&out, &bytes[..40_000]).unwrap();
    get(&["-C", "-", "-o", out.to_str().unwrap(), noise_png]);
    assert!(fs::read(&out).unwrap() == bytes);

    // Two files over one connection; none of it kept with HTTP/1.0.
    let twice = |more: &[&str]| {
        curl(
            &ns,
            &[
                more,
                &[
                    "-o",
                    "/dev/null",
                    "-o",
                    "/dev/null",
                    "-w",
                    "%{num_connects} ",
                    noise_png,
                    noise_png,
                ],
            ]
            .concat(),
        )
    };
    assert_eq!((twice(&[]), twice(&["-0"])), ("1 0 ".into(), "1 1 ".into()));

    assert_eq!(code(&[&format!("{URL}/missing")]), "404");
    assert_eq!(code(&[&format!("{URL}/noise.png/")]), "404");
    assert_eq!(code(&["-d", "body", noise_png]), "405");
    assert_eq!(code(&["-X", "BREW", noise_png]), "501");
    assert_eq!(code(&[&format!("{URL}/{}", "a".repeat(9000))]), "414");
    assert_eq!(code(&["-H", &format!("X: {}", "a".repeat(17_000)), noise_png]), "431");
    server.end();
}

#[test]
fn nothing_leads_out_of_the_directory() {
    let Some(ns) = namespace() else { return };
    let outside = scratch("serve-inside");
    let dir = outside.join("public");
    fs::create_dir_all(dir.join("sub")).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    fs::write(dir.join("sub/open"), "open").unwrap();
    for (target, link) in
        [("../secret", "relative"), ("sub/open", "inside"), ("sub", "folder"), ("loop", "loop")]
    {
        std::os::unix::fs::symlink(target, dir.join(link)).unwrap();
    }
    std::os::unix::fs::symlink(outside.join("secret"), dir.join("absolute")).unwrap();
    std::os::unix::fs::symlink(&outside, dir.join("sub/up")).unwrap();
    std::os::unix::fs::symlink("/proc/self/root", dir.join("magic")).unwrap();
    assert!(run(&ns, "mkfifo", &[dir.join("fifo").to_str().unwrap()]).status.success());
    let server = serve(&ns, &dir, &[]);
    let code = |path: &str| {
        let url = format!("{URL}{path}");
        let text = curl(&ns, &["--path-as-is", "-w", "%{http_code}", &url]);
        assert!(!text.contains("secret"), "{path}: {text}");
        text[text.len() - 3..].to_string()
    };
    for (path, expected) in [
        ("/../secret", "400"),
        ("/sub/../../secret", "400"),
        ("/%2e%2e/secret", "400"),
        ("/sub%2f..%2f..%2fsecret", "404"),
        ("/..%2fsecret", "404"),
        ("/relative", "404"),
        ("/absolute", "404"),
        ("/sub/up/public/sub/open", "404"),
        ("/magic/etc/passwd", "404"),
        ("/loop", "404"),
        ("/fifo", "403"),
        ("/inside", "200"),
        ("/folder/open", "200"),
        ("/%00", "400"),
    ] {
        assert_eq!(code(path), expected, "{path}");
    }
    server.end();
}

#[test]
fn a_big_file_arrives_whole_over_both_families_with_and_without_offload() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-big");
    let bytes = noise(48 << 20, 2);
    fs::write(dir.join("big"), &bytes).unwrap();
    let sent = Sha256::digest(&bytes);
    for more in [&[][..], &["--no-offload"]] {
        let both = ["--addr", "10.77.0.2/24", "--addr", "fd00:77::2/64"];
        let server = serve(&ns, &dir, &[&both[..], more].concat());
        for url in [&format!("{URL}/big"), "http://[fd00:77::2]/big"] {
            let out = dir.join("out");
            curl(&ns, &["-g", "--fail", "-o", out.to_str().unwrap(), url]);
            assert_eq!(Sha256::digest(fs::read(&out).unwrap()), sent, "{url} {more:?}");
        }
        server.end();
    }
}

#[test]
fn two_hundred_downloads_at_once() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-parallel");
    for i in 0..200 {
        fs::write(dir.join(format!("file-{i}")), noise(50_000 + 1000 * i, i as u64)).unwrap();
    }
    let server = serve(&ns, &dir, &[]);
    let out = dir.join("out-#1");
    let args =
        ["--fail-early", "--fail", "--parallel", "--parallel-immediate", "--parallel-max", "200"];
    curl(
        &ns,
        &[&args[..], &["-o", out.to_str().unwrap(), &format!("{URL}/file-[0-199]")]].concat(),
    );
    for i in 0..200 {
        let read = |name: &str| fs::read(dir.join(format!("{name}-{i}"))).unwrap();
        assert!(read("file") == read("out"), "{i}");
    }
    let said = server.end();
    assert!(said.starts_with("200 connections, 0 cut off; "), "{said}");
}

#[test]
fn two_thousand_connections_share_the_server() {
    let Some(ns) = namespace() else { return };
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let all = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, all).unwrap();
    let dir = scratch("serve-many");
    fs::write(dir.join("file"), noise(5000, 3)).unwrap();
    let server = serve(&ns, &dir, &["--metrics", "127.0.0.1:9100"]);
    let mut clients: Vec<TcpStream> = (0..2000).map(|_| connect(&ns, ADDRESS)).collect();
    let before = metrics(&ns, "127.0.0.1:9100");
    assert_eq!(before["ackclock_connections_open"], 2000.0);
    for client in &mut clients {
        client.write_all(b"GET /file HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").unwrap();
    }
    let expected = noise(5000, 3);
    for client in &mut clients {
        let mut got = Vec::new();
        client.read_to_end(&mut got).unwrap();
        assert!(got.ends_with(&expected));
    }
    drop(clients);
    server.end();
}

#[test]
fn connections_beyond_the_limit_wait_for_their_turn() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-limit");
    fs::write(dir.join("a"), "A").unwrap();
    let server = serve(&ns, &dir, &["--max-connections", "2"]);
    let mut clients: Vec<TcpStream> = (0..3).map(|_| connect(&ns, ADDRESS)).collect();
    for client in &mut clients {
        client.write_all(b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    }
    for client in &mut clients[..2] {
        client.read_exact(&mut [0; 10]).unwrap();
    }
    clients[2].set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    assert_eq!(clients[2].read(&mut [0; 10]).unwrap_err().kind(), ErrorKind::WouldBlock);
    clients[2].set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    drop(clients.remove(0));
    clients[1].read_exact(&mut [0; 10]).unwrap();
    drop(clients);
    server.end();
}

#[test]
fn requests_one_after_the_other_without_waiting() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-pipeline");
    fs::write(dir.join("a"), "A").unwrap();
    let server = serve(&ns, &dir, &[]);
    let mut client = connect(&ns, ADDRESS);
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n");
    let requests: String = std::iter::repeat_n(get("/a") + &get("/b"), 500).collect();
    client.write_all(requests.as_bytes()).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let text = rest(&mut client);
    assert_eq!(codes(&text), ["200", "404"].repeat(500));
    assert_eq!(text.matches("\r\n\r\nA").count(), 500);
    server.end();
}

#[test]
fn the_last_response_survives_what_the_client_still_sends() {
    let Some(ns) = namespace() else { return };
    let server = serve(&ns, &scratch("serve-linger"), &[]);
    let mut client = connect(&ns, ADDRESS);
    client.write_all(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3000000\r\n\r\n").unwrap();
    // Three megabytes that nobody wants, most of them after the response; a reset would lose it.
    for _ in 0..3 {
        client.write_all(&noise(1_000_000, 4)).unwrap();
        std::thread::sleep(Duration::from_millis(50));
    }
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(codes(&rest(&mut client)), ["405"]);
    server.end();
}

#[test]
fn patience_has_limits() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-patience");
    fs::write(dir.join("big"), noise(4_000_000, 5)).unwrap();
    let server = serve(&ns, &dir, &["--idle", "1s", "--send-buffer", "64kb"]);
    let begin = Instant::now();
    let mut silent = connect(&ns, ADDRESS);
    let mut half = connect(&ns, ADDRESS);
    half.write_all(b"GET / HT").unwrap();
    let mut stuck = connect(&ns, ADDRESS);
    stuck.write_all(b"GET /big HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    assert_eq!(rest(&mut silent), "");
    assert_eq!(codes(&rest(&mut half)), ["408"]);
    let waited = begin.elapsed();
    assert!(waited > Duration::from_secs(1) && waited < Duration::from_secs(4), "{waited:?}");
    // What the kernel holds for it can still be read, unless the reset has thrown it away.
    std::thread::sleep(Duration::from_secs(3));
    let mut got = Vec::new();
    assert_eq!(stuck.read_to_end(&mut got).unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert!(got.len() < 4_000_000);
    server.end();
}

#[test]
fn slow_readers_cost_no_time() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-slow");
    fs::write(dir.join("big"), noise(8_000_000, 6)).unwrap();
    let server = serve(&ns, &dir, &["--send-buffer", "256kb"]);
    let mut clients: Vec<TcpStream> = (0..50).map(|_| connect(&ns, ADDRESS)).collect();
    for client in &mut clients {
        client.write_all(b"GET /big HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").unwrap();
    }
    let before = settled(|| server.cpu());
    std::thread::sleep(Duration::from_secs(3));
    let used = server.cpu() - before;
    assert!(used <= 0.05, "{used} s");
    let expected = noise(8_000_000, 6);
    for client in &mut clients[..3] {
        let mut got = Vec::new();
        client.read_to_end(&mut got).unwrap();
        assert!(got.ends_with(&expected));
    }
}

#[test]
fn connections_that_rest_hold_little_memory() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-memory");
    fs::write(dir.join("big"), noise(4_000_000, 10)).unwrap();
    let server = serve(&ns, &dir, &[]);
    let download = |_| {
        let mut client = connect(&ns, ADDRESS);
        client.write_all(b"GET /big HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
        client.read_exact(&mut vec![0; 4_000_000]).unwrap();
        client
    };
    let _first: Vec<_> = (0..10).map(download).collect();
    let before = server.memory();
    let _others: Vec<_> = (0..60).map(download).collect();
    let each = (server.memory() - before.min(server.memory())) / 60;
    assert!(each < 150_000, "{each} bytes for each");
    server.end();
}

/// Clients that ask for much and read nothing, with receive buffers of their own that take little.
#[test]
fn memory_stays_within_its_budget() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-budget");
    let bytes = noise(6_000_000, 11);
    fs::write(dir.join("big"), &bytes).unwrap();
    ns.sysctl("net/ipv4/tcp_rmem", "4096 8192 8192").unwrap();
    let server = serve(&ns, &dir, &["--memory", "64mb", "--metrics", "127.0.0.1:9100"]);
    let ask = |_| {
        let mut client = connect(&ns, ADDRESS);
        client.write_all(b"GET /big HTTP/1.0\r\n\r\n").unwrap();
        client
    };
    let silent: Vec<_> = (0..250).map(ask).collect();
    let held = settled(|| metrics(&ns, "127.0.0.1:9100")["ackclock_buffer_bytes"]);
    // Without a budget they would hold 1 GB.
    assert!(held > 10_000_000.0, "{held}");
    assert!(server.memory() < 64 << 20, "{}", server.memory());
    // One more gets all that it asks for, and nobody was reset.
    let mut one = ask(0);
    let mut got = Vec::new();
    one.read_to_end(&mut got).unwrap();
    assert!(got.ends_with(&bytes));
    assert!(server.memory() < 64 << 20, "{}", server.memory());
    let now = metrics(&ns, "127.0.0.1:9100");
    assert_eq!(now["ackclock_connections_open"], 251.0);
    assert_eq!(now["ackclock_memory_budget_bytes"], 67_108_864.0);
    drop(silent);
    server.end();
}

#[test]
fn a_file_that_shrinks_ends_its_connection() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-shrinks");
    fs::write(dir.join("big"), noise(20_000_000, 7)).unwrap();
    let server = serve(&ns, &dir, &["--send-buffer", "64kb"]);
    let mut client = connect(&ns, ADDRESS);
    client.write_all(b"GET /big HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    client.read_exact(&mut [0; 1000]).unwrap();
    fs::OpenOptions::new().write(true).open(dir.join("big")).unwrap().set_len(1000).unwrap();
    assert_eq!(client.read_to_end(&mut Vec::new()).unwrap_err().kind(), ErrorKind::ConnectionReset);
    server.end();
}

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
        signals[1..].iter().for_each(|&signal| server.signal(signal));
        let said = server.wait();
        let cut = busy.read_to_end(&mut Vec::new()).unwrap_err().kind();
        assert_eq!((devices(), cut), (before.clone(), ErrorKind::ConnectionReset));
        assert!(said.starts_with("2 connections, 1 cut off; "), "{said}");
        begin.elapsed().as_secs_f64()
    };
    let waited = download(&[Signal::INT], "1s");
    assert!((1.0..3.0).contains(&waited), "{waited}");
    let waited = download(&[Signal::TERM, Signal::INT], "60s");
    assert!(waited < 5.0, "{waited}");

    // Two signals that it finds together end it at once, too.
    let server = serve(&ns, &dir, &["--drain", "60s"]);
    for signal in [Signal::STOP, Signal::TERM, Signal::INT, Signal::CONT] {
        server.signal(signal);
    }
    let begin = Instant::now();
    server.wait();
    assert!(begin.elapsed().as_secs_f64() < 5.0);

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
    assert!(said.starts_with("1 connections, 0 cut off; "), "{said}");
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
    assert!(text.ends_with("error: --user: there is no user `no-such-user`\n"), "{text}");
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
    assert_eq!(
        settled(|| server.said()),
        ["SIGHUP: there is no file to open again; nothing changes"]
    );
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
    server.end();
}

#[test]
fn a_service_manager_is_told() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-notify");
    // The path of a socket has at most 107 bytes.
    let path = std::env::temp_dir().join(format!("ackclock-notify-{}", std::process::id()));
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let env = [("NOTIFY_SOCKET", path.to_str().unwrap())];
    let server = Daemon::start_with(&ns, &["serve", dir.to_str().unwrap()], &env);
    let told = || {
        let mut buffer = [0; 100];
        let n = manager.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..n]).into_owned()
    };
    assert_eq!(told(), "READY=1\n");
    server.signal(Signal::TERM);
    assert_eq!(told(), "STOPPING=1\n");
    server.wait();
    fs::remove_file(path).unwrap();
}

/// Every metric that the dashboard shows is there.
#[test]
fn the_dashboard_shows_what_there_is() {
    let Some(ns) = namespace() else { return };
    let dir = scratch("serve-dashboard");
    let server = serve(&ns, &dir, &["--metrics", "127.0.0.1:9100"]);
    let there = curl(&ns, &["http://127.0.0.1:9100/metrics"]);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/grafana-dashboard.json");
    let dashboard = fs::read_to_string(path).unwrap();
    let name = |c: char| c.is_ascii_lowercase() || c == '_';
    let mut shown = 0;
    for (at, _) in dashboard.match_indices("ackclock_") {
        let metric: String = dashboard[at..].chars().take_while(|&c| name(c)).collect();
        assert!(there.contains(&format!("\n{metric}{{")), "{metric}");
        shown += 1;
    }
    assert_eq!(shown, 28);
    server.end();
}
