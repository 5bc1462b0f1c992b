//! Which composition answers a recorded kernel.

use ackclock_tcp::Registry;

use crate::vector::Header;

/// What a setting of 0 switches off.
const OFF: [(&str, &str); 2] = [("tcp_early_retrans", "linux-tlp"), ("tcp_frto", "linux-f-rto")];

/// What bits of `tcp_recovery` switch on: `TCP_RACK_STATIC_REO_WND` and `TCP_RACK_NO_DUPTHRESH`.
const RECOVERY: [(i64, &str); 2] = [(2, "linux-rack-static"), (4, "linux-rack-no-dupthresh")];

/// The composition that is to answer as this kernel did with its settings: `linux`, without what
/// was switched off and with what was switched on, segmentation offload included.
pub fn matching(header: &Header, registry: &Registry) -> String {
    let mut names: Vec<&str> = match registry.preset("linux") {
        Some(preset) => preset.mechanisms.iter().map(|name| &**name).collect(),
        None => vec!["linux"],
    };
    for (setting, mechanism) in OFF {
        if header.setting(setting, 1) == 0 {
            names.retain(|name| *name != mechanism);
        }
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
