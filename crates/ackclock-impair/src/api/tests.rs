use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ackclock_tcp::Registry;
use serde_json::{Value, json};

use super::routes::answer;
use super::*;
use crate::ProxyConfig;

type Shared = Arc<Mutex<Proxies>>;

fn proxies() -> Shared {
    Arc::new(Mutex::new(Proxies::new(ProxyConfig::new(Vec::new(), Vec::new()), 7)))
}

/// Sends a request with a body. Returns the status and the body.
fn ask(proxies: &Shared, method: &str, path: &str, body: Value) -> (u16, Value) {
    let registry = Registry::default();
    let (status, value) = answer(proxies, &registry, method, path, body.to_string().as_bytes());
    let value = match value {
        Body::None => Value::Null,
        Body::Json(value) => value,
        Body::Text(text) => text.into(),
    };
    (status, value)
}

fn get(proxies: &Shared, path: &str) -> (u16, Value) {
    ask(proxies, "GET", path, Value::Null)
}

/// The message of a request that is refused with this status.
fn refused(proxies: &Shared, (method, path): (&str, &str), body: &str, status: u16) -> String {
    let (found, value) = answer(proxies, &Registry::default(), method, path, body.as_bytes());
    let Body::Json(value) = value else { panic!("{value:?}") };
    assert_eq!((found, &value["status"]), (status, &json!(status)), "{value}");
    value["error"].as_str().unwrap().into()
}

/// A server that sends back one byte for each byte.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut byte = [0];
                while stream.read_exact(&mut byte).is_ok() && stream.write_all(&byte).is_ok() {}
            });
        }
    });
    address
}

/// Makes a proxy `web` before an echo server. Returns where it listens.
fn web(proxies: &Shared, conditions: Value) -> SocketAddr {
    let new = json!({ "name": "web", "upstream": echo().to_string(), "conditions": conditions });
    let (status, made) = ask(proxies, "POST", "/proxies", new);
    assert_eq!(status, 201, "{made}");
    made["listen"].as_str().unwrap().parse().unwrap()
}

/// How long a byte takes there and back.
fn round_trip(stream: &mut TcpStream) -> Duration {
    let begin = Instant::now();
    stream.write_all(b"x").unwrap();
    stream.read_exact(&mut [0]).unwrap();
    begin.elapsed()
}

#[test]
fn a_proxy_is_made_shown_and_removed() {
    let all = proxies();
    let upstream = echo().to_string();
    assert_eq!(get(&all, "/proxies"), (200, json!({})));
    let new = json!({ "name": "web", "listen": "127.0.0.1:0", "upstream": upstream });
    let (status, made) = ask(&all, "POST", "/proxies", new.clone());
    let listen: SocketAddr = made["listen"].as_str().unwrap().parse().unwrap();
    let expected = json!({
        "name": "web", "listen": listen.to_string(), "upstream": upstream, "enabled": true,
        "seed": 7, "conditions": [], "accepted": 0, "open": 0, "reset": 0, "unreachable": 0,
        "bytes_up": 0, "bytes_down": 0, "packets": 0, "lost": 0, "dropped": {},
    });
    assert_eq!((status, &made), (201, &expected));
    assert_eq!(get(&all, "/proxies"), (200, json!({ "web": expected })));
    round_trip(&mut TcpStream::connect(listen).unwrap());
    let shown = get(&all, "/proxies/web").1;
    assert_eq!([&shown["accepted"], &shown["bytes_up"], &shown["bytes_down"]], [1, 1, 1]);
    let again = refused(&all, ("POST", "/proxies"), &new.to_string(), 409);
    assert_eq!(again, "name: there is a proxy `web` already; remove it first");
    assert_eq!(ask(&all, "DELETE", "/proxies/web", Value::Null), (204, Value::Null));
    assert!(TcpStream::connect(listen).is_err());
    let gone = refused(&all, ("GET", "/proxies/web"), "", 404);
    assert_eq!(gone, "there is no proxy `web`; GET /proxies lists those there are");
}

/// An open connection meets a delay that is added, changed and removed.
#[test]
fn conditions_change_for_connections_that_are_open() {
    let all = proxies();
    let mut stream = TcpStream::connect(web(&all, json!([]))).unwrap();
    stream.set_nodelay(true).unwrap();
    // Without any, a round trip through the hosts takes a millisecond or two.
    assert!(round_trip(&mut stream) < Duration::from_millis(200));
    let path = "/proxies/web/conditions";
    let slow = json!({ "name": "slow", "delay": "200ms" });
    let shown = json!({ "name": "slow", "delay": "200ms", "seed": 7 });
    assert_eq!(ask(&all, "POST", path, slow), (201, shown.clone()));
    assert_eq!(get(&all, path), (200, json!([shown])));
    assert!(round_trip(&mut stream) >= Duration::from_millis(400));
    // Its next random numbers are other ones.
    let one = "/proxies/web/conditions/slow";
    let shown = json!({ "name": "slow", "delay": "200ms", "direction": "up", "seed": 8 });
    assert_eq!(ask(&all, "PATCH", one, json!({ "direction": "up" })), (200, shown.clone()));
    assert_eq!(get(&all, one), (200, shown));
    let up = round_trip(&mut stream);
    assert!(up >= Duration::from_millis(200) && up < Duration::from_millis(400), "{up:?}");
    assert_eq!(ask(&all, "DELETE", one, Value::Null), (204, Value::Null));
    assert!(round_trip(&mut stream) < Duration::from_millis(200));
    assert_eq!(refused(&all, ("GET", one), "", 404), "`web` has no condition `slow`; it has none");
}

