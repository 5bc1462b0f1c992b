//! Links, their queues and their losses.

use ackclock_tcp::{Span, Time};

use super::varying::{build_varying, limit, rate};
use crate::scenario::model::{Codel, Direction, Fate, FqCodel, Link, Loss, Pie, Queue, Spike};
use crate::scenario::names::Names;
use crate::scenario::simulation::BuiltLink;
use crate::{
    Applies, Duplex, FlowId, Limit, LinkConfig, ListedFate, ListedLoss, ListedPacket, LossModel,
    Network,
};

/// Adds the copies of a link to the network.
pub(super) fn build_link(
    entry: usize,
    link: &Link,
    names: &Names,
    network: &mut Network,
    links: &mut Vec<BuiltLink>,
) {
    let flow = |name: &Option<String>| name.as_ref().and_then(|n| names.flow(n)).map(FlowId);
    let fates: Vec<ListedFate> = link.fates.iter().map(|f| build_fate(f, flow)).collect();
    let loss: Vec<crate::Loss> = link.loss.iter().map(|l| build_loss(l, flow)).collect();
    for copy in 0..link.count {
        let config = LinkConfig {
            from: names.end(&link.from, copy),
            to: names.end(&link.to, copy),
            rate: rate(link),
            delay: delay(link, copy),
            queue: build_queue(link),
            fates: fates.clone(),
            loss: loss.clone(),
            spikes: link.spikes.iter().map(build_spike).collect(),
            jitter: link.jitter.unwrap_or_default().0,
            reorder: link.reorder.as_ref().map(|r| crate::Reorder {
                probability: r.p.map_or(0.0, |p| p.get()),
                segments: r.segments.clone(),
                extra_delay: r.delay.0,
            }),
            duplicate: link.duplicate.unwrap_or_default().get(),
            corrupt: link.corrupt.unwrap_or_default().get(),
            varying: build_varying(link, |loss| build_loss(loss, flow)),
        };
        if link.duplex {
            let Duplex { there, back } = network.duplex(config);
            links.push(BuiltLink { id: there, entry, back: false });
            links.push(BuiltLink { id: back, entry, back: true });
        } else {
            links.push(BuiltLink { id: network.link(config), entry, back: false });
        }
    }
}

/// The delay of copy `copy`, to the nanosecond below.
pub(in crate::scenario) fn delay(link: &Link, copy: u32) -> Span {
    let first = link.delay.0.nanos();
    let Some(last) = link.delay_to.map(|d| d.0.nanos()) else { return link.delay.0 };
    let share =
        u128::from(last.abs_diff(first)) * u128::from(copy) / u128::from(link.count.max(2) - 1);
    let share = share as u64;
    Span(if last >= first { first + share } else { first - share })
}

fn build_queue(link: &Link) -> crate::Queue {
    match &link.queue {
        None => crate::Queue::DropTail(Limit::Packets(1000)),
        Some(Queue::Droptail(queue)) => crate::Queue::DropTail(limit(queue)),
        Some(Queue::Red(red)) => {
            let mean_packet_size = red.mean_packet_size.map_or(500, |s| s.0 as u32);
            crate::Queue::Red(crate::Red {
                limit: red.limit,
                min_th: red.min,
                max_th: red.max,
                w_q: red.weight.unwrap_or_else(|| {
                    crate::Red::automatic_w_q(rate(link), link.delay.0, mean_packet_size)
                }),
                max_p: red.max_p.map_or(0.1, |p| p.get()),
                gentle: red.gentle,
                wait: red.wait,
                queue_in_bytes: red.queue_in_bytes,
                byte_mode: red.byte_mode,
                mean_packet_size,
                ecn: red.ecn,
            })
        }
        Some(Queue::Fred(fred)) => crate::Queue::Fred(crate::Fred {
            limit: fred.limit,
            min_th: fred.min,
            max_th: fred.max,
            w_q: fred.weight.unwrap_or(0.002),
            max_p: fred.max_p.map_or(0.02, |p| p.get()),
            minq: fred.minq.unwrap_or(2),
            many_flows: fred.many_flows,
            mean_packet_size: fred.mean_packet_size.map_or(500, |s| s.0 as u32),
        }),
        Some(Queue::Codel(codel)) => crate::Queue::Codel(build_codel(codel)),
        Some(Queue::FqCodel(fq)) => crate::Queue::FqCodel(build_fq_codel(fq)),
        Some(Queue::Pie(pie)) => crate::Queue::Pie(build_pie(pie)),
    }
}

