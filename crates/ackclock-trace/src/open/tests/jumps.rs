//! Silences of all connections: a clock that was set ahead, a host that stood still, and pauses.

use super::*;
use crate::jumps::Jump;
use ackclock_tcp::Span;

fn time(ms: f64) -> Time {
    Time(START + (ms * 1e6) as u64)
}

/// A segment every 20 ms, acknowledged 10 ms later, with timestamps of so many ticks in a
/// millisecond. After 200 ms the clock of the capture is `set` ahead, and each end has stood still
/// for so long, in milliseconds, in which nothing passed.
fn after(isns: [u32; 2], ticks: f64, set: f64, paused: f64, still: [f64; 2]) -> (Talk, f64) {
    let mut talk = Talk::new(isns);
    let stamp = |end: usize, ms: f64| {
        let stood = if ms > 200.0 { still[end] } else { 0.0 };
        [5000u32, 70_000][end] + ((ms - stood) * ticks) as u32
    };
    talk.at(0.0, syn(0).ts(stamp(0, 0.0), 0));
    talk.at(10.0, syn(1).ts(stamp(1, 10.0), stamp(0, 0.0)));
    talk.at(10.01, c(0, 0).ts(stamp(0, 10.01), stamp(1, 10.0)));
    let mut last = 0.0;
    for n in 0..20u32 {
        let sent = 20.0 * f64::from(n + 1) + if n > 9 { paused } else { 0.0 };
        // The tenth is on its way when it happens.
        let acked = sent + 10.0 + if n == 9 { paused } else { 0.0 };
        let wall = |ms: f64| if ms > 200.0 { ms + set } else { ms };
        let (from, to) = (u64::from(n) * 1448, u64::from(n + 1) * 1448);
        let data = c(from, 1448).ts(stamp(0, sent), stamp(1, sent - 10.0));
        talk.at(wall(sent), data);
        talk.at(wall(acked), s(0, 0).ack(to).ts(stamp(1, acked), stamp(0, sent)));
        last = acked;
    }
    (talk, last)
}

/// By 10 s and an hour: no time is lost, and nothing on its way measures a round trip.
#[test]
fn a_clock_that_is_set_ahead() {
    for isns in ISNS {
        for set in [10_000.0, 3_600_000.0] {
            let (talk, last) = after(isns, 1.0, set, 0.0, [0.0; 2]);
            // The ACK of the tenth segment, which is the first packet after it. The last one before
            // was 10 ms older than the silence: so much may have been a pause.
            let by = Span(((set - 10.0) * 1e6) as u64);
            let jump = Jump { frame: 23, from: time(200.0), by, stood_still: None };
            assert_eq!(talk.tracker.jumps(), [jump]);
            let one = talk.one();
            let lasted = one.end.since(one.start);
            assert_eq!(lasted, Span(((last + 10.0) * 1e6) as u64));
            let flow = &one.from_client;
            assert_eq!((&flow.stalls[..], flow.lifetime.whole()), (&[][..], lasted));
            assert_eq!(flow.rtt.unwrap().min, Span::from_micros(10_000));
            assert_eq!(one.position.to_server, Some(Span::from_micros(10_000)));
        }
    }
}

/// Timestamps moved: time has passed.
#[test]
fn a_pause() {
    for ticks in [1.0, 0.1, 0.01, 0.002, 1000.0] {
        let (talk, last) = after(ISNS[0], ticks, 0.0, 10_000.0, [0.0; 2]);
        assert_eq!(talk.tracker.jumps(), []);
        let one = talk.one();
        assert_eq!(one.end.since(one.start), Span((last * 1e6) as u64));
    }
}

