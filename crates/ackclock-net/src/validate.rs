//! The ranges of settings. Each function names the first problem it finds.

use ackclock_tcp::Span;

use crate::config::{CbrConfig, FlowConfig, LinkConfig, Source};
use crate::ids::NodeId;
use crate::loss::LossModel;
use crate::queue::{Codel, FqCodel, Fred, Pie, Queue, Red};
use crate::varying::{Change, Outage, Varying};

fn first(checks: &[(bool, &'static str)]) -> Option<&'static str> {
    checks.iter().find(|(fine, _)| !fine).map(|&(_, problem)| problem)
}

fn probability(p: f64) -> bool {
    (0.0..=1.0).contains(&p)
}

fn ends(from: NodeId, to: NodeId, nodes: usize) -> Option<&'static str> {
    first(&[
        ((from.0 as usize) < nodes && (to.0 as usize) < nodes, "there is no such node"),
        (from != to, "`from` and `to` must differ"),
    ])
}

pub(crate) fn link(config: &LinkConfig, nodes: usize) -> Option<&'static str> {
    let queue = match &config.queue {
        Queue::DropTail(_) => None,
        Queue::Red(config) => red(config),
        Queue::Fred(config) => fred(config),
        Queue::Codel(config) => codel(config),
        Queue::FqCodel(config) => fq_codel(config),
        Queue::Pie(config) => pie(config),
    };
    ends(config.from, config.to, nodes)
        .or(first(&[
            (config.rate > 0, "the rate must be at least 1 bit per second"),
            (probability(config.duplicate), "`duplicate` must be 0 to 1"),
            (probability(config.corrupt), "`corrupt` must be 0 to 1"),
            (
                config.reorder.as_ref().is_none_or(|r| probability(r.probability)),
                "reordering's probability must be 0 to 1",
            ),
        ]))
        .or(queue)
        .or(config.loss.iter().find_map(|l| loss(&l.model)))
        .or(varying(&config.varying))
}

fn varying(config: &Varying) -> Option<&'static str> {
    let change = |change: &Change| {
        first(&[
            (change.every != Some(Span::ZERO), "a change comes again after more than nothing"),
            (change.rate != Some(0), "the rate must be at least 1 bit per second"),
        ])
        .or(change.loss.iter().flatten().find_map(|l| loss(&l.model)))
    };
    let outage = |outage: &Outage| {
        first(&[
            (outage.lasts > Span::ZERO, "an outage lasts longer than nothing"),
            (outage.every.is_none_or(|every| every > outage.lasts), "an outage must end"),
        ])
    };
    let share = |o: &Outage| o.every.map_or(0.0, |every| o.lasts.secs_f64() / every.secs_f64());
    let swallowed = |trace| config.outages.iter().any(|outage| outage.swallows(trace));
    let aggregate = config.aggregate.as_ref();
    first(&[
        (config.outages.iter().map(share).sum::<f64>() < 1.0, "outages must end"),
        (
            !config.trace.as_ref().is_some_and(swallowed),
            "an outage must leave opportunities of the trace",
        ),
        (
            aggregate.is_none_or(|a| a.lasts > Span::ZERO && a.packets > 0),
            "a burst has at least 1 packet and gathers for longer than nothing",
        ),
    ])
    .or(config.changes.iter().find_map(change))
    .or(config.outages.iter().find_map(outage))
}

fn red(config: &Red) -> Option<&'static str> {
    first(&[
        (
            config.min_th >= 0.0 && config.max_th.is_finite(),
            "RED's thresholds must be finite and not negative",
        ),
        (config.min_th < config.max_th, "RED's `min_th` must be below `max_th`"),
        (config.w_q > 0.0 && config.w_q <= 1.0, "RED's `w_q` must be above 0 and at most 1"),
        (probability(config.max_p), "RED's `max_p` must be 0 to 1"),
        (config.mean_packet_size > 0, "RED's mean packet size must be at least 1 byte"),
    ])
}

