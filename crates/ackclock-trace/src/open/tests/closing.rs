//! Both ends close at the same time.

use super::*;

/// Retransmissions of the client, whose FIN has crossed the server's and goes again.
fn again(delay: f64, first: Option<P>, fin: P) -> [usize; 2] {
    after(45.0, delay, first, fin)
}

/// The same with the server's FIN at another time than 5 ms after the client's.
fn after(other: f64, delay: f64, first: Option<P>, fin: P) -> [usize; 2] {
    ISNS.map(|isns| {
        let mut talk = Talk::new(isns);
        talk.open().at(20.0, c(0, 100)).at(30.0, s(0, 0).ack(100));
        talk.at(40.0, c(100, 0).with(Control::FIN));
        talk.at(other, s(0, 0).ack(100).with(Control::FIN));
        if let Some(first) = first {
            talk.at(other + 0.01, first);
        }
        let fin = fin.with(Control::FIN);
        talk.at(other + delay, fin).at(other + 11.0, s(1, 0).ack(101));
        talk.one().from_client.retransmissions.len()
    })
}

/// The round trip is 10 ms, and the client is here: 5 ms are at once.
#[test]
fn a_fin_that_acknowledges_the_other_one_at_once_is_no_retransmission() {
    let fin = c(100, 0).ack(1);
    assert_eq!(again(0.02, None, fin), [0, 0]);
    assert_eq!(again(4.9, None, fin), [0, 0]);
    assert_eq!(again(5.2, None, fin), [1, 1], "late");
    assert_eq!(again(0.02, None, c(100, 0)), [1, 1], "acknowledges nothing");
    assert_eq!(again(0.02, Some(c(101, 0).ack(1)), fin), [1, 1], "acknowledged before");
    assert_eq!(again(0.02, None, c(50, 50).ack(1)), [1, 1], "has data");
    assert_eq!(after(59.9, 0.02, None, fin), [0, 0]);
    assert_eq!(after(60.1, 0.02, None, fin), [1, 1], "its own was lost");
}
