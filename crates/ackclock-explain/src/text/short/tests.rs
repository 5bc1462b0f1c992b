use ackclock_trace::{Kind, Retransmission, Vantage};

use super::*;
use crate::fixture;

/// A hundredth of the data is missing, or less.
#[test]
fn data_that_is_not_in_the_capture() {
    let told = |unseen: u64| {
        let mut explained = fixture::explained();
        let bytes: u64 =
            explained.connections.iter().flat_map(Found::flows).map(|f| f.1.bytes).sum();
        explained.connections[0].connection.from_client.unseen = (unseen * bytes).div_ceil(990);
        text(&explained, 1).contains(
            "1.0 % of the data is not in the capture: what was lost, and how fast it went, is \
             less sure",
        )
    };
    assert_eq!([told(10), told(9), told(0)], [true, false, false]);
}

/// Copies, and a connection on both sides of a translator, are told of and not counted.
#[test]
fn what_the_capture_has_twice() {
    let mut explained = fixture::explained();
    explained.connections[1].connection.copies = 2;
    explained.connections[1].same_as = Some(0);
    let told = text(&explained, 0);
    let lines = [
        "1 connection, ",
        "11.1 % of the packets are copies of others, as mirror ports and captures of several \
         interfaces have them: they are left out\n",
        "1 connection more is one of these again with other addresses or ports, beyond a \
         translator (NAT): each counts once\n",
    ];
    assert!(lines.iter().all(|line| told.contains(line)), "{told}");
    // No path makes them so late.
    explained.connections[0].connection.copies_after = ackclock_tcp::Span::from_secs(3);
    let clocks = "they are left out. Some come 3.0 s later, longer than round trips take: there \
        are hosts in it whose clocks differ\n";
    assert!(text(&explained, 0).contains(clocks), "{}", text(&explained, 0));
    // The other one alone counts, for it is not there again.
    assert!(explained.keep(1));
    assert!(text(&explained, 0).starts_with("1 connection, "));
}

/// Only what is decided counts as a timeout, and what is only probable is called so.
#[test]
fn timeouts_that_are_not_sure() {
    let told = |timeouts: u64, unsure_timeouts: u64, either: u64| {
        let mut counts = Counts { unsure_timeouts, ..Counts::default() };
        counts.timeouts[0] = timeouts;
        counts.retransmissions[Kind::ProbeOrTimeout as usize] = either;
        super::timeouts(&counts)
    };
    assert_eq!(told(1, 0, 0), "1 timeout");
    assert_eq!(told(1, 1, 0), "1 timeout (only probable)");
    let all = "2 timeouts (1 only probable), 5 undecided (tail loss probe or timeout)";
    assert_eq!(told(2, 1, 5), all);
}

/// Who resets a connection is said, and whether that cut data off.
#[test]
fn who_has_reset_it() {
    let told = |by, cuts_off| {
        let mut found = fixture::explained().connections.swap_remove(0);
        found.connection.ended = Ended::Reset(Reset { by, cuts_off });
        found.connection.from_server.lifetime.add(Limit::Path, Span::from_millis(1000));
        let text = why(&found);
        text[text.rfind("; ").unwrap()..].to_owned()
    };
    assert_eq!(told(ResetBy::Server, false), "; the server reset it");
    let cut = "; the client reset it, which cut off data on its way";
    assert_eq!(told(ResetBy::Client, true), cut);
}

/// Where all ACKs of data were delayed, the handshake says how long the path is.
#[test]
fn round_trips_of_delayed_acks() {
    let told = |min: u64, begun: bool, delayable: u64| {
        let mut found = fixture::explained().connections.swap_remove(0);
        let flow = &mut found.connection.from_server;
        flow.lifetime.add(Limit::Path, Span::from_millis(1000));
        let rtt = flow.rtt.as_mut().unwrap();
        (rtt.min, rtt.median) = (Span::from_millis(min), Span::from_millis(41));
        (rtt.delayable, rtt.samples) = (delayable, 10);
        found.connection.begun = begun;
        found.connection.position.to_client = Some(Span::from_millis(10));
        found.connection.position.to_server = Some(Span::ZERO);
        let why = why(&found);
        let from = why.find("round trip").unwrap();
        let (least, _) = why[from..].split_once(" (median 41.0 ms").unwrap();
        (least.to_owned(), why.contains(", with delayed ACKs)"))
    };
    let short = "round trip 10.0 ms".to_owned();
    assert_eq!(told(30, true, 10), (short.clone(), true));
    assert_eq!(told(30, true, 5), (short, false));
    assert_eq!(told(30, false, 10), ("round trip 30.0 ms".into(), false));
    assert_eq!(told(15, true, 10), ("round trip 15.0 ms".into(), true));
}

