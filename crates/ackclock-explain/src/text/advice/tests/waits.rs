//! What connections waited for that looks like something else.

use ackclock_trace::ways::Evidence;
use ackclock_trace::{Reset, ResetBy};

use super::*;
use crate::text::short::why;

/// A connection whose server sent this.
fn flow(limits: &[(Limit, u64)]) -> Flow {
    let mut flow = Flow { bytes: 9000, mss: 1448, window: Some(1 << 20), ..Flow::default() };
    limits.iter().for_each(|(limit, millis)| flow.lifetime.add(*limit, span(*millis)));
    flow
}

fn nothing() -> Vec<String> {
    Vec::new()
}

/// What a window that falls back after a pause is for: only the sender's own capture shows it, and
/// not where no more went out than the initial window.
#[test]
fn slow_start_after_idle_time() {
    let small = |[used, unused]: [u32; 2], vantage: Vantage, paused: u64| {
        let mut flow = flow(&[(Limit::CongestionWindow, 2000), (Limit::Application, paused)]);
        flow.lifetime.add_idle(span(2000));
        flow.ways.restart = Evidence { used, unused };
        let (start, end) = (ms(500), ms(500 + paused));
        let cause = StallCause::Application;
        flow.stalls = vec![fixture::stall(start, end, cause)];
        let mut found = connection(flow);
        found.connection.position.vantage = vantage;
        lines(found)
    };
    let anew = "192.0.2.2: its window begins anew after each pause; let it keep its window \
        (Linux: set net.ipv4.tcp_slow_start_after_idle to 0) (bottleneck idle: 2.0 s)";
    let perhaps = "192.0.2.2: its window is still growing, perhaps anew after each pause \
        (Linux: net.ipv4.tcp_slow_start_after_idle), or its send buffer is full (Linux: \
        net.ipv4.tcp_wmem); a \
        capture there shows which (bottleneck idle: 2.0 s)";
    let growing = "192.0.2.2: its window is still growing or its send buffer is full; keep \
        connections open for longer, or raise its initial window or its send buffer (Linux: \
        initcwnd, net.ipv4.tcp_wmem) (bottleneck idle: 2.0 s)";
    let at_sender = perhaps.replace("; a capture there shows which", "");
    assert_eq!(small([1, 0], Vantage::Server, 3000), [anew]);
    assert_eq!(small([0, 2], Vantage::Server, 3000), [growing]);
    assert_eq!(small([0, 0], Vantage::Server, 3000), [at_sender]);
    assert_eq!(small([0, 0], Vantage::Client, 3000), [perhaps]);
    assert_eq!(small([0, 0], Vantage::Client, 1000), [growing]);
    // With nothing behind it, silence is no pause.
    let mut flow = flow(&[(Limit::CongestionWindow, 2000), (Limit::Application, 3000)]);
    flow.lifetime.add_idle(span(2000));
    assert_eq!(lines(connection(flow)), [growing]);
}

/// What a slow reader lacks while losses are repaired it cannot read.
#[test]
fn a_receiver_that_reads_slowly_beside_losses() {
    let mut flow = flow(&[(Limit::ReceiveWindow, 4000), (Limit::Recovery, 3000)]);
    (flow.bytes, flow.full_window) = (500_000, 65_536);
    flow.lifetime.add_shrunk(span(3000));
    let slow = "the application at the client reads slowly (about 1.0 Mbit/s)";
    let found = connection(flow);
    assert!(why(&found).starts_with(slow), "{}", why(&found));
}

