//! What became of a flow, in numbers.

use ackclock_tcp::{Stats, Time, TimeoutClass};
use serde::Serialize;

/// The counters of one flow in one run. Its JSON has exactly these keys, in this order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowSummary {
    /// The strategy.
    pub strategy: String,
    /// The seed of the run; 0 on a wire, which draws its own lots.
    pub seed: u64,
    /// Number of the flow within the run.
    pub flow: u32,
    /// Its name in the scenario: `flow0` and so on, where that gives none.
    pub name: String,
    /// Bytes acknowledged cumulatively.
    pub bytes_acked: u64,
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Of those, the ones retransmitted.
    pub retransmissions: u64,
    /// Of those, the ones that began a recovery.
    pub fast_retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Of those, class non-trigger (Lin & Kung section 4.1).
    pub timeouts_non_trigger: u64,
    /// Of those, class multiple losses.
    pub timeouts_multiple_losses: u64,
    /// Of those, class lost retransmission.
    pub timeouts_lost_retransmission: u64,
    /// Of those, class backed off: nothing was acknowledged since the timeout before.
    pub timeouts_backed_off: u64,
    /// How often the timer of the SYN expired; not among `timeouts`.
    pub syn_timeouts: u64,
    /// Recoveries entered by other than a timeout.
    pub recoveries: u64,
    /// Reductions of the windows for an ECN-Echo.
    pub ecn_reductions: u64,
    /// Data segments that the network dropped; `null` on a wire, which does not show them.
    pub drops: Option<u64>,
    /// Retransmissions of data that the receiver already held when they arrived; `null` on a wire.
    pub spurious_retransmissions: Option<u64>,
    /// Bits acknowledged per second, from the start of the flow to its completion or the end of
    /// the run; `null` for a flow that has no time in the run.
    pub goodput_bps: Option<f64>,
    /// Seconds from the start of the flow to its completion; `null` while unfinished.
    pub completion_s: Option<f64>,
    /// Mean of the round trips that the sender measured, in seconds; `null` if it measured none.
    pub mean_rtt_s: Option<f64>,
    /// What `goodput_bps` counts: from its start to its completion, its stop or the end of the run.
    /// Both are zero on a wire.
    #[serde(skip)]
    pub active: [Time; 2],
}

/// Whether names tell flows apart, given by number and name: there are several, and one at least
/// has a name of its own. `flow0` and so on are only numbers.
pub fn are_named<'a>(flows: impl IntoIterator<Item = (u32, &'a str)>) -> bool {
    let flows: Vec<(u32, &str)> = flows.into_iter().collect();
    let several = flows.windows(2).any(|two| two[0].0 != two[1].0);
    let has_name =
        |(number, name): &(u32, &str)| !name.is_empty() && *name != format!("flow{number}");
    several && flows.iter().any(has_name)
}

impl FlowSummary {
    /// Of what the sender counted. What it cannot know is left at zero, or `None`.
    pub fn of_sender(strategy: &str, seed: u64, flow: u32, stats: &Stats) -> FlowSummary {
        let of = |class: TimeoutClass| stats.timeouts_by_class[class as usize];
        FlowSummary {
            strategy: strategy.to_string(),
            seed,
            flow,
            name: String::new(),
            bytes_acked: 0,
            segments_sent: stats.segments_sent,
            retransmissions: stats.retransmissions,
            fast_retransmissions: stats.fast_retransmissions,
            timeouts: stats.timeouts,
            timeouts_non_trigger: of(TimeoutClass::NonTrigger),
            timeouts_multiple_losses: of(TimeoutClass::MultipleLosses),
            timeouts_lost_retransmission: of(TimeoutClass::LostRetransmission),
            timeouts_backed_off: of(TimeoutClass::BackedOff),
            syn_timeouts: 0,
            recoveries: stats.recoveries,
            ecn_reductions: stats.ecn_reductions,
            drops: None,
            spurious_retransmissions: None,
            goodput_bps: None,
            completion_s: None,
            active: [Time::ZERO; 2],
            mean_rtt_s: (stats.rtt_samples > 0)
                .then(|| stats.rtt_sum.secs_f64() / stats.rtt_samples as f64),
        }
    }
}
