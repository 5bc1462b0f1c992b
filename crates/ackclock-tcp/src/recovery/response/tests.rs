use crate::{Registry, Sender, SenderConfig};

/// A lost retransmission lowers ssthresh or leaves it, also where it is less than two segments.
#[test]
fn a_lost_retransmission_never_raises_ssthresh() {
    for name in ["lower-twice", "response-2", "response-dac-revised"] {
        for (ssthresh, lowered) in [(1_500, 1_500), (3_000, 2_000), (10_000, 5_000)] {
            let mut strategy =
                Registry::default().parse(&format!("newreno+{name}")).unwrap().build();
            let config = SenderConfig {
                mss: 1000,
                initial_ssthresh: Some(ssthresh),
                ..SenderConfig::default()
            };
            let sender = Sender::new(config, Registry::default().parse("newreno").unwrap().build());
            let windows = strategy.response.on_lost(sender.state(), &mut *strategy.window);
            assert_eq!(windows.ssthresh, lowered, "{name}");
        }
    }
}
