use ackclock_tcp::wire::Options;
use ackclock_tcp::{Span, Time};
use ackclock_trace::{Ecn, Reset, ResetBy, Spurious, State, Vantage};

use super::*;
use crate::fixture;

/// A segment of 1,448 bytes that goes out again within a stall.
fn again(kind: Kind, spurious: Option<Spurious>, known: bool) -> Retransmission {
    Retransmission { spurious, known, ..fixture::again(Time(300), kind) }
}

fn stall(cause: StallCause, timeout: Option<usize>) -> Stall {
    Stall { frame: 10, timeout, ..fixture::stall(Time(100), Time(400), cause) }
}

fn flow(r: Retransmission) -> Flow {
    // A probe of an earlier stall says nothing of this one.
    let before = Retransmission { at: Time(50), spurious: Some(Spurious::Dsack), ..r };
    Flow { bytes: 1448, retransmissions: vec![before, r], ..Flow::default() }
}

/// A connection whose server sent this.
fn server(flow: Flow) -> Found {
    let mut found = fixture::explained().connections.remove(0);
    found.connection.from_server = flow;
    found
}

/// A guess is called so: what hypotheses are not sure of, and away from the sender what none of
/// them agrees with.
#[test]
fn what_is_only_probable_is_said_to_be() {
    use ackclock_trace::Vantage::{Client, Middle, Server, Unknown};
    let mut found = crate::fixture::explained().connections.remove(0);
    let mut said_with = |vantage, [to_client, to_server]: [u64; 2], kind, probability| {
        let position = &mut found.connection.position;
        position.vantage = vantage;
        position.to_client = Some(Span::from_micros(to_client));
        position.to_server = Some(Span::from_micros(to_server));
        let r = Retransmission { probability, ..again(kind, None, false) };
        found.connection.from_server.retransmissions = vec![r];
        retransmission(&found, End::Server, 0)
    };
    let kind = Kind::SlowStart;
    // Near the sender, but with a part of the path before it; and both ends on one host.
    let near = |to_server| said_with(Server, [80_000, to_server], kind, None);
    assert_eq!(
        [1000, 1001].map(near),
        ["", "probably "].map(|p| format!("{p}slow-start retransmission"))
    );
    assert_eq!(said_with(Client, [900, 500], kind, None), "slow-start retransmission");
    assert_eq!(said_with(Client, [400, 900], kind, None), "probably slow-start retransmission");
    let mut said = |vantage, kind, probability| {
        let trips = if vantage == Client { [1, 80_000] } else { [80_000, 1] };
        said_with(vantage, trips, kind, probability)
    };
    for (vantage, probability) in [(Server, None), (Unknown, None), (Middle, Some(0.95))] {
        assert_eq!(said(vantage, kind, probability), "slow-start retransmission");
    }
    for (vantage, probability) in [(Middle, None), (Client, None), (Client, Some(0.949))] {
        assert_eq!(said(vantage, kind, probability), "probably slow-start retransmission");
    }
    assert_eq!(said(Middle, Kind::Unknown, None), "retransmission of unknown cause");
    // Nothing but its timer sends a SYN again.
    let mut found = crate::fixture::explained().connections.remove(0);
    found.connection.position.vantage = Client;
    let syn = Retransmission { len: 0, syn: true, ..again(Kind::Timeout, None, false) };
    found.connection.from_server.retransmissions = vec![syn];
    assert!(retransmission(&found, End::Server, 0).starts_with("timeout"));
}

#[test]
fn a_syn_ack_goes_again_for_a_syn_that_came_again() {
    let r = Retransmission { len: 0, syn: true, ..again(Kind::Unknown, None, false) };
    let mut found = crate::fixture::explained().connections.remove(0);
    found.connection.from_server.retransmissions = vec![r];
    assert_eq!(retransmission(&found, End::Server, 0), "SYN/ACK, since the SYN came again");
    let stalled =
        why(&found, End::Server, &stall(StallCause::Timeout(TimeoutClass::Handshake), None));
    assert_eq!(stalled, "timeout, loss of a SYN, or of its answer");
}

