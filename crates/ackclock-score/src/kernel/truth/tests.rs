use super::*;

#[test]
fn tcp_info_as_ss_prints_it() {
    let line = "ESTAB 0 2640 10.1.1.1:35352 10.1.2.1:5001 cubic rto:492 lastsnd:280 \
                delivery_rate 9446584bps busy:2576ms rwnd_limited:160ms(6.2%) unacked:2";
    let [sender, receiver] = ["10.1.1.1:35352", "10.1.2.1:5001"].map(|end| end.parse().unwrap());
    let expected = Info {
        t_ns: 7,
        sender,
        receiver,
        queued: 2640,
        busy_ms: 2576,
        receive_window_ms: 160,
        send_buffer_ms: 0,
        line: line.into(),
    };
    assert_eq!(Info::parse(line, 7), Some(expected));
    assert_eq!(Info::parse("State Recv-Q", 7), None);
}
