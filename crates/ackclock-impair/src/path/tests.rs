use super::*;
use crate::Simple;
use ackclock_net::LinkReport;
use ackclock_tcp::{Stats, TimeoutClass};

fn conditions(simple: &Simple, seed: u64) -> Conditions {
    Conditions::simple(simple, seed).unwrap()
}

fn lossy() -> Simple {
    let (delay, loss) = ("10ms".parse().unwrap(), Some("5%".parse().unwrap()));
    Simple { rate: Some("10mbit".parse().unwrap()), delay, loss, ..Simple::default() }
}

fn path(simple: &Simple, seed: u64) -> Path {
    let address = "127.0.0.1:1".parse().unwrap();
    Path::new(&ProxyConfig::new(vec![address], vec![address]), &[conditions(simple, seed)]).unwrap()
}

/// Sends 300,000 bytes to the servers' host, with a look at the path every `step`: when all of it
/// was there, and what the links did.
fn transfer(simple: &Simple, seed: u64, step: Span) -> (Time, Vec<LinkReport>) {
    transfer_with(simple, seed, step, |_, _| {})
}

/// As [`transfer`], with changes before each look at the path.
fn transfer_with(
    simple: &Simple,
    seed: u64,
    step: Span,
    mut change: impl FnMut(Time, &mut Path),
) -> (Time, Vec<LinkReport>) {
    let bytes: Vec<u8> = (0..300_000_u32).map(|i| (i % 251) as u8).collect();
    let mut path = path(simple, seed);
    let client = path.connect().unwrap();
    path.flush();
    let (mut written, mut server, mut received) = (0, None, Vec::new());
    let mut now = Time::ZERO;
    while received.len() < bytes.len() {
        assert!(now < Time(60_000_000_000), "it does not end");
        // What arrives is taken at the time at which it does, as by an application beside.
        now += step;
        path.advance(now);
        change(now, &mut path);
        if written < bytes.len() && path.room(client).is_ok() {
            written += path.write(client, &bytes[written..]).unwrap();
        }
        server = server.or_else(|| path.accept());
        while let Some(end) = server {
            let read = path.read_with(end, |[a, b]| {
                received.extend_from_slice(a);
                received.extend_from_slice(b);
                a.len() + b.len()
            });
            if read.is_err() {
                break;
            }
        }
        path.flush();
    }
    assert!(received == bytes, "a wrong byte");
    (now, path.report().into_iter().map(|link| link.counts).collect())
}

#[test]
fn the_same_seed_and_bytes_meet_the_same_fates() {
    let step = Span::from_millis(1);
    let first = transfer(&lossy(), 7, step);
    assert_eq!(transfer(&lossy(), 7, step), first);
    assert!(first.1[0].dropped_loss > 0, "{first:?}");
    assert_ne!(transfer(&lossy(), 8, step).1[0], first.1[0]);
}

/// Conditions that change in the middle of a transfer, at two places.
#[test]
fn the_same_changes_at_the_same_times_meet_the_same_fates() {
    let run = |seed| {
        transfer_with(&lossy(), 7, Span::from_millis(1), |now, path| {
            match now.nanos() / 1_000_000 {
                100 => path.set(1, Some(&conditions(&lossy(), seed))).unwrap(),
                150 => path.set(0, Some(&conditions(&lossy(), seed + 1))).unwrap(),
                200 => path.set(1, None).unwrap(),
                250 => path.set(2, Some(&conditions(&lossy(), seed + 2))).unwrap(),
                _ => {}
            }
        })
    };
    let first = run(3);
    assert_eq!(run(3), first);
    assert_ne!(run(30), first);
    // Two links both ways are in force, and each has lost something.
    assert_eq!(first.1.len(), 4);
    assert!(first.1[0].dropped_loss > 0 && first.1[2].dropped_loss > 0, "{first:?}");
}

/// A thread that comes 50 times as late sees the same packets lost at the same times: only what it
/// takes from the hosts comes later.
#[test]
fn coming_late_changes_no_fate() {
    let (often, counts) = transfer(&lossy(), 7, Span::from_millis(1));
    // The write after the handshake is at 50 ms instead of 21 ms, and the end is rounded up.
    let (seldom, late) = transfer(&lossy(), 7, Span::from_millis(50));
    assert_eq!(late[0].dropped_loss, counts[0].dropped_loss);
    assert_eq!(late[0].packets, counts[0].packets);
    assert!(seldom <= often + Span::from_millis(80), "{often:?} {seldom:?}");
}

