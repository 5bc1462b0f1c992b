//! What the SYNs agree on about ECN, and what is counted.

use super::*;
use crate::connection::Ecn;

const SETUP: Control = Control::ECE.with(Control::CWR);

impl P {
    fn marked(mut self, codepoint: Codepoint) -> P {
        self.packet.codepoint = codepoint;
        self
    }
}

/// Two segments that are marked and one that is not, one echo and one CWR, by what the SYNs say.
fn talk(mut talk: Talk, client: Control, server: Control) -> Connection {
    talk.at(0.0, syn(0).with(client)).at(10.0, syn(1).with(server)).at(10.01, c(0, 0));
    // A super-segment of two.
    talk.at(11.0, c(0, 2920).marked(Codepoint::Ce));
    talk.at(11.1, c(2920, 1460).marked(Codepoint::Ect0));
    talk.at(21.0, s(0, 0).ack(4380).with(Control::ECE));
    talk.at(22.0, c(4380, 100).marked(Codepoint::Ect0).with(Control::CWR));
    talk.at(32.0, s(0, 0).ack(4480));
    talk.one()
}

/// RFC 3168 section 6.1.1: both flags ask, ECE alone accepts. A SYN/ACK with both comes from a peer
/// that reflects what it does not know.
#[test]
fn what_was_agreed_on_and_counted() {
    each(|isns| {
        let isns = isns.isns;
        let of = |client, server| talk(Talk::new(isns), client, server);
        let connection = of(SETUP, Control::ECE);
        let Ecn { negotiated, accurate, capable, marked, echoes, cwr, reductions } =
            connection.from_client.ecn;
        assert_eq!((negotiated, accurate), (Some(true), false));
        assert_eq!((capable, marked, echoes, cwr), (4, 2, 1, 1));
        // It reaches the client, where the capture was taken, at once.
        assert_eq!(reductions, [Time(START + 21_000_000)]);
        let expected = Ecn { negotiated: Some(true), ..Ecn::default() };
        assert_eq!(connection.from_server.ecn, expected);
        for (client, server) in [
            (SETUP, SETUP),
            (SETUP, Control(0)),
            (Control(0), Control(0)),
            (Control::ECE, Control::ECE),
            (Control(0), Control::ECE),
        ] {
            let found = of(client, server).from_client.ecn;
            assert_eq!(found, Ecn { negotiated: Some(false), ..Ecn::default() });
        }
    });
}

/// RFC 3168 section 6.1.1.1: where nothing answers, the SYN goes again and asks no more. The answer
/// to the first one may still come, and accepts.
#[test]
fn a_second_syn_that_does_not_ask() {
    for (accepts, negotiated) in [(Control::ECE, true), (Control(0), false)] {
        let mut talk = Talk::new(ISNS[0]);
        talk.at(0.0, syn(0).with(SETUP)).at(1000.0, syn(0)).at(1010.0, syn(1).with(accepts));
        talk.at(1010.1, c(0, 0)).at(1011.0, c(0, 1000).marked(Codepoint::Ect0));
        assert_eq!(talk.one().from_client.ecn.negotiated, Some(negotiated));
    }
}

/// RFC 9768 table 2. ECN-Echo and CWR are bits of a counter then.
#[test]
fn accurate_ecn() {
    let ae = |p: P, ae| P { packet: Packet { ae, ..p.packet }, ..p };
    for (flag, server, negotiated, accurate) in [
        (false, Control::CWR, true, true),
        (false, SETUP, true, true),
        (true, Control(0), true, true),
        (true, Control::CWR, true, true),
        (false, Control::ECE, true, false),
        (true, Control::ECE, true, false),
        (false, Control(0), false, false),
        (true, SETUP, false, false),
    ] {
        each(|mut talk| {
            talk.at(0.0, ae(syn(0).with(SETUP), true)).at(10.0, ae(syn(1).with(server), flag));
            talk.at(10.01, c(0, 0)).at(11.0, c(0, 1460).marked(Codepoint::Ect0));
            talk.at(21.0, ae(s(0, 0).ack(1460).with(Control::ECE), true));
            talk.at(22.0, c(1460, 100).marked(Codepoint::Ce).with(Control::CWR));
            let found = talk.one().from_client.ecn;
            assert_eq!((found.negotiated, found.accurate), (Some(negotiated), accurate));
            let [capable, echoes] = [negotiated, negotiated && !accurate].map(u64::from);
            assert_eq!((found.capable, found.marked), (2 * capable, capable));
            assert_eq!((found.echoes, found.cwr), (echoes, echoes));
            assert_eq!(found.reductions.len() as u64, echoes);
        });
    }
}

/// Without SYNs, what is in use counts; plain data says nothing.
#[test]
fn a_capture_that_began_later() {
    for (codepoint, negotiated) in [(Codepoint::Ect0, Some(true)), (Codepoint::NotEct, None)] {
        each(|mut talk| {
            for n in 0..20_u32 {
                let at = f64::from(n);
                talk.at(at, c(u64::from(n) * 1000, 1000).marked(codepoint));
                talk.at(at + 0.5, s(0, 0).ack(u64::from(n + 1) * 1000));
            }
            let found = talk.one().from_client.ecn;
            let capable = if negotiated == Some(true) { 20 } else { 0 };
            assert_eq!((found.negotiated, found.capable, found.marked), (negotiated, capable, 0));
        });
    }
}