/// A window that has been twice as large is no buffer that is too small.
#[test]
fn a_receiver_that_reads_slowly() {
    let limited = |shrunk: u64| {
        let mut flow = flow(&[(Limit::ReceiveWindow, 4000)]);
        (flow.bytes, flow.full_window) = (500_000, 65_536);
        flow.lifetime.add_shrunk(span(shrunk));
        connection(flow)
    };
    let slow = "the application at the client reads slowly (about 1.0 Mbit/s), so that its window \
        held the server back for 4.0 s of 4.0 s (100 %)";
    assert!(why(&limited(2000)).starts_with(slow), "{}", why(&limited(2000)));
    let slow = "192.0.2.1: its application reads too slowly, so that its window shrinks (receive \
        window: 4.0 s)";
    assert_eq!(lines(limited(2000)), [slow]);
    let buffer = "192.0.2.1: its receive buffer limits at 64.0 KiB; raise it (SO_RCVBUF; Linux: \
        net.ipv4.tcp_rmem) (receive window: 4.0 s)";
    assert_eq!(lines(limited(1999)), [buffer]);
}

/// A larger buffer saves nothing while the path is full. That is what limits, where it takes more
/// than half of the waits.
#[test]
fn a_buffer_that_fills_the_path() {
    let found = |filled: u64| {
        let mut flow = flow(&[(Limit::ReceiveWindow, 4000)]);
        (flow.bytes, flow.full_window) = (500_000, 65_536);
        flow.lifetime.add_filled(span(filled));
        connection(flow)
    };
    let limited = |filled| lines(found(filled));
    let held = "the client's receive window held the server back for 4.0 s of 4.0 s (100 %)";
    let full = "the path carried what it could with the client's receive window full for 2.0 s of \
        4.0 s (50 %)";
    assert!(why(&found(2000)).starts_with(held), "{}", why(&found(2000)));
    assert!(why(&found(2001)).starts_with(full), "{}", why(&found(2001)));
    assert_eq!(limited(3700), [""; 0]);
    let buffer = "192.0.2.1: its receive buffer limits at 64.0 KiB; raise it (SO_RCVBUF; Linux: \
        net.ipv4.tcp_rmem) (receive window: 2.0 s)";
    assert_eq!(limited(2000), [buffer]);
}

/// A window that is closed once, for at least half of the time in which it limits, is one of an
/// application that read nothing: the mean rate says nothing of it.
#[test]
fn a_receiver_that_reads_nothing() {
    let closed = |times: &[(u64, u64)]| {
        let mut flow = flow(&[(Limit::ReceiveWindow, 4000)]);
        (flow.bytes, flow.full_window) = (500_000, 65_536);
        flow.lifetime.add_shrunk(span(4000));
        let stall =
            |&(start, end): &(u64, u64)| fixture::stall(ms(start), ms(end), StallCause::ZeroWindow);
        flow.stalls = times.iter().map(stall).collect();
        connection(flow)
    };
    let stopped = closed(&[(500, 600), (1000, 3000)]);
    let why_stopped = "the application at the client read little or nothing for 2.0 s, so that its \
        window held the server back for 4.0 s of 4.0 s (100 %)";
    assert!(why(&stopped).starts_with(why_stopped), "{}", why(&stopped));
    let line = "192.0.2.1: its application read little or nothing for 2.0 s, so that its window \
        closed (receive window: 4.0 s)";
    assert_eq!(lines(stopped), [line]);
    let slow = closed(&[(0, 1999), (2000, 3999)]);
    assert!(why(&slow).starts_with("the application at the client reads slowly"));
    let line = "192.0.2.1: its application reads too slowly, so that its window closes (receive \
        window: 4.0 s)";
    assert_eq!(lines(slow), [line]);
}

/// A window that no segment fits in is as good as closed, where what was not read is half of the
/// waits or more. A buffer that is as small all the time is read.
#[test]
fn a_receiver_that_reads_nothing_while_its_window_is_open() {
    let reads = |shrunk: u64, cause| {
        let mut flow = flow(&[(Limit::ReceiveWindow, 4000)]);
        (flow.bytes, flow.full_window) = (500_000, 65_536);
        flow.lifetime.add_shrunk(span(shrunk));
        flow.stalls = vec![fixture::stall(ms(500), ms(3500), cause)];
        connection(flow).reads_nothing()
    };
    assert_eq!(reads(2000, StallCause::ReceiveWindow), Some(span(3000)));
    assert_eq!(reads(1999, StallCause::ReceiveWindow), None);
    assert_eq!(reads(0, StallCause::ZeroWindow), Some(span(3000)));
    assert_eq!(reads(4000, StallCause::Network), None);
}