#[test]
fn a_syn_that_was_answered_is_not_lost() {
    let r = Retransmission { len: 0, syn: true, ..again(Kind::Unknown, None, false) };
    let mut found = crate::fixture::explained().connections.remove(0);
    let handshake = stall(StallCause::Timeout(TimeoutClass::Handshake), None);
    let client = &mut found.connection.from_client;
    (client.retransmissions, client.timeouts) = (vec![r], Vec::new());
    let again = "SYN, since the one before was not answered by a SYN/ACK";
    assert_eq!(retransmission(&found, End::Client, 0), again);
    let said = why(&found, End::Client, &handshake);
    assert_eq!(said, "the server answered a SYN for an older connection");
    found.connection.ended = Ended::Refused;
    assert_eq!(why(&found, End::Client, &handshake), "the server refused each SYN");
    // Another one was lost.
    let at = handshake.end;
    let timeout = fixture::timeout(at, TimeoutClass::Handshake, State::Open);
    found.connection.from_client.timeouts = vec![timeout];
    let said = why(&found, End::Client, &handshake);
    assert_eq!(said, "timeout, loss of a SYN, or of its answer");
}

#[test]
fn numbers_of_packets_say_what_was_lost_unseen() {
    let found = server(flow(again(Kind::Unknown, None, false)));
    let stalled =
        why(&found, End::Server, &stall(StallCause::Timeout(TimeoutClass::Unknown), None));
    let told = "probably a timeout or a tail loss probe, what went out was lost before it came to \
        the capture";
    assert_eq!(stalled, told);
}

/// Of a window that has opened, the sender had not heard, unless it opened at another time.
#[test]
fn a_window_that_opened_was_asked_for_once_more() {
    let told = "the window had opened, and a timer had to ask for it once more: the sender was not \
        told, or what it sent was lost before it came to the capture";
    for (end, says) in [(100, true), (90, false)] {
        let asks = stall(StallCause::Timeout(TimeoutClass::Unknown), None);
        let closed = fixture::stall(Time(50), Time(end), StallCause::ZeroWindow);
        let found = server(Flow { stalls: vec![closed, asks], ..Flow::default() });
        assert_eq!(why(&found, End::Server, &asks) == told, says);
    }
}

#[test]
fn a_probe_that_was_not_needed_repaired_no_loss() {
    let probed = |spurious, known| {
        let found = server(flow(again(Kind::TailLossProbe, spurious, known)));
        why(&found, End::Server, &stall(StallCause::TailLossProbe, None))
    };
    assert_eq!(probed(None, true), "the tail was lost, and a tail loss probe repaired it");
    assert_eq!(probed(None, false), "the tail was lost or late, and a tail loss probe followed");
    assert_eq!(
        probed(Some(Spurious::Dsack), true),
        "acknowledgments came late, and the tail loss probe was not needed (D-SACK)"
    );
}

/// A repair of several losses may begin with a probe, and then one of its timers has expired.
#[test]
fn a_recovery_that_a_probe_is_part_of() {
    let said = |kind| {
        let found = server(flow(again(kind, None, true)));
        why(&found, End::Server, &stall(StallCause::Recovery, None))
    };
    let long = "it took that long to repair losses, ";
    assert_eq!(said(Kind::Recovery), format!("{long}although no timer expired"));
    assert_eq!(said(Kind::TailLossProbe), format!("{long}with a tail loss probe"));
    assert_eq!(said(Kind::ProbeOrTimeout), format!("{long}with a tail loss probe or a timeout"));
}

/// A stall that never ends says nothing of a repair where an end gave the connection up.
#[test]
fn a_silence_before_a_reset() {
    let said = |ended, frame| {
        let mut found = server(flow(again(Kind::Recovery, None, true)));
        found.connection.ended = ended;
        let stall = Stall { frame, ..stall(StallCause::Recovery, None) };
        why(&found, End::Server, &stall)
    };
    let reset = Ended::Reset(Reset { by: ResetBy::Client, cuts_off: true });
    let until = "nothing of it was acknowledged until the connection was reset";
    assert_eq!(said(reset, 0), until);
    assert!(said(reset, 9).starts_with("it took that long to repair losses"));
    assert!(said(Ended::Open, 0).starts_with("it took that long to repair losses"));
}