fn fred(config: &Fred) -> Option<&'static str> {
    first(&[
        (
            config.min_th >= 1.0 && config.max_th.is_finite(),
            "FRED's thresholds must be finite and at least 1",
        ),
        (config.min_th < config.max_th, "FRED's `min_th` must be below `max_th`"),
        (config.w_q > 0.0 && config.w_q <= 1.0, "FRED's `w_q` must be above 0 and at most 1"),
        (probability(config.max_p), "FRED's `max_p` must be 0 to 1"),
        (config.mean_packet_size > 0, "FRED's mean packet size must be at least 1 byte"),
    ])
}

fn codel(config: &Codel) -> Option<&'static str> {
    first(&[
        (config.limit > 0, "CoDel's limit must be at least 1 packet"),
        (
            config.target > Span::ZERO && config.interval > Span::ZERO,
            "CoDel's target and interval must be longer than nothing",
        ),
        (config.mtu > 0, "CoDel's MTU must be at least 1 byte"),
    ])
}

fn fq_codel(config: &FqCodel) -> Option<&'static str> {
    codel(&config.codel).or(first(&[
        (config.memory > 0, "FQ-CoDel's memory must be at least 1 byte"),
        ((1..=65_536).contains(&config.flows), "FQ-CoDel's number of queues must be 1 to 65,536"),
        (config.quantum > 0, "FQ-CoDel's quantum must be at least 1 byte"),
    ]))
}

fn pie(config: &Pie) -> Option<&'static str> {
    let weight = |weight: f64| weight.is_finite() && weight >= 0.0;
    first(&[
        (config.limit > 0, "PIE's limit must be at least 1 packet"),
        (
            config.target > Span::ZERO && config.t_update > Span::ZERO,
            "PIE's target and time between updates must be longer than nothing",
        ),
        (
            weight(config.alpha) && weight(config.beta),
            "PIE's weights must be finite and not negative",
        ),
        (config.mean_packet_size > 0, "PIE's mean packet size must be at least 1 byte"),
    ])
}

fn loss(model: &LossModel) -> Option<&'static str> {
    if matches!(model, LossModel::Policer { rate: 0, .. } | LossModel::Policer { burst: 0, .. }) {
        return Some("a policer's rate and burst must be at least 1");
    }
    let fine = match *model {
        LossModel::Listed(_) | LossModel::Policer { .. } => true,
        LossModel::Bernoulli(p) => probability(p),
        LossModel::GilbertElliott { p, r, loss_good, loss_bad } => {
            [p, r, loss_good, loss_bad].into_iter().all(probability)
        }
        LossModel::ThreeState { second_loss, third_loss, .. } => {
            [second_loss, third_loss].into_iter().all(probability)
        }
    };
    (!fine).then_some("a loss probability must be 0 to 1")
}

pub(crate) fn flow(config: &FlowConfig, nodes: usize) -> Option<&'static str> {
    let source = match &config.source {
        Source::Bulk | Source::Fixed(_) => None,
        Source::OnOff(on_off) => first(&[
            (on_off.rate > 0, "an on-off source's rate must be at least 1 bit per second"),
            (on_off.write > 0, "an on-off source must write at least 1 byte"),
        ]),
        Source::Web(web) => first(&[
            (
                web.responses >= 1.0 && web.responses.is_finite(),
                "a Web source has at least 1 response",
            ),
            (
                !web.exactly || web.responses.fract() == 0.0,
                "exactly so many responses are a whole number",
            ),
        ]),
        Source::Stalls(writes) => first(&[(
            writes.is_sorted_by_key(|write| write.after),
            "writes must be in ascending order",
        )]),
    };
    ends(config.from, config.to, nodes)
        .or(first(&[(config.mss > 0, "`mss` must be at least 1 byte")]))
        .or(source)
}

pub(crate) fn cbr(config: &CbrConfig, nodes: usize) -> Option<&'static str> {
    ends(config.from, config.to, nodes).or(first(&[
        (config.rate > 0, "the rate must be at least 1 bit per second"),
        (config.packet_size > 0, "the packet size must be at least 1 byte"),
        (probability(config.dither), "`dither` must be 0 to 1"),
    ]))
}
