use super::*;

/// A whole life: data with the handshake's last ACK, FIN with the last data, an answer, and FIN.
#[test]
fn a_connection_opens_carries_data_and_closes() {
    let strategy = || Composition::parse("sack").expect("a composition").build();
    let full = ConnectionConfig { sack: true, timestamps: true, wscale: Some(2), ..config() };
    let mut now = Time::ZERO;
    let mut a = Connection::connect(now, ConnectionConfig { iss: Seq(100), ..full.clone() }, strategy());
    a.write(now, 3500);
    a.shutdown(now);
    let syn = a.poll_transmit(now).expect("a SYN");
    let mut b = Connection::accept(now, ConnectionConfig { iss: Seq(300), ..full }, strategy(), &syn.header);
    for _ in 0..10 {
        now += Span::from_millis(10);
        while let Some(o) = b.poll_transmit(now) {
            a.on_segment(now, &o.header, o.len);
        }
        while let Some(o) = a.poll_transmit(now) {
            b.on_segment(now, &o.header, o.len);
        }
        b.read(now, b.readable());
        if b.at_end() && b.can_write() {
            b.write(now, 10);
            b.close(now);
        }
    }
    a.read(now, 10);
    assert_eq!((b.read_position(), a.read_position(), a.at_end()), (3500, 10, true));
    assert_eq!((a.state(), b.state()), (TcpState::TimeWait, TcpState::Closed));
}