/// As in the headline: what an end sent may have been lost before a capture that was taken
/// elsewhere, unless its packets have numbers that say what is missing.
#[test]
fn a_pause_that_may_have_been_a_loss() {
    let told = |vantage, counted| {
        let mut found = server(Flow { counted, ..Flow::default() });
        found.connection.position.vantage = vantage;
        why(&found, End::Server, &stall(StallCause::Application, None))
    };
    let nothing = "the application had nothing to send";
    assert_eq!(told(Vantage::Server, false), nothing);
    assert_eq!(told(Vantage::Unknown, false), nothing);
    assert_eq!([Vantage::Client, Vantage::Middle].map(|at| told(at, true)), [nothing; 2]);
    let none = "no data came from the server";
    assert_eq!([Vantage::Client, Vantage::Middle].map(|at| told(at, false)), [none; 2]);
}

/// A FIN and a SYN/ACK of an end that has sent no data have the same position.
#[test]
fn a_syn_or_a_fin_of_an_end_without_data() {
    let told = |syn| {
        let at = fixture::at(1000);
        let r = Retransmission { len: 0, syn, at, ..again(Kind::Timeout, None, true) };
        let mut found = server(Flow { bytes: 0, ..flow(r) });
        let timeout = Timeout {
            retransmission: 1,
            flight: 0,
            waited: Span(200),
            ..fixture::timeout(at, TimeoutClass::BackedOff, State::Open)
        };
        found.connection.from_server.timeouts = vec![timeout];
        let cause = StallCause::Timeout(TimeoutClass::BackedOff);
        let end = at + Span::from_millis(100);
        why(&found, End::Server, &Stall { end, ..stall(cause, Some(0)) })
    };
    assert_eq!(told(true), "timeout, loss of a SYN, or of its answer");
    assert_eq!(told(false), "backed-off timeout, a FIN lost again");
}

/// The server's timer sends its SYN/ACK, which nobody answers. SYNs that go again say that these
/// answers were lost, or the SYNs.
#[test]
fn nobody_answers_a_syn_ack() {
    let told = |from, opened, times: &[u64]| {
        let mut found = server(Flow::default());
        let c = &mut found.connection;
        (c.begun, c.opened, c.from_client.segments, c.from_server.segments) = (true, opened, 1, 3);
        let flow = if from == End::Client { &mut c.from_client } else { &mut c.from_server };
        let syn = |at: &u64| {
            let at = fixture::at(*at);
            Retransmission { at, len: 0, syn: true, ..again(Kind::Timeout, None, true) }
        };
        flow.retransmissions = times.iter().map(syn).collect();
        let timeout = |(retransmission, at): (usize, &u64)| Timeout {
            retransmission,
            flight: 0,
            ..fixture::timeout(fixture::at(*at), TimeoutClass::Handshake, State::Open)
        };
        flow.timeouts = times.iter().enumerate().map(timeout).collect();
        let (start, end) = (fixture::at(0), fixture::at(3100));
        let cause = StallCause::Timeout(TimeoutClass::Handshake);
        let timeout = times.len().checked_sub(1);
        why(&found, from, &Stall { start, end, ..stall(cause, timeout) })
    };
    let one = "timeout, no answer to its SYN/ACK was seen";
    assert_eq!(told(End::Server, false, &[1000]), one);
    let two = "2 timeouts, no answer to its SYN/ACK was seen";
    assert_eq!(told(End::Server, false, &[1000, 3000]), two);
    let lost = "2 timeouts, loss of SYNs, or of their answers";
    assert_eq!(told(End::Server, true, &[1000, 3000]), lost);
    assert_eq!(told(End::Client, false, &[1000, 3000]), lost);
}