/// Exchanges every 100 ms, so many of them before silences of so long, in ms, and after; ticks take
/// so long at each end, in ms, and there are no SYNs.
fn in_the_middle(before: u32, silence: u32, ticks: [f64; 2], stood: f64) -> Vec<Jump> {
    let mut talk = Talk::new(ISNS[0]);
    for n in 0..before + 10 {
        let [gone, still] = if n >= before { [silence, 1] } else { [0, 0] };
        let ms = f64::from(100 * n + gone);
        let stamp = |end: usize, ms: f64| {
            let stood = if end == 0 { stood * f64::from(still) } else { 0.0 };
            [1000, 5010][end] + ((ms - stood) / ticks[end]) as u32
        };
        let position = u64::from(n) * 100;
        let (asked, answered) = (ms + 10.0, ms + 20.0);
        talk.at(asked, c(position, 100).ts(stamp(0, asked), stamp(1, asked - 90.0)));
        let answer = s(0, 0).ack(position + 100).ts(stamp(1, answered), stamp(0, asked));
        talk.at(answered, answer);
    }
    talk.tracker.jumps().to_vec()
}

/// Too little was seen to say how long a tick takes: it may be half a second (4.4BSD), if as many
/// have passed as that makes of the silence. Else the clock was set ahead, as those in use today
/// take less.
#[test]
fn a_pause_of_clocks_that_are_not_known() {
    for (tick, jumps) in [(500.0, 0), (490.0, 1), (510.0, 1)] {
        assert_eq!(in_the_middle(1, 177_000, [tick; 2], 0.0).len(), jumps, "{tick}");
    }
}

/// How slowly a clock has ticked in what was seen of the connection says that it has not stood
/// still. One of half a second or a second may have moved once or not at all till then.
#[test]
fn a_pause_of_slow_clocks_in_the_middle() {
    for tick in [490.0, 500.0, 510.0, 1000.0] {
        for before in [3, 8, 13, 60] {
            for ticks in [[tick; 2], [tick, 1.0], [1.0, tick]] {
                // The one that only answers says how slow it is by two ticks.
                if ticks[0] == 1.0 && before < 60 {
                    continue;
                }
                assert_eq!(in_the_middle(before, 20_000, ticks, 0.0), [], "{before} {ticks:?}");
            }
        }
    }
}

/// One packet of the server was seen before the clock was set ahead: it has not stood still.
#[test]
fn a_clock_of_which_one_packet_was_seen() {
    let mut talk = Talk::new(ISNS[0]);
    talk.at(0.0, s(0, 100).ts(5000, 900)).at(200.0, c(0, 0).ack(100).ts(1200, 5000));
    for n in 0..6 {
        let (at, stamp) = (3_600_000.0 + 300.0 * f64::from(n), 300 * n);
        let position = 100 * u64::from(n);
        let asked = c(position, 100).ack(100 + position).ts(1500 + stamp, 5000 + stamp);
        let answer = s(100 + position, 100).ack(position + 100).ts(5400 + stamp, 1500 + stamp);
        talk.at(at, asked).at(at + 50.0, answer);
    }
    assert_eq!(talk.tracker.jumps().len(), 1);
}

/// So few ticks in so long a silence say that a clock has stood still, unless they take much longer
/// than those before; or than those of clocks in use today, if hardly any were seen.
#[test]
fn a_host_that_stood_still_in_the_middle() {
    for (before, ticks) in [(1, 10.0), (3, 10.0), (8, 500.0), (30, 250.0), (60, 500.0)] {
        let jumps = in_the_middle(before, 20_000, [ticks, 1.0], 19_500.0);
        let still = jumps.iter().filter(|jump| jump.stood_still.is_some()).count();
        assert_eq!(still, 1, "{before} {ticks} {jumps:?}");
    }
}

