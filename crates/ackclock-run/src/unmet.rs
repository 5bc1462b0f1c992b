//! What a scenario has in store for packets, and no packet met; and what it has too late.

use std::collections::BTreeMap;

use ackclock_net::scenario::units::Duration;
use ackclock_net::scenario::{Loss, Queue, Simulation, Source, UnmetDrop, Write};
use ackclock_net::{LinkReport, ListedLoss};

use crate::{FileError, Input, error_at};

/// What a scenario has in store for packets, and no packet met.
#[derive(Clone, Debug, Default)]
pub struct Unmet {
    /// `[[link.fate]]`s: the link's place in the scenario, and the fate's in the link.
    pub fates: Vec<(usize, usize)>,
    /// Entries of drop lists.
    pub drops: Vec<UnmetDrop>,
    /// Segments of `reorder`, after the link's place in the scenario.
    pub segments: Vec<(usize, u64)>,
    /// `[[link]]`s that no packet came to.
    pub links: Vec<usize>,
    /// `[[link]]`s whose queue let none of the packets in that came in a direction.
    pub queues: Vec<usize>,
    /// How many flows of each `[[flow]]` begin when the run ends, or later.
    pub flows: Vec<usize>,
}

impl Unmet {
    /// Of a run that is over.
    pub(crate) fn of(simulation: &Simulation) -> Unmet {
        Unmet {
            fates: simulation.unmet_fates(),
            drops: simulation.unmet_drops(),
            segments: simulation.unmet_segments(),
            flows: simulation.late_flows(),
            ..idle(simulation)
        }
    }
}

impl Input<'_> {
    /// Which `[[link.fate]]`s, which entries of lists and which links no packet met, and in how
    /// many of these runs; which queues hold no packet; and what begins once they have ended.
    pub fn unmet<'a>(&self, of_runs: impl IntoIterator<Item = &'a Unmet>) -> Vec<FileError> {
        let runs: Vec<&Unmet> = of_runs.into_iter().collect();
        let of = |count: usize| match runs.len() {
            1 => String::new(),
            all => format!(" in {count} of {all} runs"),
        };
        let told = |key: &str, what: &str, count: usize| {
            self.located(error_at(key, format!("no packet met {what}{}", of(count))))
        };
        let fate = |(&(link, fate), count)| {
            told(&format!("link[{link}].fate[{fate}]"), "this fate", count)
        };
        let fates = counted(&runs, |run| &run.fates);
        let mut errors: Vec<FileError> = fates.into_iter().map(fate).collect();
        let mut lists: BTreeMap<_, Vec<ListedLoss>> = BTreeMap::new();
        for (drop, count) in counted(&runs, |run| &run.drops) {
            lists.entry((drop.link, drop.loss, count)).or_default().push(drop.entry);
        }
        errors.extend(lists.into_iter().map(|((link, loss, count), entries)| {
            let what = format!("{} of this list", listed(&entries));
            told(&format!("link[{link}].loss[{loss}].drop"), &what, count)
        }));
        let mut listed_late: BTreeMap<_, Vec<ListedLoss>> = BTreeMap::new();
        for (&(link, segment), count) in counted(&runs, |run| &run.segments) {
            let entry = ListedLoss { segment, transmission: 1 };
            listed_late.entry((link, count)).or_default().push(entry);
        }
        errors.extend(listed_late.into_iter().map(|((link, count), entries)| {
            let what = format!("{} of this list", listed(&entries));
            told(&format!("link[{link}].reorder.segments"), &what, count)
        }));
        let queues = counted(&runs, |run| &run.queues).into_iter();
        errors.extend(queues.filter(|(link, _)| self.is_small(**link)).map(|(link, count)| {
            let message = format!("no packet had room in this queue{}", of(count));
            self.located(error_at(&format!("link[{link}].queue"), message))
        }));
        let links = counted(&runs, |run| &run.links).into_iter();
        errors.extend(links.map(|(&link, count)| {
            let why = match self.there_and_back(link) {
                Some(first) => {
                    format!("link[{first}] carries both directions unless it has `duplex = false`")
                }
                None => "a route has the fewest links, and of several between two nodes the first"
                    .into(),
            };
            let message = format!("no packet came here{}; {why}", of(count));
            self.located(error_at(&format!("link[{link}]"), message))
        }));
        errors.extend(self.too_late());
        errors.extend(self.late_flows(&runs));
        errors
    }

    /// The link that comes before this one, leads the other way and carries both directions.
    fn there_and_back(&self, link: usize) -> Option<usize> {
        let links = &self.scenario.links;
        let (from, to) = links.get(link).map(|link| (&link.from, &link.to))?;
        let ways = [(from, to), (to, from)];
        let first = links[..link].iter().position(|l| ways.contains(&(&l.from, &l.to)))?;
        (links[first].duplex && links[first].from == *to).then_some(first)
    }

    /// Whether the queue of a link may be too small for a packet.
    fn is_small(&self, link: usize) -> bool {
        let queue = self.scenario.links.get(link).and_then(|link| link.queue.as_ref());
        matches!(queue, Some(Queue::Droptail(queue)) if queue.bytes.is_some())
    }

    /// What begins once the run has ended.
    fn too_late(&self) -> impl Iterator<Item = FileError> {
        let end = self.scenario.duration;
        let links = self.scenario.links.iter().enumerate().flat_map(|(i, link)| {
            let spikes = link.spikes.iter().map(|spike| (spike.at, "spikes", "at"));
            let losses = link.loss.iter().enumerate().filter_map(move |(j, loss)| match loss {
                Loss::ThreeState(l) => Some((j, (l.second_at, "loss", "three_state.second_at"))),
                _ => None,
            });
            let changes = link.changes.iter().map(|change| (change.at, "change", "at"));
            let outages = link.outages.iter().map(|outage| (outage.from, "outage", "from"));
            let all = changes.enumerate().chain(outages.enumerate()).chain(spikes.enumerate());
            all.chain(losses).map(move |(j, (begins, what, key))| {
                (begins, format!("link[{i}].{what}[{j}].{key}"))
            })
        });
        let flows = self.scenario.flows.iter().enumerate().flat_map(move |(i, flow)| {
            let writes: &[Write] = match &flow.source {
                Source::Writes(writes) if flow.start.0 < end.0 => writes,
                _ => &[],
            };
            let writes = writes.iter().enumerate().map(move |(j, write)| {
                let at = Duration(flow.start.0 + write.at.0);
                (at, format!("flow[{i}].source.writes[{j}].at"))
            });
            [(flow.start, format!("flow[{i}].start"))].into_iter().chain(writes)
        });
        let cbrs = self.scenario.cbrs.iter().map(|cbr| cbr.start).enumerate();
        let cbrs = cbrs.map(|(i, begins)| (begins, format!("cbr[{i}].start")));
        let late = links.chain(flows).chain(cbrs).filter(move |(begins, _)| begins.0 >= end.0);
        late.map(move |(begins, key)| {
            // What is due when the run ends still happens.
            let message = match begins.0 == end.0 {
                true => format!("this begins when the run ends, at {end}"),
                false => format!("the run ends before this, at {end}"),
            };
            self.located(error_at(&key, message))
        })
    }

    /// Copies of a flow that begin too late, where its first one need not.
    fn late_flows(&self, runs: &[&Unmet]) -> impl Iterator<Item = FileError> {
        let end = self.scenario.duration;
        let flows = self.scenario.flows.iter().enumerate();
        flows.filter(move |(_, flow)| flow.start.0 < end.0).filter_map(move |(i, flow)| {
            let counts = || runs.iter().filter_map(|run| run.flows.get(i));
            let (least, most) = (counts().min()?, counts().max()?);
            let number = match (least, most) {
                (_, 0) => return None,
                (least, most) if least == most => most.to_string(),
                _ => format!("{least} to {most}"),
            };
            let message = format!(
                "{number} of {} flows begin when the run ends, at {end}, or later",
                flow.count
            );
            Some(self.located(error_at(&format!("flow[{i}]"), message)))
        })
    }
}

