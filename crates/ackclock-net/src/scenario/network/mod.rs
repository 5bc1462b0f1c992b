//! From a scenario to a network ready to run.

mod flow;
mod link;
mod source;
mod varying;

use ackclock_tcp::Time;

use super::check::check;
use super::error::ScenarioError;
use super::model::{Link, Scenario};
use super::names::{Names, expand};
use super::path::steps;
use super::simulation::{BuildOptions, BuiltLink, Simulation};
use crate::{Error, FlowId, Network, Processor};
use flow::{FlowBuilder, build_cbr};
use link::build_link;

#[cfg(test)]
pub(super) use {link::delay, source::build_distribution};

impl Scenario {
    /// A network ready to run.
    ///
    /// # Errors
    /// As [`Scenario::check`], and when `options.strategy` is not a strategy.
    pub fn build(&self, options: &BuildOptions<'_>) -> Result<Simulation, ScenarioError> {
        let names = check(self)?;
        self.check_traces()?;
        self.check_delivers()?;
        let (mut network, links) = self.build_links(&names, options.seed);
        let mut idle = network.idle_paths();
        self.build_processors(&names, &mut network);
        let mut numbers = 0_u32..;
        let mut flows = Vec::with_capacity(names.flows.len());
        let mut compositions = Vec::with_capacity(self.flows.len());
        for (i, flow) in self.flows.iter().enumerate() {
            let build = FlowBuilder::new(self, i, flow, options)?;
            let starts = build.starts(&names.flows[numbers.start as usize]);
            compositions.push((FlowId(numbers.start), build.composition()));
            for ((copy, start), number) in (0..).zip(starts).zip(&mut numbers) {
                let (config, built) = build.flow(copy, FlowId(number), start, &names, &mut idle);
                network.flow(config);
                flows.push(built);
            }
        }
        for cbr in &self.cbrs {
            for (copy, number) in (0..cbr.count).zip(&mut numbers) {
                network.cbr(build_cbr(cbr, copy, number, &names));
            }
        }
        let until = Time::ZERO + self.duration.0;
        Ok(Simulation { network, flows, links, until, compositions })
    }

    /// A network of nodes and links only.
    pub(crate) fn build_links(&self, names: &Names, seed: u64) -> (Network, Vec<BuiltLink>) {
        let mut network = Network::new(seed);
        let of = |link: &Link| link.count as usize * (1 + usize::from(link.duplex));
        let count = self.links.iter().map(of).sum();
        network.reserve(count, names.flows.len());
        for name in &names.nodes {
            network.node(name);
        }
        let mut links = Vec::with_capacity(count);
        for (entry, link) in self.links.iter().enumerate() {
            build_link(entry, link, names, &mut network, &mut links);
        }
        (network, links)
    }

    fn build_processors(&self, names: &Names, network: &mut Network) {
        for node in &self.nodes {
            let Some(processor) = node.processor else { continue };
            let processor = Processor {
                send: processor.send.0,
                receive: processor.receive.0,
                sack_block: processor.sack_block.0,
            };
            for copy in 0..node.count {
                network.processor(names.end(&node.name, copy), processor);
            }
        }
    }

    /// What an error of the network means for this scenario.
    pub fn explain(&self, error: &Error) -> ScenarioError {
        let (from, to) = match error {
            Error::NoRoute { from, to } => (from, to),
            Error::Stands { flow, .. } => {
                let mut numbers = self.flows.iter().scan(0, |next, f| {
                    *next += f.count;
                    Some(*next)
                });
                let i = numbers.position(|next| flow.0 < next).unwrap_or(0);
                return ScenarioError::at(&steps!["flow", i], error.to_string());
            }
            _ => return ScenarioError::at(&[], error.to_string()),
        };
        let flows =
            self.flows.iter().enumerate().map(|(i, f)| ("flow", i, &f.from, &f.to, f.count));
        let cbrs = self.cbrs.iter().enumerate().map(|(i, c)| ("cbr", i, &c.from, &c.to, c.count));
        for (kind, i, f, t, count) in flows.chain(cbrs) {
            let joins = |copy: u32| {
                let ends = (expand(f, copy), expand(t, copy));
                ends == (from.clone(), to.clone()) || ends == (to.clone(), from.clone())
            };
            if (0..count).any(joins) {
                return ScenarioError::at(&steps![kind, i], error.to_string());
            }
        }
        ScenarioError::at(&[], error.to_string())
    }
}