/// Nothing is said where the clock of the capture shows no time, nor where the way to the end is
/// not known.
#[test]
fn round_trips_that_are_not_known() {
    let told = |min: u64, to_server: Option<u64>, begun: bool| {
        let mut found = fixture::explained().connections.swap_remove(0);
        found.connection.from_server.rtt.as_mut().unwrap().min = Span::from_micros(min);
        found.connection.begun = begun;
        found.connection.position.vantage = Vantage::Client;
        found.connection.position.to_client = Some(Span::from_micros(200));
        found.connection.position.to_server = to_server.map(Span::from_millis);
        round_trip(&found, End::Server).is_some()
    };
    assert_eq!([told(0, Some(30), true), told(205, Some(30), true)], [false, true]);
    assert_eq!([told(205, None, true), told(205, None, false)], [false, true]);
}

/// An answer soon enough to carry the ACK of what was asked is one that the client waits for.
#[test]
fn an_answer_that_carries_the_ack() {
    let sentence = |answering: u64, full: u64| {
        let mut found = fixture::explained().connections.swap_remove(1);
        let mut lifetime = Lifetime::default();
        lifetime.add(Limit::Path, Span::from_millis(1000));
        lifetime.add_full(Span::from_millis(full));
        let flow = &mut found.connection.from_client;
        (flow.lifetime, flow.bytes) = (lifetime, 1000);
        let mut lifetime = Lifetime::default();
        lifetime.add(Limit::Application, Span::from_millis(1000));
        lifetime.add_answering(Span::from_millis(answering));
        found.connection.from_server.lifetime = lifetime;
        limited(&found, Limit::Path)
    };
    let waiting = "the server's application kept the client waiting for 0.50 s of 1.0 s (50 %)";
    assert_eq!(sentence(500, 0), waiting);
    for (answering, full) in [(499, 0), (500, 500)] {
        assert!(!sentence(answering, full).contains("waiting"));
    }
}

/// Beside a long pause a handshake is named if it took longer than three round trips, and half
/// of the rest.
#[test]
fn a_late_handshake_beside_a_pause() {
    let told = |handshake: u64, path: u64| {
        let mut found = fixture::explained().connections.swap_remove(0);
        let mut lifetime = Lifetime::default();
        lifetime.add(Limit::Application, Span::from_millis(2000));
        lifetime.add(Limit::Handshake, Span::from_millis(handshake));
        lifetime.add(Limit::Path, Span::from_millis(path));
        found.connection.begun = true;
        found.connection.from_client.lifetime = lifetime;
        found.connection.from_server.lifetime = lifetime;
        limited(&found, Limit::Application)
    };
    let text = told(800, 200);
    let pause = "the server's application had nothing to send for 2.0 s of 3.0 s (67 %)";
    let handshake = "; in the rest the handshake lasted for 0.80 s of 1.0 s (80 %)";
    assert_eq!(text, format!("{pause}{handshake}"));
    // Of a connection whose round trip is 100 ms.
    assert!(!told(300, 100).contains("handshake"));
    assert!(!told(800, 1000).contains("handshake"));
}

/// A server whose application paused for a moment had its answer on its way for the rest.
#[test]
fn an_answer_that_takes_its_way() {
    let mut found = fixture::explained().connections.swap_remove(1);
    let mut lifetime = Lifetime::default();
    lifetime.add(Limit::Path, Span::from_millis(990));
    lifetime.add(Limit::Application, Span::from_millis(10));
    lifetime.add_answering(Span::from_millis(10));
    let flow = &mut found.connection.from_server;
    (flow.lifetime, flow.bytes, flow.window) = (lifetime, 1000, Some(65_535));
    found.connection.begun = true;
    found.connection.from_client.lifetime = Lifetime::default();
    let way = "all that the server had was on its way for 0.99 s of 1.0 s (99 %)";
    assert_eq!(limited(&found, Limit::Path), way);
}

