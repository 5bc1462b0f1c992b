//! Routes. A route has the fewest hops. Of equally short ones, it is the one whose links were
//! created first.

use std::collections::{HashMap, VecDeque};

/// Links by the node that they leave and by the node that they enter.
pub(crate) struct Topology {
    /// `(from, to)` of each link.
    links: Vec<(u32, u32)>,
    leaving: Vec<Vec<u32>>,
    entering: Vec<Vec<u32>>,
    /// Routes already found between nodes where there was something to choose.
    found: HashMap<(u32, u32), Option<Vec<u32>>>,
}

impl Topology {
    /// Every node of `links` is below `nodes`.
    pub(crate) fn new(nodes: usize, links: Vec<(u32, u32)>) -> Self {
        let mut leaving = vec![Vec::new(); nodes];
        let mut entering = vec![Vec::new(); nodes];
        // A host's processor is a link from the host to itself, and on no route.
        for (link, &(from, to)) in links.iter().enumerate().filter(|(_, (from, to))| from != to) {
            leaving[from as usize].push(link as u32);
            entering[to as usize].push(link as u32);
        }
        Topology { links, leaving, entering, found: HashMap::new() }
    }

    /// The links from one node to another, in order; `None` if there is no route.
    ///
    /// A node with one link leaves no choice, so that link is taken without a search, from both
    /// ends on. Thousands of hosts around two routers then cost one search.
    pub(crate) fn route(&mut self, from: u32, to: u32) -> Option<Vec<u32>> {
        let (mut first, mut last) = (from, to);
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        for _ in 0..self.leaving.len() {
            if first == last {
                break;
            }
            if let [only] = self.leaving[first as usize][..] {
                head.push(only);
                first = self.links[only as usize].1;
            } else if let [only] = self.entering[last as usize][..] {
                tail.push(only);
                last = self.links[only as usize].0;
            } else {
                break;
            }
        }
        if !self.found.contains_key(&(first, last)) {
            let route = self.search(first, last);
            self.found.insert((first, last), route);
        }
        head.extend_from_slice(self.found.get(&(first, last))?.as_deref()?);
        head.extend(tail.iter().rev());
        Some(head)
    }

    /// Breadth-first search.
    fn search(&self, from: u32, to: u32) -> Option<Vec<u32>> {
        let mut by: Vec<Option<u32>> = vec![None; self.leaving.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            if node == to {
                let mut route = Vec::new();
                let mut at = to;
                while at != from {
                    let link = by[at as usize]?;
                    route.push(link);
                    at = self.links[link as usize].0;
                }
                route.reverse();
                return Some(route);
            }
            for &link in &self.leaving[node as usize] {
                let next = self.links[link as usize].1;
                if next != from && by[next as usize].is_none() {
                    by[next as usize] = Some(link);
                    queue.push_back(next);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