/// SYNs go out after 1, 3 and 7 s, until an answer comes; timestamps prove that so many of the last
/// ones were not needed.
#[test]
fn syns_that_were_lost_before_an_answer_was() {
    use ackclock_trace::Vantage::{Client, Server};
    let told = |spurious: usize, answered: bool, vantage| {
        let mut found = server(Flow::default());
        let c = &mut found.connection;
        (c.begun, c.position.vantage) = (true, vantage);
        c.from_server.offered = Some(Options::default());
        let client = &mut c.from_client;
        client.bytes = 10;
        let times = [1000, 3000, 7000];
        let proof = |i: usize| (i + spurious >= times.len()).then_some(Spurious::Timestamp);
        let syn = |i: usize| Retransmission {
            at: fixture::at(times[i]),
            len: 0,
            syn: true,
            ..again(Kind::Timeout, proof(i), true)
        };
        client.retransmissions = (0..3).map(syn).collect();
        let class = |i: usize| match i {
            0 => TimeoutClass::Handshake,
            _ => TimeoutClass::BackedOff,
        };
        let timeout = |i: usize| Timeout {
            retransmission: i,
            flight: 0,
            waited: Span::from_millis(1000),
            spurious: proof(i),
            ..fixture::timeout(fixture::at(times[i]), class(i), State::Open)
        };
        client.timeouts = (0..3).map(timeout).collect();
        if answered {
            c.from_server.retransmissions = vec![syn(1)];
        }
        let (start, end) = (fixture::at(0), fixture::at(7100));
        let cause = StallCause::Timeout(TimeoutClass::BackedOff);
        why(&found, End::Client, &Stall { start, end, ..stall(cause, Some(2)) })
    };
    assert_eq!(told(0, true, Client), "3 timeouts, loss of SYNs, or of their answers");
    assert_eq!(
        told(1, true, Client),
        "2 timeouts, loss of SYNs, or of their answers; then the answer to another SYN was lost or \
         late (timestamp echo)"
    );
    assert_eq!(
        told(3, true, Client),
        "timeout, the answer to a SYN was lost or late (timestamp echo)"
    );
    // At the server, which has answered the last one only.
    assert_eq!(told(0, false, Server), "timeout, SYNs came that the server did not answer");
    assert_eq!(told(0, true, Server), "3 timeouts, loss of SYNs, or of their answers");
}

/// A full segment is lost again and again, and a shorter piece of it arrives.
#[test]
fn what_was_lost_again_is_what_went_before() {
    let said = |class| {
        let full = again(Kind::Timeout, None, true);
        let piece = Retransmission { at: Time(380), len: 1024, ..full };
        let mut flow = Flow { retransmissions: vec![full, piece], ..flow(full) };
        let timeout = Timeout {
            retransmission: 1,
            waited: Span(80),
            ..fixture::timeout(Time(380), class, State::Loss)
        };
        flow.timeouts = vec![timeout];
        why(&server(flow), End::Server, &stall(StallCause::Timeout(class), Some(0)))
    };
    assert_eq!(said(TimeoutClass::BackedOff), "backed-off timeout, 1448 bytes lost again");
    assert_eq!(
        said(TimeoutClass::LostRetransmission),
        "timeout, lost retransmission of 1448 bytes"
    );
}

/// The same goes out until the capture ends, and nothing acknowledges it.
#[test]
fn nobody_answers_any_more() {
    use ackclock_trace::Vantage::{Client, Server};
    let said = |frame: u64, times: usize, vantage| {
        let sent = |i: usize| Retransmission {
            at: Time(150 + 10 * i as u64),
            ..again(Kind::BackedOffTimeout, None, false)
        };
        let retransmissions = (0..times).map(sent).collect();
        let mut found = server(Flow { bytes: 1448, retransmissions, ..Flow::default() });
        found.connection.position.vantage = vantage;
        let text =
            super::stall(&found, End::Server, &Stall { frame, ..stall(StallCause::Unknown, None) });
        text[text.find(": ").unwrap() + 2..].to_owned()
    };
    assert_eq!(
        said(0, 3, Client),
        "retransmissions of the same came until the end, and the client acknowledged none of it"
    );
    assert_eq!(
        said(0, 3, Server),
        "the same was retransmitted until the end, and nothing of it was acknowledged"
    );
    assert_eq!(said(0, 2, Server), "no cause was found");
    assert_eq!(said(9, 3, Server), "no cause was found");
}