/// What is less than a tenth of the time is not worth a word, though it is all that the window held
/// back.
#[test]
fn a_receiver_that_reads_nothing_for_a_moment() {
    let reads = |most: u64| {
        let limits = [(Limit::ReceiveWindow, 600), (Limit::Path, 3400)];
        let mut flow = flow(&limits);
        flow.stalls = vec![fixture::stall(ms(100), ms(100 + most), StallCause::ZeroWindow)];
        lines(connection(flow))
    };
    let line = |what| format!("192.0.2.1: its application {what} (receive window: 0.60 s)");
    assert_eq!(reads(400), [line("read little or nothing for 0.40 s, so that its window closed")]);
    assert_eq!(reads(399), [line("reads too slowly, so that its window closes")]);
}

/// What an end sent may have been lost before the capture, if that was taken elsewhere, and if its
/// packets have no numbers that say what is missing.
#[test]
fn what_is_known_of_a_pause() {
    let told = |vantage, counted: bool, unasked: u64| {
        let mut flow = flow(&[(Limit::Application, 3000), (Limit::Path, 1000)]);
        flow.lifetime.add_unasked(span(unasked));
        flow.counted = counted;
        let mut found = connection(flow);
        found.connection.from_client.counted = counted;
        found.connection.position.vantage = vantage;
        why(&found)
    };
    let asked = |vantage, counted| {
        told(vantage, counted, 3000).starts_with("the client asked for nothing for 3.0 s")
    };
    let paused = |vantage, counted| {
        told(vantage, counted, 0).starts_with("the server's application had nothing to send")
    };
    let [client, middle, server] = [Vantage::Client, Vantage::Middle, Vantage::Server];
    assert_eq!([client, middle, server].map(|at| asked(at, false)), [true, false, false]);
    assert_eq!([client, middle, server].map(|at| paused(at, false)), [false, false, true]);
    for at in [client, middle, server] {
        assert!(asked(at, true) && paused(at, true));
    }
    assert!(told(middle, false, 3000).starts_with("no data came from the client for 3.0 s"));
    assert!(told(middle, false, 0).starts_with("no data came from the server for 3.0 s"));
}

/// All was answered, and the client asked for nothing more for most of the time.
#[test]
fn a_client_that_asks_for_nothing() {
    let idle = |unasked: u64| {
        let mut flow = flow(&[(Limit::Application, 3000), (Limit::Path, 1000)]);
        flow.lifetime.add_unasked(span(unasked));
        why(&connection(flow))
    };
    let client = "no data came from the client for 1.5 s of 4.0 s (38 %)";
    assert!(idle(1500).starts_with(client), "{}", idle(1500));
    let server = "the server's application had nothing to send for 3.0 s of 4.0 s (75 %)";
    assert!(idle(1499).starts_with(server), "{}", idle(1499));
}

/// For part of that time the client's timer waited, as what it had asked was lost.
#[test]
fn a_client_whose_requests_are_lost() {
    let lost = |most: u64| {
        let mut flow = flow(&[(Limit::Application, 3000), (Limit::Path, 1000)]);
        flow.lifetime.add_unasked(span(3000));
        let mut found = connection(flow);
        let cause = StallCause::Timeout(TimeoutClass::Unknown);
        let client = &mut found.connection.from_client;
        client.stalls = vec![fixture::stall(ms(100), ms(100 + most), cause)];
        client.bytes = 100;
        client.lifetime.add(Limit::Recovery, span(most));
        client.lifetime.add(Limit::Application, span(2400));
        why(&found)
    };
    let server = "the server waited for data of the client that had been lost for 1.5 s of 4.0 s \
        (38 %)";
    assert!(lost(1500).starts_with(server), "{}", lost(1500));
    let client = "no data came from the client for 1.5 s of 4.0 s (38 %)";
    assert!(lost(1499).starts_with(client), "{}", lost(1499));
}