#[test]
fn a_patch_keeps_what_it_does_not_name_and_null_removes() {
    let all = proxies();
    web(&all, json!([{ "name": "a", "loss": 0.25, "burst": 2, "seed": 99 }]));
    let one = "/proxies/web/conditions/a";
    let (status, value) = ask(&all, "PATCH", one, json!({ "loss": "50%", "burst": null }));
    assert_eq!((status, value), (200, json!({ "name": "a", "loss": 0.5, "seed": 99 })));
    // What is wrong changes nothing.
    assert_eq!(
        refused(&all, ("PATCH", one), r#"{"queue": 3}"#, 400),
        "queue: nothing waits without a rate"
    );
    assert_eq!(get(&all, one).1, json!({ "name": "a", "loss": 0.5, "seed": 99 }));
    let renamed = refused(&all, ("PATCH", one), r#"{"name": "b"}"#, 400);
    assert_eq!(renamed, "name: it stays `a`; leave the key out");
}

/// Each condition has random numbers of its own; after a reset they are those of the start.
#[test]
fn seeds_count_from_the_proxys_and_begin_anew_after_a_reset() {
    let all = proxies();
    web(&all, json!([{ "delay": "1ms" }]));
    let path = "/proxies/web/conditions";
    let add = |body| ask(&all, "POST", path, body).1;
    assert_eq!(
        add(json!({ "loss": "1%" })),
        json!({ "name": "condition-2", "loss": 0.01, "seed": 8 })
    );
    assert_eq!(add(json!({ "loss": "1%", "seed": 3 }))["seed"], 3);
    assert_eq!(add(json!({ "reorder": "1%" }))["reorder"], "0.01:10ms");
    assert_eq!(ask(&all, "POST", "/reset", Value::Null), (204, Value::Null));
    let start = json!([{ "name": "condition-1", "delay": "1ms", "seed": 7 }]);
    assert_eq!(get(&all, path).1, start);
    assert_eq!(add(json!({ "loss": "1%" }))["seed"], 8);
}

/// A proxy that is disabled resets its connections and takes none; then it listens where it did.
#[test]
fn a_proxy_is_disabled_and_enabled() {
    let all = proxies();
    let listen = web(&all, json!([{ "delay": "5ms" }]));
    let mut stream = TcpStream::connect(listen).unwrap();
    round_trip(&mut stream);
    let (status, shown) = ask(&all, "POST", "/proxies/web", json!({ "enabled": false }));
    assert_eq!((status, &shown["enabled"]), (200, &json!(false)));
    assert!(stream.read_exact(&mut [0]).is_err());
    assert!(TcpStream::connect(listen).is_err());
    // Conditions change meanwhile, too.
    ask(&all, "PATCH", "/proxies/web/conditions/condition-1", json!({ "delay": "20ms" }));
    let shown = ask(&all, "PATCH", "/proxies/web", json!({ "enabled": true })).1;
    assert_eq!(shown["listen"], listen.to_string());
    let mut stream = TcpStream::connect(listen).unwrap();
    assert!(round_trip(&mut stream) >= Duration::from_millis(40));
    // Elsewhere: the old port is free.
    let shown = ask(&all, "POST", "/proxies/web", json!({ "listen": "127.0.0.1:0" })).1;
    assert_ne!(shown["listen"], listen.to_string());
    assert!(TcpStream::connect(listen).is_err());
    ask(&all, "POST", "/proxies/web", json!({ "enabled": false }));
    assert_eq!(ask(&all, "POST", "/reset", Value::Null).0, 204);
    assert_eq!(get(&all, "/proxies/web").1["enabled"], true);
}

/// Where it cannot listen, what was there stays, with its connections. If it was to have the same
/// port, it is there anew.
#[test]
fn a_proxy_that_cannot_listen_stays_as_it_was() {
    let all = proxies();
    let listen = web(&all, json!([{ "name": "slow", "delay": "5ms" }]));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let elsewhere = json!({ "listen": address }).to_string();
    let mut stream = TcpStream::connect(listen).unwrap();
    let error = refused(&all, ("POST", "/proxies/web"), &elsewhere, 409);
    assert!(error.starts_with(&format!("listen: {address}: ")), "{error}");
    assert!(!error.contains(';'), "it goes on as before: {error}");
    let shown = get(&all, "/proxies/web").1;
    assert_eq!((&shown["listen"], &shown["enabled"]), (&json!(listen.to_string()), &json!(true)));
    let upstream = echo().to_string();
    let other = json!([{ "name": "web", "upstream": upstream, "listen": address }]);
    refused(&all, ("POST", "/populate"), &other.to_string(), 409);
    let shown = get(&all, "/proxies/web").1;
    assert_eq!((&shown["listen"], &shown["enabled"]), (&json!(listen.to_string()), &json!(true)));
    assert_eq!(shown["conditions"][0]["name"], "slow");
    round_trip(&mut stream);
    // Not every system has more than one address of its own.
    if let Ok(taken) = TcpListener::bind(("127.0.0.2", listen.port())) {
        let elsewhere = json!({ "listen": taken.local_addr().unwrap().to_string() }).to_string();
        refused(&all, ("POST", "/proxies/web"), &elsewhere, 409);
        let shown = get(&all, "/proxies/web").1;
        assert_eq!(shown["listen"], listen.to_string());
        round_trip(&mut TcpStream::connect(listen).unwrap());
    }
}

/// A proxy that cannot listen where it did has all others stay as they are, too: those before it
/// and those behind it, the disabled ones and those that run.
#[test]
fn a_reset_that_is_refused_changes_nothing() {
    let all = proxies();
    let upstream = echo().to_string();
    for name in ["a", "b", "y", "z"] {
        let new = json!({ "name": name, "upstream": upstream });
        assert_eq!(ask(&all, "POST", "/proxies", new).0, 201);
        let conditions = format!("/proxies/{name}/conditions");
        assert_eq!(ask(&all, "POST", &conditions, json!({ "loss": "1%" })).0, 201);
    }
    let listen = web(&all, json!([]));
    for name in ["b", "web", "y"] {
        ask(&all, "POST", &format!("/proxies/{name}"), json!({ "enabled": false }));
    }
    let before = get(&all, "/proxies").1;
    let taken = TcpListener::bind(listen).unwrap();
    let error = refused(&all, ("POST", "/reset"), "", 409);
    assert!(error.starts_with(&format!("`web`: listen: {listen}: ")), "{error}");
    assert_eq!(get(&all, "/proxies").1, before);
    for name in ["b", "y"] {
        let listen = before[name]["listen"].as_str().unwrap();
        assert!(TcpStream::connect(listen).is_err(), "{name}");
    }
    drop(taken);
    assert_eq!(ask(&all, "POST", "/reset", Value::Null), (204, Value::Null));
    for (name, shown) in get(&all, "/proxies").1.as_object().unwrap() {
        assert_eq!((&shown["enabled"], &shown["conditions"]), (&json!(true), &json!([])), "{name}");
    }
}

/// Each change keeps what it does not name, whoever else changes the proxy meanwhile.
#[test]
fn changes_at_the_same_time_both_hold() {
    let all = proxies();
    web(&all, json!([]));
    let upstream = echo().to_string();
    for enabled in [false, true, false, true] {
        std::thread::scope(|scope| {
            scope.spawn(|| ask(&all, "POST", "/proxies/web", json!({ "enabled": enabled })));
            scope.spawn(|| ask(&all, "POST", "/proxies/web", json!({ "upstream": upstream })));
        });
        let shown = get(&all, "/proxies/web").1;
        let state = (&shown["enabled"], &shown["upstream"]);
        assert_eq!(state, (&json!(enabled), &json!(upstream)));
    }
}

#[test]
fn populate_keeps_what_is_there_and_replaces_what_differs() {
    let all = proxies();
    let upstream = echo().to_string();
    let body =
        json!([{ "name": "a", "upstream": upstream }, { "name": "b", "upstream": upstream }]);
    let (status, first) = ask(&all, "POST", "/populate", body.clone());
    assert_eq!((status, first["proxies"].as_array().unwrap().len()), (201, 2));
    assert_eq!(ask(&all, "POST", "/populate", body).1, first);
    let other = json!([{ "name": "a", "upstream": upstream, "conditions": [{ "loss": 1 }] }]);
    let second = ask(&all, "POST", "/populate", other).1;
    assert_ne!(second["proxies"][0]["listen"], first["proxies"][0]["listen"]);
    assert_eq!(second["proxies"][0]["conditions"][0]["loss"], 1.0);
    // What is wrong removes nothing.
    let wrong = json!([{ "name": "b", "upstream": upstream, "conditions": [{ "burst": 2 }] }]);
    assert_eq!(
        refused(&all, ("POST", "/populate"), &wrong.to_string(), 400),
        "[0].conditions[0].burst: needs a loss, the share that is lost"
    );
    assert_eq!(get(&all, "/proxies/b").1, first["proxies"][1]);
}

/// What was made just so comes back to that in place: it listens where it did, and goes on
/// counting.
#[test]
fn populate_brings_back_what_was_changed() {
    let all = proxies();
    let upstream = echo().to_string();
    let conditions = json!([{ "delay": "1ms" }]);
    let body = json!([{ "name": "web", "upstream": upstream, "conditions": conditions }]);
    let made = ask(&all, "POST", "/populate", body.clone()).1["proxies"][0].clone();
    let listen = made["listen"].as_str().unwrap();
    round_trip(&mut TcpStream::connect(listen).unwrap());
    let other = echo().to_string();
    for (path, change) in [
        ("/proxies/web", json!({ "name": "web", "enabled": false })),
        ("/proxies/web", json!({ "upstream": other })),
        ("/proxies/web/conditions", json!({ "loss": "1%" })),
        ("/proxies/web/conditions/condition-1", json!({ "delay": "2ms" })),
    ] {
        assert!(ask(&all, "POST", path, change).0 < 300);
        let after = ask(&all, "POST", "/populate", body.clone()).1["proxies"][0].clone();
        for key in ["listen", "upstream", "enabled", "seed", "conditions"] {
            assert_eq!(after[key], made[key], "{path}: {key}");
        }
        assert_eq!(after["accepted"], 1);
    }
    // Where only a condition had changed, what is open stays so.
    let mut stream = TcpStream::connect(listen).unwrap();
    round_trip(&mut stream);
    ask(&all, "POST", "/proxies/web/conditions", json!({ "loss": "1%" }));
    ask(&all, "POST", "/populate", body);
    round_trip(&mut stream);
}

/// The name of a condition that is gone is no other one's, also behind a reset.
#[test]
fn names_of_conditions_do_not_come_again() {
    let all = proxies();
    web(&all, json!([]));
    let path = "/proxies/web/conditions";
    let add = || ask(&all, "POST", path, json!({ "loss": "1%" })).1["name"].clone();
    assert_eq!((add(), add()), (json!("condition-1"), json!("condition-2")));
    ask(&all, "DELETE", "/proxies/web/conditions/condition-2", Value::Null);
    assert_eq!(add(), "condition-3");
    ask(&all, "POST", "/reset", Value::Null);
    assert_eq!(add(), "condition-4");
}

/// A server whose name nobody knows yet, as of a container that comes later.
#[test]
fn a_proxy_is_made_before_its_server_has_a_name() {
    let all = proxies();
    let new = json!({ "name": "web", "upstream": "nobody.invalid:80" });
    let (status, made) = ask(&all, "POST", "/proxies", new);
    assert_eq!((status, &made["upstream"]), (201, &json!("nobody.invalid:80")));
    let mut client = TcpStream::connect(made["listen"].as_str().unwrap()).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    assert!(client.read(&mut [0]).is_err());
    assert_eq!(get(&all, "/proxies/web").1["unreachable"], 1);
    // What cannot be a name is none.
    for upstream in ["nobody.invalid", "nobody.invalid:x", "nobody.invalid:0", ":80", "1.2.3.400:1"]
    {
        let new = json!({ "name": "x", "upstream": upstream }).to_string();
        let error = refused(&all, ("POST", "/proxies"), &new, 400);
        assert!(error.starts_with(&format!("upstream {upstream}: ")), "{error}");
    }
}

/// A test can ask whether anything was lost, and under which condition.
#[test]
fn losses_are_counted_once_and_by_condition() {
    let all = proxies();
    let listen = web(&all, json!([{ "name": "slow", "delay": "1ms" }]));
    let mut client = TcpStream::connect(listen).unwrap();
    round_trip(&mut client);
    let shown = get(&all, "/proxies/web").1;
    // SYN, SYN/ACK, ACK, a byte each way, and what acknowledges the second one at most.
    assert!((5..=8).contains(&shown["packets"].as_u64().unwrap()), "{shown}");
    assert_eq!((&shown["lost"], &shown["dropped"]), (&json!(0), &json!({ "slow": 0 })));
    let path = "/proxies/web/conditions";
    ask(&all, "POST", path, json!({ "name": "out", "loss": 1, "direction": "up" }));
    client.write_all(b"x").unwrap();
    let begin = Instant::now();
    let shown = loop {
        let shown = get(&all, "/proxies/web").1;
        if shown["lost"] != 0 {
            break shown;
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "{shown}");
    };
    assert_eq!(shown["dropped"], json!({ "slow": 0, "out": shown["lost"] }));
}

/// Neither what is wrong in itself nor what the system refuses leaves anything made.
#[test]
fn populate_makes_all_or_nothing() {
    let all = proxies();
    let upstream = echo().to_string();
    let old = json!({ "name": "old", "upstream": upstream, "conditions": [{ "delay": "1ms" }] });
    let listen: SocketAddr = {
        let made = ask(&all, "POST", "/proxies", old).1;
        made["listen"].as_str().unwrap().parse().unwrap()
    };
    round_trip(&mut TcpStream::connect(listen).unwrap());
    let taken = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let new = |second: Value| {
        json!([
            { "name": "new", "upstream": upstream },
            { "name": "old", "upstream": upstream, "listen": listen.to_string() },
            second,
        ])
        .to_string()
    };
    let _taken = TcpListener::bind(taken).unwrap();
    let taken = taken.to_string();
    for (second, status, expected) in [
        (
            json!({ "name": "x", "upstream": upstream, "listen": taken }),
            409,
            "[2].listen: 127.0.0.1:",
        ),
        (json!({ "name": "x y", "upstream": upstream }), 400, "[2].name: write 1 to 64 letters"),
        (json!({ "name": "new", "upstream": upstream }), 400, "[2].name: [0] is called `new`, too"),
        (json!({ "name": "x", "upstream": "nowhere" }), 400, "[2].upstream nowhere: "),
    ] {
        let error = refused(&all, ("POST", "/populate"), &new(second), status);
        assert!(error.starts_with(expected), "{error}");
        let shown = get(&all, "/proxies").1;
        assert_eq!(shown.as_object().unwrap().keys().collect::<Vec<_>>(), ["old"]);
        assert_eq!(shown["old"]["conditions"][0]["delay"], "1ms");
        assert_eq!(
            (&shown["old"]["enabled"], &shown["old"]["accepted"]),
            (&json!(true), &json!(1))
        );
    }
    round_trip(&mut TcpStream::connect(listen).unwrap());
    // Without it, the other two are made: one where the old one listened.
    let body = new(json!({ "name": "x", "upstream": upstream, "enabled": false }));
    let made = ask(&all, "POST", "/populate", body.parse().unwrap()).1;
    assert_eq!(made["proxies"][1]["listen"], listen.to_string());
    assert_eq!(made["proxies"][1]["conditions"], json!([]));
    assert_eq!(made["proxies"][2]["enabled"], false);
    round_trip(&mut TcpStream::connect(listen).unwrap());
}

/// Counters only grow while a proxy is there, and the end counts those that are gone, too.
#[test]
fn what_was_counted_stays() {
    let all = proxies();
    let listen = web(&all, json!([{ "name": "slow", "delay": "1ms" }]));
    let counted = || {
        let shown = get(&all, "/proxies/web").1;
        ["accepted", "open", "reset", "bytes_up", "bytes_down"]
            .map(|key| shown[key].as_u64().unwrap())
    };
    let mut first = TcpStream::connect(listen).unwrap();
    round_trip(&mut first);
    assert_eq!(counted(), [1, 1, 0, 1, 1]);
    ask(&all, "POST", "/proxies/web", json!({ "enabled": false }));
    assert_eq!(counted(), [1, 0, 1, 1, 1]);
    ask(&all, "POST", "/proxies/web", json!({ "enabled": true }));
    assert_eq!(counted(), [1, 0, 1, 1, 1]);
    round_trip(&mut TcpStream::connect(listen).unwrap());
    let moved = ask(&all, "POST", "/proxies/web", json!({ "listen": "127.0.0.1:0" })).1;
    assert_eq!([&moved["accepted"], &moved["bytes_up"]], [2, 2]);
    // A change that cannot be is no new beginning either.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let elsewhere = json!({ "listen": taken.local_addr().unwrap().to_string() }).to_string();
    refused(&all, ("POST", "/proxies/web"), &elsewhere, 409);
    assert_eq!(counted()[0], 2);
    ask(&all, "DELETE", "/proxies/web/conditions/slow", Value::Null);
    ask(&all, "DELETE", "/proxies/web", Value::Null);
    let listen = web(&all, json!([]));
    assert_eq!(counted(), [0; 5]);
    round_trip(&mut TcpStream::connect(listen).unwrap());
    let other = json!([{ "name": "web", "upstream": echo().to_string() }]);
    ask(&all, "POST", "/populate", other);
    assert_eq!(counted(), [0; 5]);
    let mut sum = crate::ProxyReport::default();
    all.lock().unwrap().finish(Duration::ZERO).unwrap().iter().for_each(|report| sum.add(report));
    assert_eq!((sum.accepted, sum.bytes), (3, [3, 3]));
    // Each of the first two connections crossed the link that is gone: SYN and data at least, both
    // ways.
    assert!(sum.passed.packets >= 8 && sum.passed.lost == 0, "{:?}", sum.passed);
}

/// A scenario with a trace, which is there and has a line that is no number.
fn with_a_trace() -> (String, std::path::PathBuf) {
    let file = std::env::temp_dir().join(format!("ackclock-impair-{}", std::process::id()));
    std::fs::write(&file, "secret\n").unwrap();
    let text = format!(
        "duration = \"1s\"\n[[link]]\nfrom = \"client\"\nto = \"server\"\ntrace = {file:?}\n\
         delay = \"1ms\"\n"
    );
    (text, file)
}

/// A file that the API names is not read, so nobody learns what is in it. What is wrong is found
/// before anybody has to wait for the proxies. A scenario of the command may have traces, but is no
/// way to others.
#[test]
fn the_api_reads_no_files() {
    let all = proxies();
    let (text, file) = with_a_trace();
    let condition = json!({ "scenario": text });
    let proxy = json!({ "name": "x", "upstream": "127.0.0.1:1", "conditions": [condition] });
    let expected = "scenario:5: link[0].trace: a scenario that comes by the API names no files; \
                    write its rates as [[link.change]], or have the command read the scenario by \
                    its option --scenario";
    let held = all.lock().unwrap();
    for (path, body, at) in [
        ("/proxies/x/conditions", condition.clone(), ""),
        ("/proxies", proxy.clone(), "conditions[0]."),
        ("/populate", json!([proxy]), "[0].conditions[0]."),
    ] {
        let (answer, answered) = std::sync::mpsc::channel();
        let all = all.clone();
        std::thread::spawn(move || answer.send(ask(&all, "POST", path, body)));
        let (status, value) = answered.recv_timeout(Duration::from_secs(20)).unwrap();
        assert_eq!((status, &value["error"]), (400, &json!(format!("{at}{expected}"))));
    }
    drop(held);

    std::fs::write(&file, "1\n2\n3\n").unwrap();
    let of_the_command = Condition {
        scenario: Some(text.clone()),
        file: Some("x.toml".into()),
        ..Condition::default()
    };
    let mut new: NewProxy =
        serde_json::from_value(json!({ "name": "x", "upstream": "127.0.0.1:1" })).unwrap();
    new.conditions = vec![of_the_command];
    let wanted = new.found(&Registry::default()).unwrap();
    all.lock().unwrap().add(wanted).unwrap();
    let one = "/proxies/x/conditions/condition-1";
    assert_eq!(ask(&all, "PATCH", one, json!({ "seed": 5 })).0, 200);
    std::fs::write(&file, "secret\n").unwrap();
    let other = json!({ "scenario": text.replace("1ms", "2ms") }).to_string();
    assert_eq!(refused(&all, ("PATCH", one), &other, 400), expected);
    // What is there has been read: it runs anew without its file.
    std::fs::remove_file(&file).unwrap();
    assert_eq!(ask(&all, "PATCH", one, json!({ "seed": 6 })).0, 200);
    let error = refused(&all, ("PATCH", one), r#"{"client": "x"}"#, 400);
    assert!(error.starts_with("client: there is no node `x`; x.toml has "), "{error}");
    for enabled in [false, true] {
        assert_eq!(ask(&all, "POST", "/proxies/x", json!({ "enabled": enabled })).0, 200);
    }
    assert_eq!(ask(&all, "POST", "/reset", Value::Null).0, 204);
}

#[test]
fn a_scenario_is_a_condition() {
    let all = proxies();
    let text = "duration = \"1s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1gbit\"\ndelay = \"20ms\"\n";
    let condition = json!({ "scenario": text, "client": "a", "server": "b" });
    let mut stream = TcpStream::connect(web(&all, json!([condition]))).unwrap();
    assert!(round_trip(&mut stream) >= Duration::from_millis(40));
    let path = ("POST", "/proxies/web/conditions");
    let wrong = |body: Value| refused(&all, path, &body.to_string(), 400);
    let error = wrong(json!({ "scenario": text.replace("delay", "dely") }));
    assert!(error.starts_with("scenario:6: ") && error.contains("dely"), "{error}");
    assert_eq!(
        wrong(json!({ "scenario": text, "loss": "1%" })),
        "scenario stands by itself: its text has directions, rates, delays and losses"
    );
    assert_eq!(
        wrong(json!({ "client": "a" })),
        "client and server name nodes of a scenario, which is not there"
    );
}

/// RFC 3986 section 2.1: what is encoded is the same as what is not, and an encoded `/` divides
/// nothing.
#[test]
fn paths_are_decoded() {
    let all = proxies();
    web(&all, json!([]));
    for path in ["/proxies/web", "/proxies/%77e%62", "/%70roxies/w%65b/"] {
        assert_eq!(get(&all, path).1["name"], "web", "{path}");
    }
    let message = refused(&all, ("GET", "/proxies/a%20b%2Fc%c3%A9"), "", 404);
    assert!(message.contains("`a b/cé`"), "{message}");
    for path in ["/proxies/w%", "/proxies/w%6", "/proxies/%6G", "/proxies/%+7", "/proxies/%ff"] {
        let message = refused(&all, ("GET", path), "", 400);
        let expected = "`%` stands before two hexadecimal digits, for bytes of UTF-8";
        assert_eq!(message, format!("{path}: {expected}"));
    }
}

#[test]
fn wrong_requests_name_the_key_and_what_would_be_right() {
    let all = proxies();
    web(&all, json!([]));
    let conditions = ("POST", "/proxies/web/conditions");
    for (path, body, status, expected) in [
        (
            conditions,
            r#"{"los": 0.1}"#,
            400,
            "los: there is no key `los` here; did you mean `loss`? There are `name`, `direction`",
        ),
        (
            conditions,
            r#"{"rate": "10"}"#,
            400,
            "rate: `10` is not a rate: it has no unit; write for example \"800kbit\"",
        ),
        (conditions, r#"{"loss": 2}"#, 400, "loss: "),
        (
            conditions,
            r#"{"direction": "left"}"#,
            400,
            "direction: there is no `left` here; there are `both`, `up`, `down`",
        ),
        (conditions, r#"{"reorder": "x"}"#, 400, "reorder: "),
        (
            conditions,
            r#"{"name": "a b"}"#,
            400,
            "name: write 1 to 64 letters, digits, `.`, `_` or `-`, and not dots alone",
        ),
        (conditions, "{", 400, "the body is no JSON: EOF"),
        (conditions, "{} {}", 400, "the body is to be one JSON value: "),
        (conditions, "[1]", 400, "the body: write an object, not a list"),
        (conditions, "[]", 400, "the body: write an object, not a list"),
        (("POST", "/proxies"), "[]", 400, "the body: write an object, not a list"),
        (("POST", "/proxies/web"), "[]", 400, "the body: write an object, not a list"),
        (("POST", "/populate"), "[[]]", 400, "[0]: write an object, not a list"),
        (
            ("POST", "/proxies"),
            r#"{"name": "x", "upstream": "127.0.0.1:1", "conditions": [["a"]]}"#,
            400,
            "conditions[0]: write an object, not a list",
        ),
        (conditions, "7", 400, "the body: write an object, not the number 7"),
        (
            conditions,
            r#"{"seed": -1}"#,
            400,
            "seed: write a whole number, 0 or more, not the number -1",
        ),
        (
            conditions,
            r#"{"queue": "3"}"#,
            400,
            "queue: write a whole number, 0 to 4294967295, not the text \"3\"",
        ),
        (conditions, r#"{"burst": [2]}"#, 400, "burst: write a number, not a list"),
        (conditions, r#"{"seed": 1, "seed": 2}"#, 400, "the body: the key `seed` is there twice"),
        (("POST", "/populate"), "{}", 400, "the body: write a list, not an object"),
        (("POST", "/populate"), r#"[{"name": "x"}]"#, 400, "[0]: the key `upstream` is missing"),
        (
            ("POST", "/proxies/web"),
            r#"{"enabled": 1}"#,
            400,
            "enabled: write true or false, not the number 1",
        ),
        (
            ("PATCH", "/proxies/web"),
            r#"{"upstream": null}"#,
            400,
            "upstream: write a string, not null",
        ),
        (("POST", "/proxies"), r#"{"name": "x"}"#, 400, "the key `upstream` is missing"),
        (
            ("POST", "/proxies"),
            r#"{"name": "x", "upstream": "nowhere"}"#,
            400,
            "upstream nowhere: ",
        ),
        (
            ("POST", "/proxies"),
            r#"{"name": "x", "upstream": "127.0.0.1:1", "listen": "5"}"#,
            400,
            "listen 5: ",
        ),
        (
            ("POST", "/proxies/web"),
            r#"{"seed": 1}"#,
            400,
            "seed: there is no key `seed` here; there are `name`, `listen`, `upstream`, `enabled`",
        ),
        (
            ("POST", "/populate"),
            r#"[{"name": 1}]"#,
            400,
            "[0].name: write a string, not the number 1",
        ),
        // As Toxiproxy shows its proxies, and its command line keeps them in a file.
        (
            ("POST", "/populate"),
            r#"[{"name": "x", "upstream": "127.0.0.1:1", "toxics": [{"type": "latency"}]}]"#,
            400,
            "[0].toxics: conditions take the place of toxics: write `conditions`",
        ),
        (
            ("POST", "/proxies/web"),
            r#"{"enabled": true, "toxics": [{"type": "latency"}]}"#,
            400,
            "toxics: conditions take the place of toxics",
        ),
        (("PUT", "/proxies"), "", 405, "PUT does nothing here; there is GET, HEAD, POST"),
        (("GET", "/x"), "", 404, "there is no /x; there is /version, /metrics, /proxies, "),
        (
            ("POST", "/proxies/web/toxics"),
            "{}",
            404,
            "there is no /proxies/web/toxics; conditions take the place of toxics: there is /ver",
        ),
        (
            ("POST", "/proxies/web"),
            r#"{"name": "other", "enabled": false}"#,
            400,
            "name: it stays `web`; leave the key out",
        ),
        (("POST", "/proxies/x/conditions"), "{}", 404, "there is no proxy `x`"),
        (
            ("DELETE", "/proxies/web/conditions/x"),
            "",
            404,
            "`web` has no condition `x`; it has none",
        ),
    ] {
        let error = refused(&all, path, body, status);
        assert!(error.starts_with(expected), "{path:?} {body}: {error}");
    }
    // What leads nowhere, or back.
    let listen = get(&all, "/proxies/web").1["listen"].as_str().unwrap().to_string();
    let own = format!("upstream {listen}: the proxy itself listens at {listen}; write the address");
    let no_port = "upstream 127.0.0.1:0: no server has port 0; write the port of the server";
    let upstream = get(&all, "/proxies/web").1["upstream"].clone();
    for (path, body, expected) in [
        ("/proxies/web", json!({ "upstream": listen }), own.as_str()),
        ("/proxies", json!({ "name": "x", "listen": listen, "upstream": listen }), own.as_str()),
        ("/proxies/web", json!({ "listen": upstream }), "upstream 127.0.0.1:"),
        ("/proxies/web", json!({ "upstream": "127.0.0.1:0" }), no_port),
        ("/proxies", json!({ "name": "x", "upstream": "127.0.0.1:0" }), no_port),
    ] {
        let error = refused(&all, ("POST", path), &body.to_string(), 400);
        assert!(error.starts_with(expected), "{body}: {error}");
    }
    // A value is quoted as it is, with its dashes.
    let name = "xn--nxasmq6b.invalid:x";
    let body = json!({ "name": "x", "upstream": name }).to_string();
    let error = refused(&all, ("POST", "/proxies"), &body, 400);
    assert!(error.starts_with(&format!("upstream {name}: ")), "{error}");
    let text = "duration = \"1s\"\n[[link]]\nfrom = \"a--b\"\nto = \"b\"\nrate = \"1mbit\"\n\
                delay = \"1ms\"\n";
    let body = json!({ "scenario": text }).to_string();
    let error = refused(&all, conditions, &body, 400);
    assert!(error.starts_with("client: there is no node `client`; scenario has `a--b`"), "{error}");
    let body = json!({ "scenario": "duration = \"1s\"\n" }).to_string();
    let error = refused(&all, conditions, &body, 400);
    assert_eq!(error, "client: scenario has no nodes; write a [[link]] between two of them");
    let taken = get(&all, "/proxies/web").1["listen"].clone();
    let body = json!({ "name": "x", "upstream": "127.0.0.1:1", "listen": taken });
    let error = refused(&all, ("POST", "/proxies"), &body.to_string(), 409);
    assert!(error.starts_with("listen: 127.0.0.1:"), "{error}");
    assert_eq!(get(&all, "/proxies").1.as_object().unwrap().len(), 1);
}

#[test]
fn conditions_are_bounded() {
    let all = proxies();
    web(&all, json!([]));
    let add = || ask(&all, "POST", "/proxies/web/conditions", json!({})).0;
    assert_eq!((0..33).map(|_| add()).filter(|&status| status == 201).count(), 32);
    assert_eq!(add(), 409);
}

/// Sends these bytes to the API, ends, and returns what comes back.
fn raw(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // It may have heard enough before all is sent.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(answer: &str) -> &str {
    answer.get(9..12).unwrap_or(answer)
}

/// An API there, by the name `Tests`.
fn api(address: &str) -> Api {
    Api::start(address.parse().unwrap(), "Tests", proxies(), Registry::default()).unwrap()
}

/// The name of a site that leads to this machine is no name of this machine. Who listens for others
/// is known by names that only these know.
#[test]
fn requests_for_other_hosts_are_refused() {
    let local = api("127.0.0.1:0");
    let all = api("0.0.0.0:0");
    for (host, expected) in [
        ("Host: localhost", "200"),
        ("Host: LocalHost:8474", "200"),
        ("Host: 127.0.0.1:1", "200"),
        ("Host: 192.0.2.1", "200"),
        ("Host: [::1]:8474", "200"),
        ("Host: tests:8474", "200"),
        // RFC 9112 section 3.2.
        ("X: y", "400"),
        ("Host: evil.example:8474", "403"),
        ("Host: localhost.evil.example", "403"),
        ("Host: localhost@evil.example", "403"),
        ("Host: 127.0.0.1\r\nHost: evil.example", "400"),
        ("Host: evil example", "403"),
        ("Host:", "403"),
    ] {
        let request = format!("GET /version HTTP/1.1\r\n{host}\r\n\r\n");
        let answer = raw(local.address(), request.as_bytes());
        assert_eq!(status(&answer), expected, "{host}: {answer}");
        let address = (Ipv4Addr::LOCALHOST, all.address().port()).into();
        let expected = if expected == "400" { "400" } else { "200" };
        assert_eq!(status(&raw(address, request.as_bytes())), expected, "{host}");
    }
    let answer = raw(local.address(), b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    assert!(answer.contains("Host: `evil.example` is not served; write an address"), "{answer}");
}

#[test]
fn requests_come_over_http() {
    let api = api("127.0.0.1:0");
    let answer = raw(api.address(), b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(status(&answer), "200");
    assert!(answer.contains("content-type: application/json\r\n"), "{answer}");
    let version = env!("CARGO_PKG_VERSION");
    assert!(answer.ends_with(&format!("\r\n\r\n{{\"version\":\"{version}\"}}\n")), "{answer}");
    let length = format!("\r\ncontent-length: {}\r\n", version.len() + 15);
    let head = raw(api.address(), b"HEAD /version HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!((status(&head), head.contains(&length)), ("200", true), "{head}");
    assert!(head.ends_with("\r\n\r\n"), "{head}");
    let old = raw(api.address(), b"GET /version HTTP/1.0\r\n\r\n");
    assert_eq!(status(&old), "200");
    let answer = raw(api.address(), b"PUT /proxies/x HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(status(&answer), "405");
    assert!(answer.contains("\r\nallow: GET, HEAD, POST, PATCH, DELETE\r\n"), "{answer}");
    let body = r#"{"name":"x","upstream":"127.0.0.1:1"}"#;
    let post = |headers: &str, body: &str| {
        let length = body.len();
        let text = format!(
            "POST /proxies HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {length}\r\n\r\n\
             {body}"
        );
        raw(api.address(), text.as_bytes())
    };
    // A page in a browser may not.
    assert_eq!(status(&post("Origin: http://evil.example\r\n", body)), "403");
    assert_eq!(status(&post("", body)), "201");
    assert_eq!(status(&post("", &" ".repeat((1 << 20) + 1))), "413");
    assert_eq!(status(&post("", body)), "409");
}

/// Clients that say nothing, half of a head, half of a body or nonsense are there while others are
/// answered at once.
#[test]
fn slow_and_malformed_clients_hold_up_nobody() {
    let api = api("127.0.0.1:0");
    let held: [&[u8]; 4] = [
        b"",
        b"GET /ver",
        b"POST /proxies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
        b"POST /populate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n[",
    ];
    let mut held: Vec<_> = (0..200)
        .map(|i| {
            let mut stream = TcpStream::connect(api.address()).unwrap();
            stream.write_all(held[i % held.len()]).unwrap();
            stream
        })
        .collect();
    for nonsense in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"\r\n\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /reset HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /proxies HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 5\r\n\r\n\xff\xfe\xfd\xfc\xfb",
        &[b"GET / HTTP/1.1\r\nX: ".as_slice(), &[b'a'; 100_000]].concat(),
    ] {
        let answer = raw(api.address(), nonsense);
        assert!(answer.is_empty() || status(&answer).starts_with('4'), "{answer}");
    }
    let begin = Instant::now();
    let answer = raw(api.address(), b"GET /proxies HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(status(&answer), "200");
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    // Who does not send a whole head is heard no longer; nor who does not go on with a body.
    for (stream, expected) in held.iter_mut().zip(["", "", "408", "408"]) {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(
            answer.is_empty() && expected.is_empty() || status(&answer) == expected,
            "{answer}"
        );
    }
}

/// Far more clients than there is room for have sent half of a request and hold on. Others are
/// answered at once.
#[test]
fn half_sent_requests_hold_up_nobody() {
    crate::files::make_room(2000, true).unwrap();
    let api = api("127.0.0.1:0");
    let half = b"POST /proxies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{";
    let held: Vec<_> = (0..700)
        .map(|_| {
            let mut stream = TcpStream::connect(api.address()).unwrap();
            // The API may have had enough of it.
            let _ = stream.write_all(half);
            stream
        })
        .collect();
    let begin = Instant::now();
    let answer = raw(api.address(), b"GET /proxies HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(status(&answer), "200");
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    drop(held);
}

/// A connection that was open before a condition with `reset_after` lasts so long after it, and one
/// that comes later so long from its beginning. The server hears of it, too.
#[test]
fn connections_are_reset_after_a_time() {
    let all = proxies();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = listener.local_addr().unwrap().to_string();
    let new = json!({ "name": "web", "upstream": upstream });
    let made = ask(&all, "POST", "/proxies", new).1;
    let listen = made["listen"].as_str().unwrap();
    let ends = |mut client: TcpStream, mut server: TcpStream, since: Instant| {
        for stream in [&mut client, &mut server] {
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            let error = stream.read(&mut [0]).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        }
        let lasted = since.elapsed();
        assert!(lasted >= Duration::from_millis(300) && lasted < Duration::from_secs(10));
    };
    let client = TcpStream::connect(listen).unwrap();
    let server = listener.accept().unwrap().0;
    std::thread::sleep(Duration::from_millis(400));
    let since = Instant::now();
    let path = "/proxies/web/conditions";
    let condition = json!({ "name": "cut", "reset_after": "300ms" });
    let shown = json!({ "name": "cut", "reset_after": "300ms", "seed": 7 });
    assert_eq!(ask(&all, "POST", path, condition), (201, shown));
    ends(client, server, since);
    let since = Instant::now();
    let client = TcpStream::connect(listen).unwrap();
    ends(client, listener.accept().unwrap().0, since);
    assert_eq!(get(&all, "/proxies/web").1["reset"], 2);
    // None of the connections is one of these.
    let none = json!({ "toxicity": "0%", "reset_after": "1ms" });
    let (status, value) = ask(&all, "PATCH", "/proxies/web/conditions/cut", none);
    let shown = json!({ "name": "cut", "toxicity": 0.0, "reset_after": "1ms", "seed": 8 });
    assert_eq!((status, value), (200, shown));
    let client = TcpStream::connect(listen).unwrap();
    client.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let kind = (&client).read(&mut [0]).unwrap_err().kind();
    assert!(!matches!(kind, std::io::ErrorKind::ConnectionReset), "{kind}");
}

/// A condition keeps its share when another key changes.
#[test]
fn a_share_stays_through_changes() {
    let all = proxies();
    let mut stream = TcpStream::connect(web(&all, json!([]))).unwrap();
    let slow = json!({ "name": "slow", "delay": "200ms", "toxicity": 0 });
    assert_eq!(ask(&all, "POST", "/proxies/web/conditions", slow).0, 201);
    assert!(round_trip(&mut stream) < Duration::from_millis(200));
    let one = "/proxies/web/conditions/slow";
    assert_eq!(ask(&all, "PATCH", one, json!({ "delay": "250ms" })).1["toxicity"], 0.0);
    assert!(round_trip(&mut stream) < Duration::from_millis(200));
    assert_eq!(ask(&all, "PATCH", one, json!({ "toxicity": null })).0, 200);
    assert!(round_trip(&mut stream) >= Duration::from_millis(500));
    let wrong = refused(&all, ("PATCH", one), r#"{"toxicity": 1.5}"#, 400);
    assert!(wrong.starts_with("toxicity: `1.5` is not a probability"), "{wrong}");
}

#[test]
fn metrics_are_those_of_prometheus() {
    let all = proxies();
    let listen = web(&all, json!([{ "name": "slow", "delay": "5ms" }]));
    let mut stream = TcpStream::connect(listen).unwrap();
    for _ in 0..3 {
        round_trip(&mut stream);
    }
    let (status, text) = get(&all, "/metrics");
    let text = text.as_str().unwrap();
    assert_eq!(status, 200);
    let value = |sample: &str| -> f64 {
        let found = text.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
        found.unwrap_or_else(|| panic!("{sample}: {text}")).parse().unwrap()
    };
    for (sample, expected) in [
        ("ackclock_connections_open{proxy=\"web\"}", 1.0),
        ("ackclock_connections_total{proxy=\"web\"}", 1.0),
        ("ackclock_connections_reset_total{proxy=\"web\"}", 0.0),
        ("ackclock_connections_refused_total{proxy=\"web\"}", 0.0),
        ("ackclock_bytes_total{proxy=\"web\",direction=\"up\"}", 3.0),
        ("ackclock_bytes_total{proxy=\"web\",direction=\"down\"}", 3.0),
        ("ackclock_segments_sent_total{proxy=\"web\"}", 6.0),
        ("ackclock_retransmissions_total{proxy=\"web\"}", 0.0),
        ("ackclock_timeouts_total{proxy=\"web\",class=\"non_trigger\"}", 0.0),
        ("ackclock_timeouts_total{proxy=\"web\",class=\"handshake\"}", 0.0),
        ("ackclock_packets_lost_total{proxy=\"web\"}", 0.0),
        ("ackclock_link_drops_total{proxy=\"web\",condition=\"slow\",reason=\"loss\"}", 0.0),
        ("ackclock_link_drops_total{proxy=\"web\",condition=\"slow\",reason=\"queue\"}", 0.0),
        ("ackclock_link_drops_total{proxy=\"web\",condition=\"slow\",reason=\"early\"}", 0.0),
    ] {
        assert_eq!(value(sample), expected, "{sample}");
    }
    let packets = value("ackclock_packets_total{proxy=\"web\"}");
    assert_eq!(value("ackclock_link_packets_total{proxy=\"web\",condition=\"slow\"}"), packets);
    let delivered = value("ackclock_packet_delay_seconds_count{proxy=\"web\"}");
    let mean = value("ackclock_packet_delay_seconds_sum{proxy=\"web\"}") / delivered;
    assert!((0.005..0.00501).contains(&mean), "{mean}");
    // Each family is described once, and every sample belongs to the one before it.
    let mut family = "";
    for line in text.lines() {
        match line.strip_prefix("# TYPE ") {
            Some(described) => family = described.split_once(' ').unwrap().0,
            None => assert!(line.starts_with("# HELP ") || line.starts_with(family), "{line}"),
        }
    }
    assert_eq!(text.matches("# TYPE ").count(), text.matches("# HELP ").count());
    let api = api("127.0.0.1:0");
    let answer = raw(api.address(), b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(answer.contains("\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    let build = format!("ackclock_build_info{{version=\"{}\"}} 1\n", env!("CARGO_PKG_VERSION"));
    assert!(answer.contains(&build), "{answer}");
}