#[test]
fn a_spurious_timeout_lost_nothing() {
    let timed_out = |spurious, class| {
        let mut flow = flow(again(Kind::Timeout, spurious, true));
        flow.timeouts = vec![Timeout {
            retransmission: 1,
            waited: Span(200),
            spurious,
            ..fixture::timeout(Time(300), class, State::Open)
        }];
        why(&server(flow), End::Server, &stall(StallCause::Timeout(class), Some(0)))
    };
    assert_eq!(
        timed_out(Some(Spurious::Timestamp), TimeoutClass::NonTrigger),
        "spurious timeout, 1448 bytes had not been lost (timestamp echo)"
    );
    assert_eq!(
        timed_out(None, TimeoutClass::NonTrigger),
        "timeout, loss of 1448 bytes that triggered no fast retransmit"
    );
}

/// Of what a timer sends, the receiver had reported 1,000 bytes before: they were not lost. Where
/// all had been reported, it has dropped that. A FIN has no bytes.
#[test]
fn what_was_reported_was_not_lost() {
    let timed_out = |len: u32, sacked: u32, class| {
        let r = Retransmission { len, sacked, ..again(Kind::Timeout, None, true) };
        let timeout = fixture::timeout(Time(300), class, State::Open);
        let mut flow = flow(r);
        flow.timeouts = vec![Timeout { retransmission: 1, ..timeout }];
        why(&server(flow), End::Server, &stall(StallCause::Timeout(class), Some(0)))
    };
    let lost = |len, sacked| timed_out(len, sacked, TimeoutClass::NonTrigger);
    let said = |what| format!("timeout, loss of {what} that triggered no fast retransmit");
    assert_eq!(lost(1448, 1000), said("448 bytes"));
    assert_eq!(lost(1448, 1448), said("1448 bytes"));
    assert_eq!(lost(0, 0), said("a FIN"));
    assert_eq!(
        timed_out(1448, 1000, TimeoutClass::MultipleLosses),
        "timeout, loss of 448 bytes among others that had been repaired"
    );
}

/// What a timer sends had been too long for a link, whatever the class: nobody has to look where it
/// was lost.
#[test]
fn what_was_too_big_was_not_lost() {
    for class in [TimeoutClass::NonTrigger, TimeoutClass::MultipleLosses] {
        let r = Retransmission { too_big: true, ..again(Kind::Timeout, None, true) };
        let mut flow = flow(r);
        let timeout = fixture::timeout(Time(300), class, State::Open);
        flow.timeouts = vec![Timeout { retransmission: 1, ..timeout }];
        assert_eq!(
            why(&server(flow), End::Server, &stall(StallCause::Timeout(class), Some(0))),
            "timeout, 1448 bytes of packets that were too big for a link"
        );
    }
}

/// Away from the sender, a hypothesis may be unsure of the timer that ended a stall.
#[test]
fn a_timer_that_is_only_probable() {
    let said = |probability| {
        let mut found = crate::fixture::explained().connections.remove(0);
        let r = Retransmission { probability, ..again(Kind::TailLossProbe, None, true) };
        found.connection.position.vantage = ackclock_trace::Vantage::Client;
        found.connection.from_server = flow(r);
        let stall = stall(StallCause::TailLossProbe, None);
        let text = super::stall(&found, End::Server, &stall);
        // So it is called where there is room for a few words.
        let named = names::verdict(&found, End::Server, &stall);
        assert_eq!(named == "outage", text.contains("(an outage)"), "{named}");
        text[text.find(": ").unwrap() + 2..].to_owned()
    };
    let repaired = "the tail was lost, and a tail loss probe repaired it";
    assert_eq!(said(Some(0.95)), repaired);
    assert_eq!(
        [Some(0.949), None].map(said),
        [format!("probably {repaired}"), format!("probably {repaired}")]
    );
}

