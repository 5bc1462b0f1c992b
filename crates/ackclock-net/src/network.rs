//! The network and its event loop.

use ackclock_tcp::Time;

use crate::config::{CbrConfig, FlowConfig, FlowId, LinkConfig, LinkId, NodeId};
use crate::error::Error;
use crate::recorder::Recorder;
use crate::report::{FlowReport, LinkReport};

/// A network of hosts, routers, links and flows.
///
/// The same calls with the same seed give the same run, to the last bit, on every machine.
pub struct Network {}

impl Network {
    /// An empty network at time zero.
    pub fn new(_seed: u64) -> Self {
        todo!()
    }

    /// Adds a host or router. Its name names the random numbers of its links.
    pub fn node(&mut self, _name: &str) -> NodeId {
        todo!()
    }

    /// Adds one direction of a link.
    pub fn link(&mut self, _config: LinkConfig) -> LinkId {
        todo!()
    }

    /// Adds a link and its mirror image; the first id is the direction of `config`.
    pub fn duplex(&mut self, _config: LinkConfig) -> (LinkId, LinkId) {
        todo!()
    }

    /// Adds a connection.
    pub fn flow(&mut self, _config: FlowConfig) -> FlowId {
        todo!()
    }

    /// Adds a CBR stream.
    pub fn cbr(&mut self, _config: CbrConfig) -> FlowId {
        todo!()
    }

    /// Runs until `until`, events at that time included. May be called again with a later time.
    ///
    /// # Errors
    /// When a flow has no route or a setting is out of its range; nothing has happened then.
    pub fn run<R: Recorder>(&mut self, _until: Time, _recorder: &mut R) -> Result<(), Error> {
        todo!()
    }

    /// What became of a flow so far; `None` if there is no such flow.
    pub fn flow_report(&self, _flow: FlowId) -> Option<FlowReport> {
        todo!()
    }

    /// What became of the packets of a link so far; `None` if there is no such link.
    pub fn link_report(&self, _link: LinkId) -> Option<LinkReport> {
        todo!()
    }
}
