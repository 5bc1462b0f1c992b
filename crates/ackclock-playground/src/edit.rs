//! A scenario, and what the reader of the page has changed in it.

use ackclock_net::scenario::units::Duration;
use ackclock_net::scenario::{
    BuildOptions, BuiltFlow, DropList, Fate, Link, Loss, Retransmission, Scenario,
};
use ackclock_run::set;
use ackclock_tcp::Registry;
use serde::{Deserialize, Serialize};
use toml::Value;

use crate::read;

/// What is changed in a scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Edits {
    /// Keys by their path, such as `link[1].rate`, with their values as TOML has them.
    pub set: Vec<(String, String)>,
    /// The link on which single packets are lost and late, as it is counted in the scenario.
    pub link: usize,
    /// Transmissions that are lost there: the segment, from 0, and which transmission, from 1.
    pub lost: Vec<(u64, u32)>,
    /// ACKs that are lost there, by their number among those that come to the link, from 1.
    pub lost_acks: Vec<u64>,
    /// Packets that are late there.
    pub late: Vec<Late>,
}

/// A packet that is late: a transmission of a segment, or an ACK.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Late {
    /// The segment and which transmission of it; `None` of an ACK.
    pub segment: Option<(u64, u32)>,
    /// The number of the ACK; `None` of a segment.
    pub ack: Option<u64>,
    /// How much later, such as `40ms`.
    pub by: String,
}

/// A scenario without what can be clicked away, and that as edits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Opened {
    /// The rest of the scenario.
    pub text: String,
    /// The same as a value.
    pub scenario: Scenario,
    /// Its listed losses and fates.
    pub edits: Edits,
}

/// Takes a scenario apart.
///
/// # Errors
/// What is wrong with it.
pub fn opened(text: &str) -> Result<Opened, String> {
    let registry = Registry::default();
    let mut scenario = read(text, &registry)?;
    let flow = first_flow(&scenario, &registry)?;
    let link = lossy_link(&scenario);
    let mut edits = Edits { link, ..Edits::default() };
    let ours = |name: &Option<String>| name.as_ref().is_none_or(|name| *name == flow.name);
    if let Some(link) = scenario.links.get_mut(link) {
        link.loss.retain(|loss| match loss {
            Loss::Drop(list) if ours(&list.flow) => {
                edits.lost.extend(list.segments.iter().map(|&segment| (segment, 1)));
                let again = list.retransmissions.iter().map(|r| (r.segment, r.nth + 1));
                edits.lost.extend(again);
                false
            }
            _ => true,
        });
        link.fates.retain(|fate| {
            if !ours(&fate.flow) {
                return true;
            }
            let segment = fate.segment.map(|segment| (segment, fate.transmission.unwrap_or(1)));
            match (segment, fate.ack, fate.late) {
                (Some(segment), _, None) => edits.lost.push(segment),
                (None, Some(ack), None) => edits.lost_acks.push(ack),
                (segment, ack, Some(by)) => {
                    edits.late.push(Late { segment, ack, by: by.to_string() });
                }
                (None, None, None) => {}
            }
            false
        });
    }
    edits.lost.sort_unstable();
    edits.lost.dedup();
    // It may say what was lost.
    scenario.name.clear();
    let text = scenario.to_toml().map_err(|error| error.to_string())?;
    Ok(Opened { text, scenario, edits })
}

/// The scenario with these edits, as TOML that the command reads.
///
/// # Errors
/// What is wrong with it, or with an edit.
pub fn edited(text: &str, edits: &Edits) -> Result<String, String> {
    let registry = Registry::default();
    // First without edits, for errors with lines.
    let mut scenario = read(text, &registry)?;
    if !edits.set.is_empty() {
        let mut table = text.parse().unwrap_or_default();
        for (key, written) in &edits.set {
            set(&mut table, key, value(written)).map_err(|error| format!("{key}: {error}"))?;
        }
        scenario = read(&table.to_string(), &registry)?;
    }
    let flow = first_flow(&scenario, &registry)?;
    let others = scenario.flows.len() + scenario.cbrs.len() > 1;
    let count = scenario.links.len();
    let link = scenario
        .links
        .get_mut(edits.link)
        .ok_or_else(|| format!("there is no link {}; there are {count}", edits.link))?;
    put(link, edits, others.then_some(flow.name))?;
    scenario.check(&registry).map_err(|error| error.to_string())?;
    scenario.to_toml().map_err(|error| error.to_string())
}

/// Puts losses and delays of single packets onto a link, of the flow of this name alone if there is
/// one.
fn put(link: &mut Link, edits: &Edits, flow: Option<String>) -> Result<(), String> {
    let (first, again): (Vec<_>, Vec<_>) = edits.lost.iter().partition(|(_, nth)| *nth <= 1);
    if !edits.lost.is_empty() {
        let mut list = DropList::default();
        list.segments = first.iter().map(|(segment, _)| *segment).collect();
        list.retransmissions = again
            .iter()
            .map(|(segment, nth)| Retransmission { segment: *segment, nth: nth - 1 })
            .collect();
        list.flow.clone_from(&flow);
        link.loss.push(Loss::Drop(list));
    }
    for ack in &edits.lost_acks {
        let mut fate = Fate::default();
        (fate.ack, fate.lose) = (Some(*ack), true);
        fate.flow.clone_from(&flow);
        link.fates.push(fate);
    }
    for late in &edits.late {
        let by: Duration = late.by.parse().map_err(|error| format!("{}: {error}", late.by))?;
        let mut fate = Fate::default();
        fate.segment = late.segment.map(|(segment, _)| segment);
        fate.transmission = late.segment.map(|(_, nth)| nth).filter(|nth| *nth > 1);
        (fate.ack, fate.late) = (late.ack, Some(by));
        fate.flow.clone_from(&flow);
        link.fates.push(fate);
    }
    Ok(())
}

/// As TOML has it, if it is TOML, and else a text.
fn value(written: &str) -> Value {
    let read = format!("value = {written}").parse::<toml::Table>().ok();
    let value = read.filter(|table| table.len() == 1).and_then(|mut t| t.remove("value"));
    value.unwrap_or_else(|| Value::String(written.into()))
}

/// The link whose losses are listed, or else the slowest one.
fn lossy_link(scenario: &Scenario) -> usize {
    let listed = |link: &Link| {
        !link.fates.is_empty() || link.loss.iter().any(|loss| matches!(loss, Loss::Drop(_)))
    };
    let links = || scenario.links.iter().enumerate();
    let slowest = || links().min_by_key(|(_, link)| link.rate.0);
    links().find(|(_, link)| listed(link)).or_else(slowest).map_or(0, |(index, _)| index)
}

/// The flow that the page shows.
fn first_flow(scenario: &Scenario, registry: &Registry) -> Result<BuiltFlow, String> {
    let built = scenario
        .build(&BuildOptions::new(registry, scenario.seed))
        .map_err(|error| error.to_string())?;
    built.flows.into_iter().next().ok_or_else(|| "there is no `[[flow]]` to show".into())
}