/// One line for marks, which says whether anything was lost beside; none without.
#[test]
fn marks_lowered_the_window() {
    let flow = |reductions| Flow {
        ecn: Ecn { negotiated: Some(true), echoes: 9, reductions, ..Ecn::default() },
        ..Flow::default()
    };
    assert_eq!(lowered_by_marks(End::Server, &flow(vec![])), None);
    let text = "a queue on the path marks packets (ECN), and nothing was lost: the server lowered \
        its window 2 times for it";
    let two = flow(vec![Time(1), Time(2)]);
    assert_eq!(lowered_by_marks(End::Server, &two).as_deref(), Some(text));
    let lossy = Flow { retransmissions: vec![again(Kind::Recovery, None, true)], ..two };
    let text = text.replace("and nothing was lost", "beside losses");
    assert_eq!(lowered_by_marks(End::Server, &lossy), Some(text));
}

/// In one of twenty cases less is saved than the interval says. Where that may be nothing, nothing
/// is said.
#[test]
fn only_what_saves_time_is_said_to() {
    let said = |intervals: [Option<[f64; 2]>; 3]| {
        let mut found = crate::fixture::explained().connections.remove(0);
        let by = &mut found.saved[0].by;
        by.iter_mut().zip(intervals).for_each(|(rescue, between)| {
            (rescue.avoided, rescue.saved_90_s) = (between.is_some(), between);
        });
        saved(by)
    };
    let both = said([None, Some([0.25, 0.75]), Some([0.5, 1.0])]);
    assert_eq!(both.as_deref(), Some("RACK-TLP would have saved 0.75 s (90 %: 0.50 to 1.00 s)"));
    let one = said([None, Some([0.25, 0.75]), Some([0.0, 1.0])]).unwrap();
    assert_eq!(one, "lost-retransmission recovery would have saved 0.50 s (90 %: 0.25 to 0.75 s)");
    assert_eq!(said([Some([-1.0, 1.0]), Some([-0.25, 0.75]), Some([-0.5, 1.0])]), None);
}

/// Several timeouts in a row, of which all but the last were in vain: the last one may have been
/// spurious, for the first segment had arrived, whose ACK was lost.
#[test]
fn an_outage_is_no_spurious_timeout() {
    use ackclock_trace::Vantage::{Client, Server};
    let said = |times: &[u64], lost: Option<bool>, vantage| {
        let last = times.len() - 1;
        let of = |(i, at): (usize, &u64)| {
            let spurious = (i == last).then_some(Spurious::Dsack);
            let lost = if i == last { Some(false) } else { lost };
            let at = fixture::at(*at);
            Retransmission { at, lost, ..again(Kind::BackedOffTimeout, spurious, true) }
        };
        let retransmissions: Vec<_> = times.iter().enumerate().map(of).collect();
        let timeout = |(i, r): (usize, &Retransmission)| Timeout {
            retransmission: i,
            waited: Span::from_millis(times[i]),
            spurious: r.spurious,
            ..fixture::timeout(r.at, TimeoutClass::BackedOff, State::Loss)
        };
        let timeouts = retransmissions.iter().enumerate().map(timeout).collect();
        let flow = Flow { bytes: 1448, retransmissions, timeouts, ..Flow::default() };
        let mut found = server(flow);
        found.connection.position.vantage = vantage;
        let (start, end) = (fixture::at(0), fixture::at(times[last] + 40));
        let cause = StallCause::Timeout(TimeoutClass::BackedOff);
        let stall = Stall { frame: 10, timeout: Some(last), ..fixture::stall(start, end, cause) };
        let text = super::stall(&found, End::Server, &stall);
        text[text.find(": ").unwrap() + 2..].split("; ").next().unwrap().to_owned()
    };
    let times = [500, 1000, 2000, 4000];
    let spurious = "spurious timeout, 1448 bytes had arrived before (D-SACK)";
    let out = "nothing came through for 2.0 s to 4.0 s (an outage): what timers sent before the \
        last of 4 timeouts was in vain";
    assert_eq!(said(&times, Some(true), Server), out);
    // Two in a row may be chance, and what came late was not lost.
    assert_eq!(said(&times[..2], Some(true), Server), spurious);
    assert_eq!(said(&times, Some(false), Server), spurious);
    // Elsewhere, what was lost before the capture shows by how long it took.
    let unseen = "nothing came through for 4.0 s at the most (an outage): what timers sent \
        meanwhile was lost before it came to the capture, or a single one waited so long";
    assert_eq!(said(&times[3..], None, Client), unseen);
    let first = spurious.replace("had arrived before", "had not been lost");
    assert_eq!(said(&times[2..3], None, Client), format!("probably {first}"));
}