/// The clock is set ahead by 2 s, or half a second, in a pause of a minute: the pause stays, in a
/// capture that begins before the connection or in its middle; and the next one is none.
#[test]
fn a_clock_that_is_set_ahead_in_a_pause() {
    for (set, syns) in [(2000.0, true), (500.0, true), (2000.0, false)] {
        let mut talk = Talk::new(ISNS[0]);
        if syns {
            talk.at(0.0, syn(0).ts(1000, 0)).at(10.0, syn(1).ts(5010, 1000));
        }
        for n in 0..3u32 {
            let (at, position) = (100 + n * 60_000, u64::from(n) * 100);
            let ms = f64::from(at) + if n > 0 { set } else { 0.0 };
            talk.at(ms, c(position, 100).ts(1000 + at, 5010));
            talk.at(ms + 10.0, s(0, 0).ack(position + 100).ts(5010 + at, 1000 + at));
            talk.at(ms + 60.0, c(position + 100, 0).ts(1060 + at, 5010 + at));
        }
        let [jump] = talk.tracker.jumps() else { panic!("{:?}", talk.tracker.jumps()) };
        // The server's last timestamp is 50 ms older than the silence.
        let by = Span(((set - 50.0) * 1e6) as u64);
        assert_eq!((jump.by, jump.stood_still), (by, None));
        let one = talk.one();
        let lasted = f64::from(60 + 2 * 60_000) + if syns { 100.0 } else { 0.0 } + 50.0;
        assert_eq!(one.end.since(one.start), Span((lasted * 1e6) as u64));
        assert_eq!(one.from_client.stalls.len(), 2);
    }
}

/// Times are cut to whole seconds: their steps are none of the clock, and nothing says how long
/// anything took.
#[test]
fn times_of_whole_seconds() {
    for cut in [1.0, 1000.0] {
        let mut talk = Talk::new(ISNS[0]);
        let at = |ms: f64| (ms / cut).floor() * cut;
        talk.at(at(1.0), syn(0).ts(1000, 0)).at(at(11.0), syn(1).ts(5010, 1000));
        for n in 0..250u32 {
            let (ms, position) = (f64::from(20 * n + 21), 100 * u64::from(n));
            talk.at(at(ms), c(position, 100).ts(1020 + 20 * n, 5010));
            let acked = s(0, 0).ack(position + 100).ts(5030 + 20 * n, 1020 + 20 * n);
            talk.at(at(ms + 10.0), acked);
        }
        assert_eq!(talk.tracker.jumps(), []);
        let one = talk.one();
        let told = one.from_client.lifetime.whole() > Span::ZERO && one.from_client.rtt.is_some();
        assert_eq!((one.whole_seconds, told), (cut > 1.0, cut == 1.0));
    }
}

/// So are those of a short connection, also within one second. SYNs of a simulation that nobody
/// answers are something else.
#[test]
fn a_short_connection_in_whole_seconds() {
    let whole = |cut: f64, all: bool| {
        let mut talk = Talk::new(ISNS[0]);
        let at = |ms: f64| (ms / cut).floor() * cut;
        if !all {
            talk.at(0.0, syn(0)).at(1000.0, syn(0)).at(3000.0, syn(0));
            return talk.one().whole_seconds;
        }
        talk.at(at(300.0), syn(0)).at(at(340.0), syn(1)).at(at(341.0), c(0, 100));
        talk.at(at(381.0), s(0, 500).ack(100)).at(at(382.0), c(100, 0).ack(500));
        talk.one().whole_seconds
    };
    assert_eq!([whole(1.0, true), whole(1000.0, true), whole(1.0, false)], [false, true, false]);
}

/// A machine is suspended, and the other one is not.
#[test]
fn a_host_that_stood_still() {
    let (talk, last) = after(ISNS[0], 1.0, 0.0, 10_000.0, [0.0, 10_000.0]);
    let stood_still = Some("10.0.0.2".parse().unwrap());
    let (from, by) = (time(200.0), Span::from_millis(10_010));
    let jump = Jump { frame: 23, from, by, stood_still };
    assert_eq!(talk.tracker.jumps(), [jump]);
    let one = talk.one();
    assert_eq!(one.end.since(one.start), Span((last * 1e6) as u64));
}