/// Which half of the path's share was longer.
#[test]
fn a_full_path_and_one_that_takes_its_time() {
    let sentence = |full: u64| {
        let mut found = fixture::explained().connections.swap_remove(0);
        let mut lifetime = Lifetime::default();
        lifetime.add(Limit::Path, Span::from_millis(1000));
        lifetime.add_full(Span::from_millis(full));
        found.connection.begun = true;
        found.connection.from_client.lifetime = lifetime;
        found.connection.from_server.lifetime = lifetime;
        limited(&found, Limit::Path)
    };
    assert_eq!(sentence(500), "the path carried what it could for 1.0 s of 1.0 s (100 %)");
    let way = "all that the server had was on its way for 1.0 s of 1.0 s (100 %)";
    assert_eq!(sentence(499), way);
}

/// A policer that lets four fifths of its rate pass, and one that is seldom met.
#[test]
fn all_that_a_policer_lets_pass() {
    let sentence = |bytes: u64| {
        let mut found = fixture::explained().connections.swap_remove(0);
        let mut lifetime = Lifetime::default();
        lifetime.add(Limit::Path, Span::from_millis(1000));
        found.connection.begun = true;
        found.connection.from_client.lifetime = lifetime;
        let server = &mut found.connection.from_server;
        (server.lifetime, server.bytes) = (lifetime, bytes);
        server.losses.cause = Some(LossCause::Policer { rate_bps: 1e6, burst: None });
        limited(&found, Limit::Path)
    };
    assert_eq!(sentence(100_000), "the path carried what it could for 1.0 s of 1.0 s (100 %)");
    let way = "all that the server had was on its way for 1.0 s of 1.0 s (100 %)";
    assert_eq!(sentence(99_999), way);
}

/// A capture that begins in the middle of a connection.
#[test]
fn a_beginning_that_was_not_seen() {
    let told = |begun: bool| {
        let mut found = fixture::explained().connections.swap_remove(0);
        let mut lifetime = Lifetime::default();
        lifetime.add(Limit::Path, Span::from_millis(1000));
        found.connection.begun = begun;
        found.connection.from_server.lifetime = lifetime;
        why(&found).contains("; its beginning was not seen")
    };
    assert_eq!([true, false].map(told), [false, true]);
}

/// SYNs of a client, which nobody answered as far as the capture shows.
#[test]
fn a_syn_without_an_answer() {
    let told = |syns: &[u64], opened: bool, answers: &[u64], ended: Ended| {
        let mut found = fixture::explained().connections.swap_remove(1);
        let c = &mut found.connection;
        (c.opened, c.ended) = (opened, ended);
        for (flow, times) in [(&mut c.from_client, syns), (&mut c.from_server, answers)] {
            flow.segments = times.len() as u64;
            let again = |at: &u64| Retransmission {
                syn: true,
                ..fixture::again(fixture::at(*at), Kind::Timeout)
            };
            flow.retransmissions = times.iter().skip(1).map(again).collect();
            let cause = StallCause::Timeout(ackclock_tcp::TimeoutClass::Handshake);
            let stall = |at: &u64| fixture::stall(fixture::at(*at), c.end, cause);
            flow.stalls = times.first().map(stall).into_iter().collect();
        }
        why(&found)
    };
    let open = |syns, answers| told(syns, false, answers, Ended::Fin);
    assert_eq!(open(&[0], &[]), "no answer to its SYN was seen");
    let syns = "no answer to its SYN was seen, which went out 3 times in 1.5 s";
    assert_eq!(open(&[0, 500, 1500], &[]), syns);
    assert!(told(&[0], true, &[], Ended::Fin).starts_with("it took no time"));
    // Half open: the server has answered, and the client not. Only the answers count, from the
    // first one.
    assert_eq!(open(&[0], &[100]), "no answer to the server's SYN/ACK was seen");
    let again = "no answer to the server's SYN/ACK was seen, which went out 3 times in 0.70 s";
    for syns in [&[0][..], &[0, 1700], &[100, 200, 500]] {
        assert_eq!(open(syns, &[900, 1200, 1600]), again);
    }
    assert!(told(&[0], true, &[100, 1100], Ended::Fin).starts_with("it took no time"));
    // The reset came long after that.
    let reset = |by| {
        let ended = Ended::Reset(Reset { by, cuts_off: false });
        told(&[0], false, &[100, 1100], ended)
    };
    let by_client = "no ACK of the server's SYN/ACK was seen, which went out 2 times in 1.0 s; the \
        client reset it";
    let by_server = "no answer to the server's SYN/ACK was seen, which went out 2 times in 1.0 s; \
        the server reset it";
    assert_eq!([ResetBy::Client, ResetBy::Server].map(reset), [by_client, by_server]);
    // Of the client nothing was captured.
    assert!(open(&[], &[0, 1000]).starts_with("it took no time"));
}

