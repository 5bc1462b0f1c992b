//! What applications send.

use crate::distribution::Law;
use crate::rng::Rng;
use crate::scenario::model::{Distribution, Source};
use crate::scenario::units::Size;
use crate::{Dwell, MixPart, TimedWrite};

/// What the application of one copy of a flow writes. `rng` draws its size.
pub(super) fn build_source(source: &Source, mss: u32, rng: impl FnOnce() -> Rng) -> crate::Source {
    match source {
        Source::Bulk => crate::Source::Bulk,
        Source::Bytes(Size(n)) => crate::Source::Fixed(*n),
        Source::Segments(n) => crate::Source::Fixed(n.saturating_mul(mss.into())),
        Source::Draw(distribution) => {
            crate::Source::Fixed(build_distribution(distribution).draw(&mut rng()))
        }
        Source::OnOff(s) => {
            let dwell = if s.exponential { Dwell::Exponential } else { Dwell::Constant };
            let write = s.write.map_or(mss, |w| w.bytes(mss).min(u32::MAX.into()) as u32);
            crate::Source::OnOff(crate::OnOff {
                on: dwell(s.on.0),
                off: dwell(s.off.0),
                rate: s.rate.0,
                write,
            })
        }
        Source::Web(s) => crate::Source::Web(crate::Web {
            responses: s.responses,
            exactly: s.exactly,
            size: build_distribution(&s.size),
            think: s.think.0,
        }),
        Source::Writes(writes) => crate::Source::Stalls(
            writes
                .iter()
                .map(|w| TimedWrite { after: w.at.0, bytes: w.amount.bytes(mss) })
                .collect(),
        ),
    }
}

/// The distribution to draw from. Of one that [`check`](crate::scenario::check) refuses, it is a
/// fixed byte.
pub(in crate::scenario) fn build_distribution(distribution: &Distribution) -> crate::Distribution {
    let mean = |Size(bytes): Size| bytes as f64;
    let law = match distribution {
        Distribution { fixed: Some(Size(bytes)), .. } => Law::Fixed(*bytes),
        Distribution { exponential: Some(d), .. } => Law::Exponential(mean(d.mean)),
        Distribution { lognormal: Some(d), .. } => {
            Law::Lognormal { mean: mean(d.mean), sigma: d.sigma }
        }
        Distribution { pareto: Some(d), .. } => Law::Pareto { mean: mean(d.mean), shape: d.shape },
        Distribution { cdf: Some(points), .. } => {
            Law::Points(points.iter().map(|(size, share)| (mean(*size), share.get())).collect())
        }
        Distribution { mix: Some(parts), .. } => Law::Mix(
            parts
                .iter()
                .map(|part| MixPart {
                    share: part.share.unwrap_or_default().get(),
                    distribution: build_distribution(part),
                })
                .collect(),
        ),
        _ => Law::Fixed(1),
    };
    crate::Distribution { law, max: distribution.max.map(|Size(bytes)| bytes) }
}