/// Either end's FIN comes late, or was lost before: nobody waits for that.
#[test]
fn a_connection_that_is_closed_late() {
    let late = |client: u64, server: u64| {
        let mut flow = flow(&[(Limit::Application, 3000), (Limit::ReceiveWindow, 1000)]);
        flow.lifetime.add_closing(span(server));
        let mut found = connection(flow);
        found.connection.from_client.lifetime.add_closing(span(client));
        why(&found)
    };
    let nothing = "nothing more was sent for 2.9 s of 4.0 s (72 %) before the connection was \
        closed; in the rest the client's receive window held the server back for 1.0 s of 1.1 s \
        (91 %)";
    for (client, server) in [(2900, 0), (0, 2900), (2900, 1900)] {
        assert!(late(client, server).starts_with(nothing), "{}", late(client, server));
    }
    // The other end closes still later.
    let both = |closed: u64, late: u64| {
        let mut flow = flow(&[(Limit::Application, 3900), (Limit::Handshake, 100)]);
        flow.lifetime.add_closed(span(closed));
        flow.lifetime.add_closing(span(late));
        why(&connection(flow))
    };
    let first = "nothing more was sent for 2.0 s of 4.0 s (50 %) before the connection was closed; \
        in the rest the client kept the connection open for 1.8 s of 2.0 s (90 %) after the server \
        had closed it";
    assert!(both(1800, 2000).starts_with(first), "{}", both(1800, 2000));
    let second = "the client kept the connection open for 2.0 s of 4.0 s (50 %) after the server \
        had closed it; in the rest nothing more was sent for 1.8 s of 2.0 s (90 %) before";
    assert!(both(2000, 1800).starts_with(second), "{}", both(2000, 1800));
    let handshake = both(2000, 60);
    assert!(!handshake.contains("nothing more"), "{handshake}");
    let server = "the server's application had nothing to send for 2.0 s of 4.0 s";
    assert!(late(1000, 0).starts_with(server), "{}", late(1000, 0));
}

/// A request was lost in a pause that took most of the time.
#[test]
fn a_pause_with_a_loss() {
    let mut flow = flow(&[(Limit::Application, 3000), (Limit::Path, 1000)]);
    flow.lifetime.add_unasked(span(3000));
    let mut found = connection(flow);
    let client = &mut found.connection.from_client;
    client.stalls = vec![fixture::stall(ms(100), ms(3100), StallCause::Application)];
    client.bytes = 100;
    client.lifetime.add(Limit::Recovery, span(400));
    client.lifetime.add(Limit::Application, span(2400));
    let client = "no data came from the client for 2.6 s of 4.0 s (65 %)";
    assert!(why(&found).starts_with(client), "{}", why(&found));
}

/// The client's request is lost before the capture, and nothing of that is seen but its number.
#[test]
fn what_is_lost_before_the_capture() {
    let said = |cause| {
        let mut flow = flow(&[(Limit::Recovery, 3000), (Limit::Path, 1000)]);
        flow.stalls = vec![fixture::stall(ms(100), ms(3100), cause)];
        lines(connection(flow))
    };
    let lost = "192.0.2.2 to 192.0.2.1: packets are lost; find where (recovery: 3.0 s)";
    assert_eq!(said(StallCause::Timeout(TimeoutClass::Unknown)), [lost]);
    assert_eq!(said(StallCause::Application), nothing());
}