/// When the first of them went out is not known where there is no stall.
#[test]
fn answers_without_a_stall() {
    let mut found = fixture::explained().connections.swap_remove(1);
    let c = &mut found.connection;
    (c.opened, c.from_client.segments, c.from_server.segments) = (false, 1, 2);
    let again = fixture::again(fixture::at(1100), Kind::Timeout);
    c.from_server.retransmissions = vec![Retransmission { syn: true, ..again }];
    let text = "no answer to the server's SYN/ACK was seen, which went out 2 times";
    assert_eq!(why(&found), text);
}

/// Away from the capture a connection takes longer than there, if that is 2 % or more.
#[test]
fn time_with_the_way_to_its_sender() {
    use ackclock_trace::Vantage;
    let told = |vantage, millis: u64| {
        let mut found = fixture::explained().connections.swap_remove(0);
        found.connection.position.vantage = vantage;
        let mut lifetime = Lifetime::default();
        lifetime.add(Limit::Recovery, Span::from_millis(millis));
        found.connection.from_server.lifetime = lifetime;
        limited(&found, Limit::Recovery)
    };
    // It lasted for 2 s.
    let repaired = "the server repaired losses or waited for its timer for 2.0 s of 2.0 s";
    for (vantage, millis) in [(Vantage::Client, 2040), (Vantage::Server, 2041)] {
        assert_eq!(told(vantage, millis), format!("{repaired} (100 %)"));
    }
    let away = format!("{repaired} with the way to the server and back (100 %)");
    assert_eq!(told(Vantage::Client, 2041), away);
}

/// A file by two names, or given twice. A simulation that runs twice differs in something.
#[test]
fn the_same_capture_twice() {
    let note = "1 capture is the same as another one: its connections count once more\n";
    let told = |change: fn(&mut Explained)| {
        let [mut explained, again] = [(); 2].map(|()| fixture::explained());
        explained.captures.extend(again.captures);
        let found = again.connections.into_iter().map(|found| Found { capture: 1, ..found });
        explained.connections.extend(found);
        (0..).zip(&mut explained.connections).for_each(|(number, found)| found.number = number);
        change(&mut explained);
        let groups = crate::groups::grouped(&explained, crate::By::Port, 0, None);
        [text(&explained, 0).contains(note), groups.contains(note)]
    };
    assert_eq!(told(|_| {}), [true; 2]);
    assert_eq!(told(|all| all.connections[3].connection.from_server.bytes += 1), [false; 2]);
    assert_eq!(told(|all| all.captures[1].packets += 1), [false; 2]);
    assert_eq!(told(|all| all.connections.truncate(3)), [false; 2]);
}

/// Of several captures each connection says in which it is, and what two of them have is told.
#[test]
fn connections_of_several_captures() {
    let mut explained = fixture::explained();
    assert!(text(&explained, 0).contains("\n#0 192.0.2.1:40000 > [2001:db8::2]:443: "));
    let mut other = explained.captures[0].clone();
    other.path = "fast\n.pcap".into();
    explained.captures.push(other);
    explained.connections[1].capture = 1;
    let again = &mut explained.connections[1].connection;
    again.start = fixture::at(1);
    again.numbers = [Some([ackclock_tcp::Seq(5); 2]); 2];
    explained.connections[0].connection.numbers = again.numbers;
    let told = text(&explained, 0);
    let note = "1 connection counts once more, from another capture: --join reads captures as one, \
        --compare says what happened between two\n";
    let groups = crate::groups::grouped(&explained, crate::By::Port, 0, None);
    assert!(told.contains(note) && groups.contains(note), "{told}");
    for capture in ["\n#0 192.0.2.1:40000 > [2001:db8::2]:443 in <slow>.pcap: ", ":443 in fast"] {
        assert!(told.contains(capture), "{told}");
    }
    assert!(!told.contains("fast\n"));
}