/// A link holds an ACK back for 10 s. The timestamp of the next one says that its host did not
/// stand still meanwhile.
#[test]
fn a_link_that_held_a_packet_back() {
    for (stamp, found) in [(15_150, 0), (5150, 1)] {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, syn(0).ts(1000, 0)).at(10.0, syn(1).ts(5010, 1000));
        talk.at(10.01, c(0, 0).ts(1010, 5010));
        talk.at(100.0, c(0, 100).ts(1100, 5010)).at(110.0, s(0, 0).ack(100).ts(5110, 1100));
        talk.at(120.0, c(100, 100).ts(1120, 5110));
        talk.at(10_130.0, s(0, 0).ack(200).ts(5130, 1120));
        talk.at(10_140.0, c(200, 100).ts(11_140, 5130));
        talk.at(10_150.0, s(0, 0).ack(300).ts(stamp, 11_140));
        let stood_still = Some("10.0.0.2".parse().unwrap());
        let (from, by) = (time(120.0), Span::from_millis(10_010));
        let jumps = [Jump { frame: 7, from, by, stood_still }];
        assert_eq!(talk.tracker.jumps(), &jumps[..found]);
    }
}

/// A link holds packets back for 1.5 s. They come in a burst, in small steps of their timestamps,
/// and what was held back last left its host when the silence was nearly over.
#[test]
fn a_link_that_held_many_packets_back() {
    for (step, found) in [(10, 0), (1, 1)] {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, syn(0).ts(1000, 0)).at(10.0, syn(1).ts(5010, 1000));
        talk.at(10.01, c(0, 100).ts(1010, 5010));
        let mut next = 0;
        for n in 0..100 {
            let ms = 20 + n;
            talk.at(f64::from(ms), s(next, 1000).ack(100).ts(5000 + ms, 1010));
            next += 1000;
            talk.at(f64::from(ms) + 0.1, c(100, 0).ack(next).ts(1000 + ms, 5000 + ms));
        }
        for n in 0..100 {
            let at = 1619.0 + f64::from(n) * 0.1;
            let stamp = 5120 + step * n;
            talk.at(at, s(next, 1000).ack(100).ts(stamp, 1010));
            next += 1000;
            talk.at(at + 0.05, c(100, 0).ack(next).ts(1000 + at as u32, stamp));
        }
        assert_eq!(talk.tracker.jumps().len(), found);
    }
}

/// A capture ends while packets wait: one of them was damaged.
#[test]
fn what_waits_at_the_end() {
    let mut talk = Talk::new(ISNS[0]);
    talk.at(0.0, syn(0).ts(1000, 0)).at(10.0, syn(1).ts(5010, 1000));
    for n in 0..10 {
        let at = 100.0 + f64::from(n);
        talk.at(at, c(100 * u64::from(n), 100).ts(1100 + n, 5010));
        talk.at(at + 0.5, s(0, 0).ack(100 * u64::from(n + 1)).ts(5100 + n, 1100 + n));
    }
    talk.at(10_000.0, s(0, 0).ack(1000).ts(5109, 1109));
    let mut damaged = s(0, 0).ack(900).ts(5109, 1109);
    damaged.packet.damaged = true;
    talk.at(10_001.0, damaged);
    assert_eq!(talk.tracker.damaged(), 0);
    talk.tracker.flush();
    assert_eq!(talk.tracker.damaged(), 1);
}

/// A packet of another time than those around it is no step, and neither are timestamps that
/// stand still in all of the connection.
#[test]
fn what_is_no_step() {
    let mut talk = Talk::new(ISNS[0]);
    talk.at(0.0, syn(0).ts(1, 0)).at(10.0, syn(1).ts(1, 1)).at(10.01, c(0, 0).ts(2, 1));
    talk.at(20.0, c(0, 100).ts(12, 1)).at(30.0, s(0, 0).ack(100).ts(21, 12));
    talk.at(90_000.0, c(100, 100).ts(22, 21)).at(50.0, s(0, 0).ack(200).ts(41, 22));
    talk.at(60.0, c(200, 100).ts(52, 41)).at(70.0, s(0, 0).ack(300).ts(61, 52));
    assert_eq!(talk.tracker.jumps(), []);
    assert_eq!(talk.one().packets, 9);
    let (talk, _) = after(ISNS[0], 0.0, 10_000.0, 0.0, [0.0; 2]);
    assert_eq!(talk.tracker.jumps(), []);
}