/// The server's FIN was acknowledged for longer than anything limited it: what counts is the rest.
/// A client that sent a FIN with its request waits for the answer.
#[test]
fn a_client_that_does_not_close() {
    let open = |closed: u64, answering: u64| {
        let mut flow = flow(&[(Limit::Application, 3000), (Limit::ReceiveWindow, 1000)]);
        flow.lifetime.add_closed(span(closed));
        flow.lifetime.add_answering(span(answering));
        why(&connection(flow))
    };
    let kept = "the client kept the connection open for 2.9 s of 4.0 s (72 %) after the server had \
        closed it; in the rest the client's receive window held the server back for 1.0 s of 1.1 s \
        (91 %)";
    assert!(open(2900, 0).starts_with(kept), "{}", open(2900, 0));
    assert!(open(2900, 60).starts_with(kept), "{}", open(2900, 60));
    let asleep = "the client kept the connection open for 1.6 s of 4.0 s (40 %) after the server \
        had closed it; in the rest the server's application had nothing to send for 1.4 s of 2.4 s \
        (58 %)";
    assert!(open(1600, 0).starts_with(asleep), "{}", open(1600, 0));
    let paused = "the server's application had nothing to send for 2.1 s of 4.0 s (52 %)";
    assert!(open(900, 0).starts_with(paused), "{}", open(900, 0));
    let mut found = connection(Flow::default());
    let client = &mut found.connection.from_client;
    *client = flow(&[(Limit::Application, 3000), (Limit::Path, 1000)]);
    client.lifetime.add_closed(span(3000));
    found.connection.from_server.lifetime.add_answering(span(2800));
    let answer = "the server's application kept the client waiting for 2.8 s of 4.0 s (70 %)";
    assert!(why(&found).starts_with(answer), "{}", why(&found));
}

/// Each of many requests waits for the answer before, or several are on their way at a time.
#[test]
fn requests_in_turn() {
    let asked = |turns: u64, trip: u64| {
        let mut flow = flow(&[(Limit::Path, 4000)]);
        flow.rtt = Some(fixture::round_trip(span(trip), 9));
        let mut found = connection(flow);
        found.connection.from_client.turns = turns;
        (why(&found), lines(found))
    };
    let (why, advice) = asked(40, 90);
    let in_turn = "the client asked 40 times, each time only after the answer, for 4.0 s of 4.0 s";
    assert!(why.starts_with(in_turn), "{why}");
    let line = "192.0.2.1: each of its 40 requests waits for the answer before; ask for more at a \
        time, or for several things at once (round trips: 4.0 s)";
    assert_eq!(advice, [line]);
    // Too few, at the same time, and with long pauses.
    for (turns, trip) in [(9, 400), (40, 101), (40, 49)] {
        let (why, advice) = asked(turns, trip);
        assert!(why.starts_with("all that the server had was on its way"), "{why}");
        assert_eq!(advice, nothing());
    }
}

/// A client opens `n` connections, one each so many milliseconds, whose handshakes take so many.
fn series(answered: bool, ended: Ended, [n, apart]: [u64; 2], handshake: u64) -> Vec<String> {
    let one = |i: u64| {
        let mut found = connection(flow(&[(Limit::Path, 100)]));
        let c = &mut found.connection;
        (c.opened, c.begun, c.ended) = (answered, true, ended);
        (c.start, c.end) = (ms(i * apart), ms(i * apart + handshake + 80));
        c.from_client.rtt = Some(fixture::round_trip(span(10), 1));
        c.from_client.lifetime.add(Limit::Handshake, span(handshake));
        c.from_client.lifetime.add(Limit::Path, span(80));
        found
    };
    of(&Explained { connections: (0..n).map(one).collect(), ..Explained::default() })
}

/// A client opens the next connection when the one before is done, or nearly so.
#[test]
fn connections_one_after_the_other() {
    let opened = |n, apart| series(true, Ended::Fin, [n, apart], 20);
    let line = "192.0.2.1: it opens 10 connections to 192.0.2.2:80 one after the other; keep \
        connections open (handshakes: 0.20 s)";
    assert_eq!(opened(10, 80), [line]);
    assert_eq!(opened(9, 80), nothing());
    assert_eq!(opened(10, 79), nothing());
    // 200 ms of handshakes in 1.99 s, and in 2.08 s.
    assert_eq!(opened(10, 210), [line]);
    assert_eq!(opened(10, 220), nothing());
    assert_eq!(series(false, Ended::Open, [10, 80], 20), nothing());
    let refused = series(true, Ended::Refused, [10, 80], 20);
    assert!(refused.iter().all(|line| line.contains("it refuses connections")), "{refused:?}");
    // What is beyond a round trip is told of for itself, and once.
    let late = series(true, Ended::Fin, [10, 400], 1020);
    let beyond = "192.0.2.2: it answers SYNs late (handshakes beyond a round trip: 10.1 s)";
    assert_eq!(late, [beyond]);
}

