use super::*;

const TEXT: &str = "\
# tracer: nop
          <idle>-0       [001] .Ns2.    12.000100: tcp_cong_state_set: family=AF_INET sport=5001 \
          dport=4000 saddr=10.1.1.1 daddr=10.1.2.1 saddrv6=::ffff:10.1.1.1 daddrv6=::ffff:10.1.2.1 \
          cong_state=4
          <idle>-0       [001] .Ns2.    12.000110: tcp_retransmit_skb: skbaddr=1 skaddr=2 \
          family=AF_INET sport=5001 dport=4000 saddr=10.1.1.1 daddr=10.1.2.1 \
          saddrv6=::ffff:10.1.1.1 daddrv6=::ffff:10.1.2.1 state=TCP_ESTABLISHED err=0
     a [b] c-77          [000] b..1.    12.000111: tcp_retransmit_skb: skbaddr=1 skaddr=2 \
     family=AF_INET6 sport=1 dport=2 saddr=127.0.0.6 daddr=127.0.0.6 saddrv6=fd00::1 \
     daddrv6=fd00::2 state=TCP_ESTABLISHED err=0
     a [b] c-77          [000] b..1.    12.000112: <stack trace>
 => trace_event_raw_event_tcp_retransmit_skb
 => tcp_send_loss_probe
          <idle>-0       [001] .Ns2.    12.000113: <stack trace>
 => __tcp_retransmit_skb
 => tcp_retransmit_timer
 => tcp_write_timer_handler
         gateway-9       [001] b..1.    12.100000: tcp_retransmit_skb: skbaddr=1 skaddr=2 \
         family=AF_INET sport=5001 dport=4000 saddr=10.1.1.1 daddr=10.1.2.1 \
         saddrv6=::ffff:10.1.1.1 daddrv6=::ffff:10.1.2.1 state=TCP_ESTABLISHED err=-16
         gateway-9       [001] b..1.    12.200000: tcp_retransmit_skb: skbaddr=1 skaddr=2 \
         family=AF_INET sport=5001 dport=4000 saddr=10.1.1.1 daddr=10.1.2.1 \
         saddrv6=::ffff:10.1.1.1 daddrv6=::ffff:10.1.2.1 state=TCP_ESTABLISHED err=0
";

fn parsed(address: &str) -> Vec<(u64, String, What)> {
    let offset = real_minus_monotonic();
    let micros = |at: Time| (at.0 - offset + 500_000) / 1_000_000;
    parse(TEXT, address)
        .into_iter()
        .map(|line| (micros(line.at), line.ends.join(" "), line.what))
        .collect()
}

/// Stacks of two processors come mixed; one is missing; one segment could not be sent.
#[test]
fn each_retransmission_has_its_caller() {
    let ends = "10.1.1.1:5001 10.1.2.1:4000".to_string();
    assert_eq!(
        parsed("10.1.1.1"),
        [
            (12_000, ends.clone(), What::State(4)),
            (12_000, ends.clone(), What::Retransmit(Caller::Timer)),
            (12_200, ends, What::Retransmit(Caller::Unknown)),
        ]
    );
    assert_eq!(
        parsed("fd00::1"),
        [(12_000, "[fd00::1]:1 [fd00::2]:2".into(), What::Retransmit(Caller::LossProbe))]
    );
    assert_eq!(parsed("10.1.2.1"), []);
}