/// The timer of the sender had to be waited for meanwhile, for 400 ms: the SYN says that a tick
/// takes 1 ms, so that the other 10 s have not passed. Without the SYN that is not sure.
#[test]
fn a_step_in_a_timeout() {
    for begun in [true, false] {
        let mut talk = Talk::new(ISNS[0]);
        if begun {
            talk.at(0.0, syn(0).ts(1000, 0)).at(10.0, syn(1).ts(5010, 1000));
        }
        talk.at(10.01, c(0, 0).ts(1010, 5010));
        talk.at(100.0, c(0, 100).ts(1100, 5010)).at(110.0, s(0, 0).ack(100).ts(5110, 1100));
        talk.at(120.0, c(100, 100).ts(1120, 5110));
        talk.at(10_520.0, c(100, 100).ts(1520, 5110));
        talk.at(10_530.0, s(0, 0).ack(200).ts(5530, 1520));
        // The server's last timestamp is 10 ms older than the silence.
        let by = Span::from_millis(9990);
        let frame = if begun { 7 } else { 5 };
        let jumps = [Jump { frame, from: time(120.0), by, stood_still: None }];
        assert_eq!(talk.tracker.jumps(), &jumps[..usize::from(begun)]);
    }
}

/// The clock was set back, or the time of one packet is wrong: connections end all the same, and
/// nobody waits until then.
#[test]
fn a_packet_far_ahead() {
    let from = |port, mut p: P| {
        p.packet.src.set_port(port);
        p
    };
    let mut talk = Talk::new(ISNS[0]);
    talk.open().at(20.0, c(0, 100));
    talk.at(2.5e12, from(9, c(0, 10)));
    talk.at(30.0, s(0, 0).ack(100).with(Control::FIN));
    talk.at(30.1, c(100, 0).ack(1).with(Control::FIN)).at(40.0, s(1, 0).ack(101));
    for n in 0..8 {
        talk.at(50.0 + n as f64, from(8, c(100 * n, 100)));
    }
    talk.at(10_039.0, from(8, c(800, 100)));
    assert_eq!(talk.tracker.poll_ended().map(|ended| ended.number), None);
    talk.at(10_040.0, from(8, c(900, 100)));
    assert_eq!(talk.tracker.poll_ended().map(|ended| ended.number), Some(0));
    // One that is over by then, too.
    talk.at(2.5e12, from(9, c(10, 0).with(Control::FIN)));
    let mut reset = from(9, c(11, 0));
    reset.control = Control::RST;
    talk.at(2.5e12, reset);
    assert_eq!(talk.tracker.open(), 2);
    for n in 0..9 {
        talk.at(10_050.0 + n as f64, from(8, c(1000 + 100 * n, 100)));
    }
    assert_eq!(
        (talk.tracker.open(), talk.tracker.poll_ended().map(|ended| ended.number)),
        (1, Some(1))
    );
}

/// A queue that is a little late, as those of network cards are, sets no clock back; neither does
/// a packet now and then.
#[test]
fn packets_a_little_behind() {
    let mut talk = Talk::new(ISNS[0]);
    talk.open().at(20_000.0, s(0, 0).with(Control::FIN));
    talk.at(20_000.1, c(0, 0).ack(1).with(Control::FIN)).at(20_000.2, s(1, 0).ack(1));
    let other = |mut p: P| {
        p.packet.src.set_port(8);
        p
    };
    for n in 0..20 {
        talk.at(10_001.0, other(c(100 * n, 100)));
    }
    for n in 0..20 {
        let at = if n % 7 == 0 { 20_001.0 + n as f64 } else { 100.0 };
        talk.at(at, other(c(2000 + 100 * n, 100)));
    }
    assert_eq!(talk.tracker.open(), 2);
}

/// Of those who follow a capture for ever, nobody asks for all of them.
#[test]
fn jumps_are_forgotten() {
    let (mut talk, _) = after(ISNS[0], 1.0, 10_000.0, 0.0, [0.0; 2]);
    let jumps = talk.tracker.jumps().to_vec();
    assert_eq!(jumps.len(), 1);
    talk.tracker.forget_jumps();
    assert_eq!(talk.tracker.jumps(), jumps);
}