/// Behind a SYN that was lost, the timer of the first data is three seconds at least: a single one
/// of them is no outage, nor are two in a row.
#[test]
fn a_long_timer_behind_a_lost_syn() {
    let with = |timestamps: bool, at: u64, position: u64, syn: bool| {
        let r =
            Retransmission { at: fixture::at(at), lost: None, ..again(Kind::Timeout, None, false) };
        let timeout = |at, class| fixture::timeout(at, class, State::Open);
        let of_syn = timeout(fixture::at(100), TimeoutClass::Handshake);
        let of_data = Timeout { position, ..timeout(fixture::at(at), TimeoutClass::NonTrigger) };
        let timeouts = if syn { vec![of_syn, of_data] } else { vec![of_data] };
        let retransmissions = vec![r];
        let flow = Flow { bytes: 1448, timestamps, retransmissions, timeouts, ..Flow::default() };
        let mut found = server(flow);
        found.connection.position.vantage = ackclock_trace::Vantage::Client;
        let cause = StallCause::Timeout(TimeoutClass::NonTrigger);
        let last = Some(usize::from(syn));
        let (start, end) = (fixture::at(200), fixture::at(at + 40));
        let stall = Stall { timeout: last, ..fixture::stall(start, end, cause) };
        found.outage(End::Server, &stall).is_some()
    };
    let is_outage = |at, position, syn| with(false, at, position, syn);
    assert!(!is_outage(3300, 0, true));
    assert!(is_outage(3300, 0, false));
    // Behind data that was acknowledged, a round trip is known.
    assert!(is_outage(3300, 1448, true));
    assert_eq!([9200, 9201].map(|at| is_outage(at, 0, true)), [false, true]);
    // Timestamps measure one, whichever SYN is answered.
    assert_eq!([3200, 3201].map(|at| with(true, at, 0, true)), [false, true]);
}

/// The last of several timers was in vain, too, where the ACK came at once for what went out behind
/// it, a FIN say; and none was in vain unseen where all that went out was seen.
#[test]
fn an_outage_ends_with_what_is_answered() {
    use ackclock_trace::Vantage::Client;
    let told = |times: &[u64], newest: u64, end: u64, all_seen: bool, of_last: Option<bool>| {
        let last = times.len() - 1;
        let of = |(i, at): (usize, &u64)| {
            let lost = if i == last { of_last } else { Some(true) };
            let r = again(Kind::BackedOffTimeout, None, false);
            Retransmission { at: fixture::at(*at), lost, all_seen, ..r }
        };
        let retransmissions: Vec<_> = times.iter().enumerate().map(of).collect();
        let timeout = |(i, r): (usize, &Retransmission)| Timeout {
            retransmission: i,
            ..fixture::timeout(r.at, TimeoutClass::BackedOff, State::Loss)
        };
        let timeouts = retransmissions.iter().enumerate().map(timeout).collect();
        let mut found = server(Flow { bytes: 1448, retransmissions, timeouts, ..Flow::default() });
        found.connection.position.vantage = Client;
        let cause = StallCause::Timeout(TimeoutClass::BackedOff);
        let stall = fixture::stall(fixture::at(0), fixture::at(end), cause);
        let newest = fixture::at(newest);
        let stall = Stall { frame: 10, timeout: Some(last), newest, ..stall };
        Some(super::out(found.outage(End::Server, &stall)?))
    };
    let said = |times: &[u64], newest, end, seen| told(times, newest, end, seen, None);
    let times = [1000, 2000, 4000];
    let until_last = "nothing came through for 2.0 s to 4.0 s (an outage): what timers sent before \
        the last of 3 timeouts was in vain";
    let until_fin = "nothing came through for 4.0 s to 8.0 s (an outage): what all 3 timeouts sent \
        was in vain";
    assert_eq!(said(&times, 8000, 8010, false).as_deref(), Some(until_fin));
    // The ACK says that what the last timer sent has arrived.
    assert_eq!(told(&times, 8000, 8010, false, Some(false)).as_deref(), Some(until_last));
    // It was sent before, is not answered at once, or the last timer's segment may be.
    assert_eq!(said(&times, 3000, 8010, false).as_deref(), Some(until_last));
    assert_eq!(said(&times, 4500, 8010, false).as_deref(), Some(until_last));
    assert_eq!(said(&times, 4010, 4020, false).as_deref(), Some(until_last));
    // One that waited for so long, and maybe others that were lost before the capture.
    assert!(said(&times[2..], 0, 4040, false).is_some());
    assert_eq!(said(&times[2..], 0, 4040, true), None::<String>);
}

