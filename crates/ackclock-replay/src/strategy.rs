//! Which composition answers a recorded kernel.

use ackclock_tcp::Registry;

use crate::vector::Header;

/// What bits of `tcp_recovery` switch on: `TCP_RACK_STATIC_REO_WND` and `TCP_RACK_NO_DUPTHRESH`.
const RECOVERY: [(i64, &str); 2] = [(2, "linux-rack-static"), (4, "linux-rack-no-dupthresh")];

/// The composition that is to answer as this kernel did with its settings: `linux`, without what
/// was switched off and with what was switched on, segmentation offload included.
pub fn matching(header: &Header, registry: &Registry) -> String {
    let mut names: Vec<&str> = match registry.preset("linux") {
        Some(preset) => preset.mechanisms.iter().map(|name| &**name).collect(),
        None => vec!["linux"],
    };
    // tcp_schedule_loss_probe; 1 and 2 were for early retransmit, which Linux has no more.
    if ![3, 4].contains(&header.setting("tcp_early_retrans", 3)) {
        names.retain(|name| *name != "linux-tlp");
    }
    if header.setting("tcp_frto", 2) == 0 {
        names.retain(|name| *name != "linux-f-rto");
    }
    if header.congestion == "reno" {
        names.push("linux-reno");
    }
    if header.offload {
        names.push("linux-tso");
    }
    let recovery = header.setting("tcp_recovery", 1);
    names.extend(RECOVERY.iter().filter(|(bit, _)| recovery & bit != 0).map(|(_, name)| name));
    names.join("+")
}
