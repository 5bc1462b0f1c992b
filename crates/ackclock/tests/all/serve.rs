//! What `serve` answers: the kernel's TCP, curl and plain sockets as clients, in namespaces that
//! are gone afterwards. The tests need root and curl; without root they say that they were skipped.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::daemon::{
    ADDRESS, URL, codes, connect, curl, namespace, noise, rest, run, scratch, serve,
};

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