/// A reset that comes from another distance than all else.
#[test]
fn a_reset_from_something_in_between() {
    let mut found = connection(flow(&[(Limit::Application, 4000)]));
    found.connection.ended = Ended::Reset(Reset { by: ResetBy::Server, cuts_off: true });
    let ends = |found: &Found, with: &str| assert!(why(found).ends_with(with), "{}", why(found));
    ends(&found, "; the server reset it, which cut off data on its way");
    found.connection.from_server.strange_reset = Some([200, 62]);
    ends(
        &found,
        "; something on the path probably reset it in the name of the server (time to live 200, \
         not 62 as before), which cut off data on its way",
    );
    let line = "192.0.2.1 and 192.0.2.2: something on the path probably resets connections in the \
        name of the server; look for a firewall (until the reset: 4.0 s)";
    // That another one lasted as long before it was reset adds nothing.
    let connections = vec![found.clone(), found];
    assert_eq!(of(&Explained { connections, ..Explained::default() }), [line]);
}

/// A queue that delays and loses nothing has advice of its own, where it was what limited.
#[test]
fn a_queue_without_losses() {
    let found = |full: u64, cause: Option<LossCause>| {
        let mut flow = flow(&[(Limit::Path, 4000)]);
        flow.rtt = Some(RoundTrip { min: span(40), ..fixture::round_trip(span(220), 9) });
        flow.lifetime.add_full(span(full));
        flow.losses.cause = cause;
        connection(flow)
    };
    let two = |full, cause| {
        let connections = vec![found(full, cause), found(full, cause)];
        of(&Explained { connections, ..Explained::default() })
    };
    let delayed = |full, cause| lines(found(full, cause));
    let queue = "192.0.2.2 to 192.0.2.1: packets wait in a queue for 0.18 s; manage it (fq_codel, \
        CAKE) (of each round trip: 0.18 s)";
    assert_eq!(delayed(4000, None), [queue]);
    assert_eq!(two(4000, None), [queue]);
    assert_eq!(delayed(399, None), nothing());
    // The advice on its losses says the same.
    let overflows = LossCause::DropTail { delay: span(180), size: None };
    assert_eq!(delayed(4000, Some(overflows)), nothing());
}

/// Nothing came through for seconds, several times in a row.
#[test]
fn an_outage() {
    let mut flow = flow(&[(Limit::Recovery, 4000)]);
    let times = [500, 1000, 2000, 4000];
    let lost = |at: u64| {
        let spurious = (at == 4000).then_some(Spurious::Dsack);
        Retransmission { lost: Some(at < 4000), spurious, ..again(at, 0, Kind::BackedOffTimeout) }
    };
    flow.retransmissions = times.map(lost).to_vec();
    let timeout = |(i, at): (usize, u64)| Timeout {
        seq: Seq(0),
        retransmission: i,
        flight: 1000,
        cwnd: 1000,
        waited: span(at),
        spurious: (at == 4000).then_some(Spurious::Dsack),
        ..fixture::timeout(ms(at), TimeoutClass::BackedOff, State::Loss)
    };
    flow.timeouts = times.into_iter().enumerate().map(timeout).collect();
    let cause = StallCause::Timeout(TimeoutClass::BackedOff);
    flow.stalls = vec![Stall { timeout: Some(3), ..fixture::stall(ms(0), ms(4040), cause) }];
    let out = "192.0.2.2 to 192.0.2.1: nothing came through for seconds; look for an outage (a \
        link that was down, a route that changed) (outages: 4.0 s)";
    assert_eq!(lines(connection(flow.clone())), [out]);
    // Others got data through meanwhile: what was lost is not all.
    let mut others = connection(flow.clone());
    others.got_through = vec![(End::Server, ms(0))];
    assert_ne!(lines(others), [out]);
    // Until the end: nobody is there.
    let mut dead = flow.clone();
    dead.stalls[0].frame = 0;
    dead.retransmissions.iter_mut().for_each(|r| r.spurious = None);
    dead.timeouts.iter_mut().for_each(|t| t.spurious = None);
    let mut dead = connection(dead);
    let nobody = "192.0.2.2 to 192.0.2.1: nothing was acknowledged any more, however often it was \
        sent; see whether 192.0.2.1 was still there, and the way to it (to the end: 4.0 s)";
    assert_eq!(lines(dead.clone()), [nobody]);
    dead.connection.position.vantage = Vantage::Client;
    let deaf = "192.0.2.1: data came again and again that it never acknowledged; see whether it \
        was still there, and its routes and firewall (to the end: 4.0 s)";
    assert_eq!(lines(dead), [deaf]);
    // All came, late.
    flow.retransmissions.iter_mut().for_each(|r| r.lost = Some(false));
    let late = "192.0.2.2 to 192.0.2.1: timers expire though what they send had arrived; look for \
        delay spikes and lost acknowledgments (recovery: 4.0 s)";
    assert_eq!(lines(connection(flow)), [late]);
}