/// What each direction of the links did with 300,000 bytes that are written at once, where the
/// path is looked at every `step`, and all that is there is read then.
fn offered_at_once(seed: u64, step: Span) -> Vec<LinkReport> {
    let mut path = path(&lossy(), seed);
    let client = path.connect().unwrap();
    path.flush();
    // Its SYN or the answer may be lost, which takes another second.
    path.advance(Time(10_000_000_000));
    assert_eq!(path.write(client, &[7; 300_000]), Ok(300_000));
    path.flush();
    let server = path.accept().unwrap();
    let (mut now, mut left) = (path.now(), 300_000);
    let end = now + Span::from_secs(20);
    while now < end {
        now = (now + step).min(end);
        path.advance(now);
        while let Ok(read) = path.read_with(server, |[a, b]| a.len() + b.len()) {
            left -= read;
        }
        path.flush();
    }
    assert_eq!((left, path.unacked(client)), (0, 0));
    path.report().into_iter().map(|link| link.counts).collect()
}

/// However seldom the thread comes, the hosts send the same packets: when their bytes are taken has
/// no say in what they acknowledge.
#[test]
fn coming_late_changes_no_packet() {
    for seed in 1..=5 {
        let often = offered_at_once(seed, Span::from_micros(100));
        assert!(often[0].dropped_loss > 0, "{often:?}");
        for millis in [1, 7, 30, 200, 5000] {
            let late = offered_at_once(seed, Span::from_millis(millis));
            assert_eq!(late, often, "seed {seed}, every {millis} ms");
        }
    }
}

/// Where nobody takes what has arrived, 3 MiB wait: 1 MiB in the inbox, and as much as a host has
/// for a connection that is not alone. Then the sender has to wait, too.
#[test]
fn who_takes_nothing_has_the_sender_wait() {
    let mut path = path(&Simple::default(), 1);
    let client = path.connect().unwrap();
    path.flush();
    path.advance(Time(1_000_000));
    let server = path.accept().unwrap();
    let (mut written, mut now) = (0, path.now());
    for _ in 0..2000 {
        written += path.write(client, &[7; 65_536]).unwrap_or(0);
        path.flush();
        now += Span::from_millis(1);
        path.advance(now);
    }
    let waiting = path.readable(server);
    assert_eq!(written, waiting + path.unacked(client));
    assert!(waiting > (3 << 20) - 20_000 && waiting <= 3 << 20, "{waiting}");
    // All of it comes, once it is taken.
    let mut read = 0;
    while read < written {
        while let Ok(bytes) = path.read_with(server, |[a, b]| a.len() + b.len()) {
            read += bytes;
        }
        path.flush();
        now += Span::from_millis(1);
        path.advance(now);
    }
    assert_eq!((read, path.unacked(client)), (written, 0));
}

/// Bytes cross a link of 10 ms: the SYN takes 10 ms, the SYN/ACK as long. The ACK and the data,
/// which is written at 20 ms, arrive at 30 ms.
#[test]
fn packets_take_as_long_as_the_link() {
    let simple = Simple { delay: "10ms".parse().unwrap(), ..Simple::default() };
    let mut path = path(&simple, 1);
    let client = path.connect().unwrap();
    path.flush();
    // The link has 100 Gbit/s, so that a packet takes some nanoseconds beside.
    path.advance(Time(20_001_000));
    assert_eq!(path.write(client, b"hello"), Ok(5));
    path.flush();
    path.advance(Time(30_000_000));
    assert_eq!(path.accept(), None);
    path.advance(Time(30_002_000));
    let server = path.accept().unwrap();
    assert_eq!(path.read_with(server, |[a, _]| a.len()), Ok(5));
}

/// What is under way when the conditions change keeps its delay; what comes after has the new one.
#[test]
fn conditions_are_switched_between_packets() {
    let slow = Simple { delay: "100ms".parse().unwrap(), ..Simple::default() };
    let mut path = path(&slow, 1);
    let client = path.connect().unwrap();
    path.flush();
    path.set(0, Some(&conditions(&Simple::default(), 1))).unwrap();
    // The SYN is on the old link: 100 ms. The answer is at once.
    path.advance(Time(100_001_000));
    assert!(path.room(client).is_ok());
    assert_eq!(path.report()[1].counts.packets, 1, "the SYN/ACK");
}

