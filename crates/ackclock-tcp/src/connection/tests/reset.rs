//! RST: RFC 9293 section 3.10.7.4, second check, as RFC 5961 section 3.2 has it; and its limit
//! (section 7).

use super::*;

/// How to reach each state from an established connection, and where RCV.NXT is then. `fin` is our
/// FIN.
const STATES: [(TcpState, &[&str], u32); 7] = [
    (Established, &[], 301),
    (FinWait1, &["fin"], 301),
    (FinWait2, &["fin", "A 301 a2"], 301),
    (CloseWait, &["FA 301 a1"], 302),
    (Closing, &["fin", "FA 301 a1"], 302),
    (LastAck, &["FA 301 a1", "fin"], 302),
    (TimeWait, &["fin", "FA 301 a2"], 302),
];

fn in_each_state(script: impl Fn(&mut Script, TcpState, u32)) {
    for (state, steps, rcv_nxt) in STATES {
        run_established(config(), |x| {
            for &step in steps {
                if step == "fin" {
                    x.shutdown()
                } else {
                    x.gets(step)
                };
                x.sent.clear();
            }
            x.in_state(state);
            script(x, state, rcv_nxt);
        });
    }
}

#[test]
fn a_reset_at_rcv_nxt_ends_the_connection_in_every_state() {
    in_each_state(|x, state, rcv_nxt| {
        x.gets(&format!("R {rcv_nxt}")).sends("");
        // After both FINs there is nothing left to reset.
        let reason = (state != TimeWait).then_some(CloseReason::Reset);
        assert_eq!((x.c.state(), x.c.reason()), (Closed, reason));
        x.no_deadline();
    });
}

/// An ACK in it does not matter.
#[test]
fn a_reset_with_an_acknowledgment() {
    in_each_state(|x, _, rcv_nxt| {
        x.gets(&format!("RA {rcv_nxt} a77777")).sends("");
        assert_eq!(x.c.state(), Closed);
    });
}

#[test]
fn a_reset_in_the_window_is_challenged_in_every_state() {
    in_each_state(|x, state, rcv_nxt| {
        let snd_nxt =
            if x.c.sender().acked() == 1 || x.c.sender().state().snd_max == 1 { 2 } else { 1 };
        let wnd = if rcv_nxt == 302 { " w9999" } else { "" };
        x.gets(&format!("R {}", rcv_nxt + 1))
            .sends(&format!("A {snd_nxt} a{rcv_nxt}{wnd}"))
            .in_state(state);
        // The last number of the window.
        x.gets("R 10300").sends(&format!("A {snd_nxt} a{rcv_nxt}{wnd}")).in_state(state);
    });
}

#[test]
fn a_reset_outside_of_the_window_is_dropped_in_every_state() {
    in_each_state(|x, state, rcv_nxt| {
        x.gets(&format!("R {}", rcv_nxt - 1)).sends("").in_state(state);
        x.gets("R 10301").sends("").in_state(state);
        x.gets("R 2147484000").sends("").in_state(state);
    });
}

#[test]
fn a_reset_in_syn_received() {
    run(config(), |x| {
        x.accept("S 300").sends("SA 0 a301 mss1000");
        x.gets("R 300").sends("").in_state(SynReceived);
        x.gets("R 302").sends("A 1 a301").in_state(SynReceived);
        x.gets("R 10300").sends("A 1 a301").in_state(SynReceived);
        x.gets("R 10301").sends("").in_state(SynReceived);
        x.gets("R 301").sends("").ended(CloseReason::Reset);
    });
}

/// RFC 9293 section 3.4: "MUST process the RST [...] even when the receive window is zero".
#[test]
fn a_reset_with_the_window_closed() {
    run_established(config(), |x| {
        x.gets("A 301+10000 a1").sends("A 1 a10301 w0");
        x.gets("R 10300").sends("").in_state(Established);
        x.gets("R 10302").sends("").in_state(Established);
        x.gets("R 10301").sends("").ended(CloseReason::Reset);
    });
}

/// What arrived out of order moves neither RCV.NXT nor the window.
#[test]
fn a_reset_above_a_hole() {
    run_established(config(), |x| {
        x.gets("PA 401+10 a1").sends("A 1 a301");
        x.gets("R 411").sends("A 1 a301").in_state(Established);
    });
}

/// RFC 5961 section 7: 10 in 5 s, of all kinds together.
#[test]
fn challenges_are_limited() {
    run_established(config(), |x| {
        for kind in ["R 302", "S 301", "A 301 a5", "A 300 a1", "R 303"].repeat(2) {
            x.at(1000).gets(kind).sends("A 1 a301");
        }
        for kind in ["R 302", "S 301", "A 301 a5", "A 300 a1"] {
            x.at(1000).gets(kind).sends("");
            x.at(5999).gets(kind).sends("");
        }
        // Data is not what keeps ACKs going for ever.
        x.at(5999).gets("PA 300+1 a1").sends("A 1 a301");
        for _ in 0..10 {
            x.at(6000).gets("R 302").sends("A 1 a301");
        }
        x.at(6000).gets("R 302").sends("");
        x.at(6000).gets("R 301").ended(CloseReason::Reset);
    });
}