fn build_fq_codel(fq: &FqCodel) -> crate::FqCodel {
    let FqCodel { limit, memory, flows, quantum, target, interval, mtu, ecn } = fq.clone();
    let limit = limit.or(Some(10_240));
    let default = crate::FqCodel::new(1);
    crate::FqCodel {
        codel: build_codel(&Codel { limit, target, interval, mtu, ecn: ecn.unwrap_or(true) }),
        memory: memory.map_or(default.memory, |memory| memory.0),
        flows: flows.unwrap_or(default.flows),
        quantum: quantum.map_or(default.quantum, |quantum| quantum.0 as u32),
    }
}

fn build_pie(pie: &Pie) -> crate::Pie {
    let default = crate::Pie::new(pie.limit.unwrap_or(1000));
    crate::Pie {
        target: pie.target.map_or(default.target, |target| target.0),
        t_update: pie.update.map_or(default.t_update, |update| update.0),
        alpha: pie.alpha.unwrap_or(default.alpha),
        beta: pie.beta.unwrap_or(default.beta),
        max_burst: pie.max_burst.map_or(default.max_burst, |burst| burst.0),
        mean_packet_size: pie.mean_packet_size.map_or(default.mean_packet_size, |s| s.0 as u32),
        derandomize: pie.derandomize,
        cap: pie.cap,
        ecn: pie.ecn,
        ..default
    }
}

fn build_codel(codel: &Codel) -> crate::Codel {
    let default = crate::Codel::new(codel.limit.unwrap_or(1000));
    crate::Codel {
        target: codel.target.map_or(default.target, |target| target.0),
        interval: codel.interval.map_or(default.interval, |interval| interval.0),
        mtu: codel.mtu.map_or(default.mtu, |mtu| mtu.0 as u32),
        ecn: codel.ecn,
        ..default
    }
}

fn build_spike(spike: &Spike) -> crate::Spike {
    crate::Spike { at: Time::ZERO + spike.at.0, lasts: spike.lasts.0, delay: spike.delay.0 }
}

/// Exactly one of `segment` and `ack` is set, and of `lose` and `late`.
fn build_fate(fate: &Fate, flow: impl Fn(&Option<String>) -> Option<FlowId>) -> ListedFate {
    let packet = match fate.ack {
        Some(number) => ListedPacket::Ack(number),
        None => ListedPacket::Transmission(ListedLoss {
            segment: fate.segment.unwrap_or_default(),
            transmission: fate.transmission.unwrap_or(1),
        }),
    };
    let what = fate.late.map_or(crate::Fate::Lost, |late| crate::Fate::Late(late.0));
    ListedFate { packet, flow: flow(&fate.flow), fate: what }
}

fn build_loss(loss: &Loss, flow: impl Fn(&Option<String>) -> Option<FlowId>) -> crate::Loss {
    let applies = |direction| match direction {
        Direction::Data => Applies::Data,
        Direction::Ack => Applies::Acks,
        Direction::Both => Applies::Both,
    };
    match loss {
        Loss::Drop(l) => {
            let first = l.segments.iter().map(|s| ListedLoss::first(*s));
            let again =
                l.retransmissions.iter().map(|r| ListedLoss::retransmission(r.segment, r.nth));
            let model = LossModel::Listed(first.chain(again).collect());
            crate::Loss { model, applies: Applies::Data, flow: flow(&l.flow) }
        }
        Loss::Bernoulli(l) => {
            let model = LossModel::Bernoulli(l.p.get());
            crate::Loss { model, applies: applies(l.direction), flow: flow(&l.flow) }
        }
        Loss::GilbertElliott(l) => {
            let loss_bad = l.loss_bad.map_or(1.0, |p| p.get());
            let model = LossModel::GilbertElliott {
                p: l.p.get(),
                r: l.r.get(),
                loss_good: l.loss_good.get(),
                loss_bad,
            };
            crate::Loss { model, applies: applies(l.direction), flow: flow(&l.flow) }
        }
        Loss::ThreeState(l) => {
            let model = LossModel::ThreeState {
                second_at: Time::ZERO + l.second_at.0,
                second_for: l.second_for.0,
                second_loss: l.second_loss.get(),
                third_for: l.third_for.0,
                third_loss: l.third_loss.get(),
                lose_fast_retransmission: l.lose_fast_retransmission,
                repeat: l.repeat,
            };
            crate::Loss { model, applies: applies(l.direction), flow: flow(&l.flow) }
        }
        Loss::Policer(l) => {
            let model = LossModel::Policer { rate: l.rate.0, burst: l.burst.0 as u32 };
            crate::Loss { model, applies: applies(l.direction), flow: flow(&l.flow) }
        }
    }
}