/// The receivers acknowledge as Linux does: each of the first 16 segments at once
/// (`tcp_incr_quickack`), where RFC 5681 would have every second one acknowledged.
#[test]
fn the_first_segments_are_acknowledged_one_by_one() {
    let mut path = path(&Simple { delay: "10ms".parse().unwrap(), ..Simple::default() }, 1);
    let client = path.connect().unwrap();
    path.flush();
    path.advance(Time(25_000_000));
    // The initial window: ten segments of 1448 bytes.
    assert_eq!(path.write(client, &[0; 14_480]), Ok(14_480));
    path.flush();
    path.advance(Time(60_000_000));
    let packets: Vec<u64> = path.report().iter().map(|link| link.counts.packets).collect();
    assert_eq!(packets, [2 + 10, 1 + 10], "SYN, ACK and data; SYN/ACK and ACKs");
}

/// A reset is lost, so the servers' host goes on with half of a connection. Two hours later it
/// asks, and hears that there is none.
#[test]
fn half_of_a_connection_does_not_stay() {
    let mut path = path(&Simple::default(), 1);
    let client = path.connect().unwrap();
    path.flush();
    path.advance(Time(1_000_000));
    let server = path.accept().unwrap();
    let text = "duration = \"1s\"\n[[link]]\nfrom = \"client\"\nto = \"server\"\nrate = \"1gbit\"\n\
                delay = \"1ms\"\nloss = [{ bernoulli = { p = \"100%\", direction = \"both\" } }]\n";
    let cut = Conditions::from_toml(text, "test", None, None, None, &Default::default()).unwrap();
    path.set(1, Some(&cut)).unwrap();
    path.abort(client);
    path.flush();
    path.advance(Time(2_000_000));
    path.set(1, None).unwrap();
    path.advance(Time::ZERO + Span::from_secs(7199));
    assert!(!path.is_broken(server));
    path.advance(Time::ZERO + Span::from_secs(7201));
    assert!(path.is_broken(server));
}

/// What is counted of packets is what the senders count of themselves.
#[test]
fn packets_count_what_their_senders_count() {
    let (mut counted, mut timeouts) = (Passed::default(), Timeouts::default());
    let mut stats = Vec::new();
    transfer_with(&lossy(), 1, Span::from_millis(1), |_, path| {
        (counted, timeouts) = (path.passed(), path.timeouts());
        let sender = |host: &Stack, id| host.sender(SocketId(id)).ok().map(|s| *s.stats());
        stats = path.hosts.iter().filter_map(|host| sender(host, 0)).collect();
    });
    let sum = |count: fn(&Stats) -> u64| stats.iter().map(count).sum::<u64>();
    assert!(sum(|s| s.timeouts) + sum(|s| s.retransmissions) > 5);
    assert_eq!(counted.segments, sum(|s| s.segments_sent));
    assert_eq!(counted.retransmissions, sum(|s| s.retransmissions));
    for class in TimeoutClass::ALL {
        let of_class: u64 = stats.iter().map(|s| s.timeouts_by_class[class as usize]).sum();
        // No sender sends SYNs.
        let of_syns = if class == TimeoutClass::Handshake { 2 } else { 0 };
        assert_eq!(timeouts[class as usize], of_class + of_syns, "{class:?}");
    }
}

/// Those of SYNs count as well, and all of them still do where their connections are gone.
#[test]
fn timeouts_of_connections_that_are_gone() {
    let mut path = path(&Simple { loss: Some("100%".parse().unwrap()), ..Simple::default() }, 1);
    let client = path.connect().unwrap();
    path.flush();
    let handshakes = |n| {
        let mut all = Timeouts::default();
        all[TimeoutClass::Handshake as usize] = n;
        all
    };
    // Linux sends its first SYNs once a second (`tcp_syn_linear_timeouts`), and a tick of 4 ms
    // later: the second wait begins at a tick.
    for (at, n) in [(1003, 0), (1005, 1), (2007, 1), (2009, 2)] {
        path.advance(Time::ZERO + Span::from_millis(at));
        assert_eq!(path.timeouts(), handshakes(n), "{at} ms");
    }
    path.abort(client);
    path.flush();
    assert_eq!((path.hosts[CLIENTS].connections(), path.timeouts()), (0, handshakes(2)));
}
