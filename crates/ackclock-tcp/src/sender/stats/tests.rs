use super::*;

/// All sequences of four round trips of at most 20 ns, where rounding matters most.
#[test]
fn the_smoothed_round_trip_is_never_below_the_least() {
    for n in 0..20_u32.pow(4) {
        let mut stats = Stats::default();
        for i in 0..4 {
            stats.round_trip(Span(u64::from(n / 20_u32.pow(i) % 20)));
            assert!(stats.rtt_least <= stats.rtt_smoothed, "{n}: {stats:?}");
        }
    }
}