/// The ACK of what the server sent comes with a request that was lost at first: it was neither late
/// nor lost, and the client's losses are what to look for. What the server's timer sent meanwhile,
/// in vain, is no loss of its own. Of the client's other losses those count in which the server
/// sent nothing, and repaired nothing.
#[test]
fn a_lost_request_that_carried_an_ack() {
    let found = |frame: u64, cause: StallCause, alone: bool| {
        let mut flow = lossy(vec![again(2600, 1000, Kind::FastRetransmit)]);
        let vain = Retransmission { spurious: Some(Spurious::Dsack), ..flow.retransmissions[0] };
        if cause != StallCause::Network {
            flow.retransmissions.insert(0, Retransmission { at: ms(400), ..vain });
        }
        let of = |start, end, frame, cause| Stall {
            frame,
            alone,
            ..fixture::stall(ms(start), ms(end), cause)
        };
        flow.stalls = vec![of(100, 1600, 20, cause), of(2500, 3000, 30, StallCause::Recovery)];
        let mut found = connection(flow);
        let lost = StallCause::Timeout(TimeoutClass::Unknown);
        found.connection.from_client.stalls =
            vec![of(150, 1600, frame, lost), of(2550, 2950, 40, lost), of(4000, 4450, 50, lost)];
        found
    };
    let text = |found: &Found| {
        let stall = &found.connection.from_server.stalls[0];
        crate::text::stall(found, End::Server, stall)
    };
    let of_client = |span: &str| {
        format!(
            "192.0.2.1 to 192.0.2.2: packets are lost; find where (waiting for what was lost: \
             {span} s)"
        )
    };
    let came = "server stalled 1.5 s at 0.10 s: the acknowledgment came with data of the client \
        that had probably been lost before";
    let network = found(20, StallCause::Network, false);
    assert_eq!(text(&network), came);
    assert_eq!(lines(network), [LOST.to_string(), of_client("1.4")]);
    let alone = lines(found(20, StallCause::Network, true));
    assert_eq!(alone, [LOST.to_string(), of_client("1.9")]);
    // Another packet brought the ACK.
    let late = found(21, StallCause::Network, false);
    assert!(text(&late).ends_with("acknowledgments came late"), "{}", text(&late));
    let advice = lines(late);
    assert!(advice.iter().any(|line| line.contains("acknowledgments come late")), "{advice:?}");
    assert!(advice.iter().all(|line| !line.contains("waiting for")), "{advice:?}");
    // The server's timer has expired meanwhile.
    let timer = StallCause::Timeout(TimeoutClass::Unknown);
    let timer = found(20, timer, false);
    let whole = timer.lifetime().of(Limit::Recovery);
    let own = super::super::recovery::repairs_of_own(&timer, End::Server);
    assert_eq!(own, whole - Span::from_millis(1500));
}