/// What was lost again is not looked for among all that came before: each of many stalls would do.
#[test]
fn the_retransmission_that_was_lost_is_looked_for_nearby() {
    let said = |between: usize, class| {
        let r = again(Kind::Timeout, None, true);
        let longer = Retransmission { len: 2896, ..r };
        let other = Retransmission { position: 9000, ..r };
        let mut flow = flow(r);
        flow.retransmissions = vec![longer];
        flow.retransmissions.resize(1 + between, other);
        flow.retransmissions.push(r);
        let timeout = Timeout {
            seq: r.seq,
            retransmission: 1 + between,
            ..fixture::timeout(r.at, class, State::Loss)
        };
        timed_out(&flow, &timeout)
    };
    let class = TimeoutClass::LostRetransmission;
    assert_eq!(said(MOST_BACK - 1, class), "timeout, lost retransmission of 2896 bytes");
    assert_eq!(said(MOST_BACK, class), "timeout, lost retransmission of 1448 bytes");
    assert_eq!(said(0, TimeoutClass::BackedOff), "backed-off timeout, 2896 bytes lost again");
}

/// A timer that sends a SYN again says nothing of data, whichever time it is; a FIN is called one.
#[test]
fn a_syn_and_a_fin_are_no_data() {
    let said = |syn: bool, spurious: Option<Spurious>| {
        let again = Retransmission { syn, spurious, ..again(Kind::BackedOffTimeout, None, true) };
        let mut found = server(flow(again));
        let flow = &mut found.connection.from_server;
        let timeout = fixture::timeout(Time(300), TimeoutClass::BackedOff, State::Open);
        flow.timeouts = vec![Timeout { spurious, retransmission: 1, ..timeout }];
        let stall = stall(StallCause::Timeout(TimeoutClass::BackedOff), Some(0));
        names::verdict(&found, End::Server, &stall)
    };
    assert_eq!(said(true, None), "timeout, handshake");
    assert_eq!(said(true, Some(Spurious::Timestamp)), "spurious timeout, handshake");
    assert_eq!(said(false, None), "timeout, backed off");
    let kind = |len: u32, syn: bool| {
        let again = Retransmission { len, syn, ..again(Kind::Timeout, None, true) };
        names::kind_said(&server(flow(again)), End::Server, &again)
    };
    assert_eq!([kind(1, false), kind(0, true)], ["timeout", "timeout"]);
    assert_eq!(kind(0, false), "FIN, timeout");
}

/// What is undecided is said so.
#[test]
fn by_a_probe_or_a_timeout() {
    let found = server(flow(again(Kind::ProbeOrTimeout, None, true)));
    let text = super::stall(&found, End::Server, &stall(StallCause::ProbeOrTimeout, None));
    let said = ": the last segment was retransmitted, by a tail loss probe or a timeout: by which \
        is not known";
    assert!(text.ends_with(said), "{text}");
}
