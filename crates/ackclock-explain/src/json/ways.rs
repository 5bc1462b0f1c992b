//! How an end goes about losses.

use ackclock_trace::ways::{Evidence, Law, Ways};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct WaysJson {
    tail_loss_probes: EvidenceJson,
    rack: EvidenceJson,
    f_rto: EvidenceJson,
    least_rto_s: Option<f64>,
    initial_window: Option<u32>,
    reduction: Option<f64>,
    reductions: ReductionsJson,
    slow_start_after_idle: EvidenceJson,
}

#[derive(Serialize)]
struct EvidenceJson {
    uses: Option<bool>,
    used: u32,
    unused: u32,
}

#[derive(Serialize)]
struct ReductionsJson {
    half: u32,
    seven_tenths: u32,
    other: u32,
}

impl EvidenceJson {
    fn of(e: Evidence) -> Self {
        EvidenceJson { uses: e.verdict(), used: e.used, unused: e.unused }
    }
}

impl WaysJson {
    pub fn of(w: &Ways) -> Self {
        let r = w.reductions;
        WaysJson {
            tail_loss_probes: EvidenceJson::of(w.probes),
            rack: EvidenceJson::of(w.rack),
            f_rto: EvidenceJson::of(w.f_rto),
            least_rto_s: w.least_rto.verdict().map(|least| least.secs_f64()),
            initial_window: w.initial_window,
            reduction: r.verdict().map(Law::factor),
            reductions: ReductionsJson {
                half: r.half,
                seven_tenths: r.seven_tenths,
                other: r.other,
            },
            slow_start_after_idle: EvidenceJson::of(w.restart),
        }
    }
}
