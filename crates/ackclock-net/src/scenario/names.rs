//! The names of nodes and flows. In a name that stands for many, `{}` is the number of the copy.

use std::collections::HashMap;

use crate::NodeId;

/// The name of copy `index`.
pub(super) fn expand(pattern: &str, index: u32) -> String {
    pattern.replace("{}", &index.to_string())
}

/// Whether the pattern gives each copy another name.
pub(super) fn numbered(pattern: &str) -> bool {
    pattern.contains("{}")
}

/// The names of a scenario with every `count` unfolded.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Nodes in the order of their numbers.
    pub(crate) nodes: Vec<String>,
    node_numbers: HashMap<String, u32>,
    /// Flows, then CBR streams, in the order of their numbers.
    pub(crate) flows: Vec<String>,
    flow_numbers: HashMap<String, u32>,
}

impl Names {
    /// The number of the node of this name.
    pub(crate) fn node(&self, name: &str) -> Option<u32> {
        self.node_numbers.get(name).copied()
    }

    /// The node that copy `copy` of a link or flow joins. Its name has been checked.
    pub(super) fn end(&self, pattern: &str, copy: u32) -> NodeId {
        NodeId(self.node(&expand(pattern, copy)).unwrap_or_default())
    }

    /// The number of the flow of this name.
    pub(crate) fn flow(&self, name: &str) -> Option<u32> {
        self.flow_numbers.get(name).copied()
    }

    /// Adds a node; false if there already is one of this name.
    pub(super) fn add_node(&mut self, name: String) -> bool {
        let number = self.nodes.len() as u32;
        if self.node_numbers.contains_key(&name) {
            return false;
        }
        self.node_numbers.insert(name.clone(), number);
        self.nodes.push(name);
        true
    }

    /// Adds a flow; false if there already is one of this name.
    pub(super) fn add_flow(&mut self, name: String) -> bool {
        let number = self.flows.len() as u32;
        self.flows.push(name.clone());
        self.flow_numbers.insert(name, number).is_none()
    }
}
