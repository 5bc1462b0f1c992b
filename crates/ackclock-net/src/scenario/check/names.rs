//! Names of nodes and flows: each is there, and there once.

use std::collections::HashMap;

use super::ranges::{MOST, count, total};
use crate::scenario::error::{Checked, fail, nearest};
use crate::scenario::model::Scenario;
use crate::scenario::names::{Names, expand, numbered};
use crate::scenario::path::{Step, child, steps};

/// Adds the nodes of a scenario, and checks that its links join two of them.
pub(super) fn check_nodes(scenario: &Scenario, names: &mut Names) -> Checked {
    for (i, node) in scenario.nodes.iter().enumerate() {
        let at = steps!["node", i];
        count(node.count, MOST, &child(&at, "count"))?;
        if node.name.is_empty() {
            fail(&child(&at, "name"), "a node needs a name")?;
        }
        for copy in 0..node.count {
            let name = expand(&node.name, copy);
            if !names.add_node(name.clone()) {
                fail(
                    &child(&at, "name"),
                    format!(
                        "there already is a node `{name}`; `{{}}` in a name numbers the copies"
                    ),
                )?;
            }
        }
        total(names.nodes.len(), "nodes", &at)?;
    }
    let declared = !scenario.nodes.is_empty();
    let mut links = 0;
    for (i, link) in scenario.links.iter().enumerate() {
        let at = steps!["link", i];
        count(link.count, MOST, &child(&at, "count"))?;
        links += link.count as usize;
        total(links, "links", &at)?;
        if link.count > 1 && !numbered(&link.from) && !numbered(&link.to) {
            fail(
                &child(&at, "count"),
                "copies of a link need `{}` in `from` or `to`, so that they join different nodes",
            )?;
        }
        for copy in 0..link.count {
            let ends = [("from", expand(&link.from, copy)), ("to", expand(&link.to, copy))];
            if ends[0].1 == ends[1].1 {
                fail(&at, format!("this link joins `{}` to itself", ends[0].1))?;
            }
            for (key, end) in ends {
                if declared {
                    known_node(names, &end, &child(&at, key))?;
                } else if end.is_empty() {
                    fail(&child(&at, key), "a node needs a name")?;
                } else {
                    names.add_node(end);
                }
            }
        }
    }
    Ok(())
}

/// The name of copy `copy` of a flow that is number `number` of its kind.
fn flow_name(name: Option<&str>, kind: &str, number: usize, copies: u32, copy: u32) -> String {
    match name {
        None => format!("{kind}{number}"),
        Some(name) if numbered(name) => expand(name, copy),
        Some(name) if copies > 1 => format!("{name}{copy}"),
        Some(name) => name.to_string(),
    }
}

/// Adds the names of flows and of CBR streams.
pub(super) fn name_flows(scenario: &Scenario, names: &mut Names) -> Checked {
    let flows =
        scenario.flows.iter().enumerate().map(|(i, f)| ("flow", i, f.name.as_deref(), f.count));
    let cbrs =
        scenario.cbrs.iter().enumerate().map(|(i, c)| ("cbr", i, c.name.as_deref(), c.count));
    let mut numbers = HashMap::from([("flow", 0), ("cbr", 0)]);
    for (kind, i, name, copies) in flows.chain(cbrs) {
        let at = steps![kind, i];
        count(copies, MOST, &child(&at, "count"))?;
        for copy in 0..copies {
            let number = numbers.entry(kind).or_default();
            let name = flow_name(name, kind, *number, copies, copy);
            *number += 1;
            if !names.add_flow(name.clone()) {
                fail(&child(&at, "name"), format!("there already is a flow `{name}`"))?;
            }
        }
        total(names.flows.len(), "flows", &at)?;
    }
    Ok(())
}

/// Checks that there is a node of this name.
pub(super) fn known_node(names: &Names, name: &str, path: &[Step]) -> Checked {
    if names.node(name).is_some() {
        return Ok(());
    }
    // A list of thousands helps nobody.
    let some: Vec<&String> = names.nodes.iter().take(1000).collect();
    let hint = match nearest(name, &some) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.nodes.is_empty() => "there are no links".into(),
        None => {
            let shown =
                names.nodes.iter().take(8).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
            format!("there are {shown}{}", if names.nodes.len() > 8 { ", ..." } else { "" })
        }
    };
    fail(path, format!("there is no node `{name}`; {hint}"))
}

/// Checks the ends of a flow or CBR stream.
pub(super) fn check_ends(from: &str, to: &str, copies: u32, names: &Names, at: &[Step]) -> Checked {
    for copy in 0..copies {
        let (from, to) = (expand(from, copy), expand(to, copy));
        known_node(names, &from, &child(at, "from"))?;
        known_node(names, &to, &child(at, "to"))?;
        if from == to {
            fail(at, format!("both ends are `{from}`"))?;
        }
    }
    Ok(())
}