/// In how many of the runs each of these is.
fn counted<'a, T: Ord>(
    runs: &[&'a Unmet],
    list: impl Fn(&'a Unmet) -> &'a Vec<T>,
) -> BTreeMap<&'a T, usize> {
    let mut counts = BTreeMap::new();
    runs.iter().flat_map(|run| list(run)).for_each(|one| *counts.entry(one).or_insert(0) += 1);
    counts
}

/// Entries of a drop list as scenarios have them: `14`, `16-20`, and `14:1` for a retransmission.
fn listed(entries: &[ListedLoss]) -> String {
    let follows = |a: &ListedLoss, b: &ListedLoss| {
        (a.transmission, b.transmission) == (1, 1) && b.segment - a.segment == 1
    };
    let (first, again): (Vec<ListedLoss>, Vec<_>) =
        entries.iter().partition(|entry| entry.transmission == 1);
    let ranges = first.chunk_by(follows).map(|range| match range {
        [one] => one.segment.to_string(),
        [one, .., last] => format!("{}-{}", one.segment, last.segment),
        [] => String::new(),
    });
    let again = again.iter().map(|entry| format!("{}:{}", entry.segment, entry.transmission - 1));
    ranges.chain(again).collect::<Vec<_>>().join(", ")
}

/// The links that no packet passed.
fn idle(simulation: &Simulation) -> Unmet {
    let mut idle = Unmet::default();
    for links in simulation.links.chunk_by(|a, b| a.entry == b.entry) {
        let report = |back: bool| {
            let links = links.iter().filter(move |link| link.back == back);
            let reports = links.filter_map(|link| simulation.network.link_report(link.id));
            reports.fold([0; 4], |[came, lost, full, departed], r| {
                let LinkReport { packets, dropped_loss, dropped_queue, .. } = r;
                let departed = departed + r.departed;
                [came + packets, lost + dropped_loss, full + dropped_queue, departed]
            })
        };
        let ways = [false, true].map(report);
        if ways.iter().all(|[came, lost, ..]| came + lost == 0) {
            idle.links.push(links[0].entry);
        }
        if ways.iter().any(|[_, _, full, departed]| *full > 0 && *departed == 0) {
            idle.queues.push(links[0].entry);
        }
    }
    idle
}
