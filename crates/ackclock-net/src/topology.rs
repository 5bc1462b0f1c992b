//! Routes: the fewest hops; of equally short ones, the one whose links were created first.

use std::collections::{HashMap, VecDeque};

/// Links by the node that they leave and by the node that they enter.
pub(crate) struct Topology<'a> {
    /// `(from, to)` of each link.
    links: &'a [(u32, u32)],
    leaving: Vec<Vec<u32>>,
    entering: Vec<Vec<u32>>,
    /// Routes already found between nodes where there was something to choose.
    found: HashMap<(u32, u32), Option<Vec<u32>>>,
}

impl<'a> Topology<'a> {
    /// Every node of `links` is below `nodes`.
    pub(crate) fn new(nodes: usize, links: &'a [(u32, u32)]) -> Self {
        let mut leaving = vec![Vec::new(); nodes];
        let mut entering = vec![Vec::new(); nodes];
        for (link, &(from, to)) in links.iter().enumerate() {
            leaving[from as usize].push(link as u32);
            entering[to as usize].push(link as u32);
        }
        Topology { links, leaving, entering, found: HashMap::new() }
    }

    /// The links from one node to another, in order; `None` if there is no way.
    ///
    /// From both ends on, the only link of a node with one link is taken unseen: thousands of hosts around two routers
    /// then cost one search.
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
mod tests {
    use super::*;

    fn route(nodes: usize, links: &[(u32, u32)], from: u32, to: u32) -> Option<Vec<u32>> {
        Topology::new(nodes, links).route(from, to)
    }

    #[test]
    fn fewest_hops_then_first_created() {
        // 0 -> 1 -> 2 -> 4, 0 -> 3 -> 4, 0 -> 5 -> 4
        let links = [(0, 1), (1, 2), (2, 4), (0, 5), (5, 4), (0, 3), (3, 4)];
        assert_eq!(route(6, &links, 0, 4), Some(vec![3, 4]));
        assert_eq!(route(6, &links, 0, 2), Some(vec![0, 1]));
        assert_eq!(route(6, &links, 4, 0), None);
    }

    #[test]
    fn dumbbell() {
        // Hosts 2 and 3 at router 0, hosts 4 and 5 at router 1.
        let links = [(0, 1), (1, 0), (2, 0), (0, 2), (3, 0), (0, 3), (4, 1), (1, 4), (5, 1), (1, 5)];
        let mut topology = Topology::new(6, &links);
        assert_eq!(topology.route(2, 4), Some(vec![2, 0, 7]));
        assert_eq!(topology.route(5, 3), Some(vec![8, 1, 5]));
        assert_eq!(topology.route(2, 3), Some(vec![2, 5]));
        assert_eq!(topology.route(2, 2), Some(vec![]));
    }

    #[test]
    fn one_way_rings_and_dead_ends_end() {
        assert_eq!(route(4, &[(0, 1), (1, 2), (2, 0)], 0, 3), None);
        assert_eq!(route(4, &[(0, 1), (1, 2), (2, 0)], 0, 2), Some(vec![0, 1]));
        assert_eq!(route(3, &[(0, 1)], 0, 2), None);
        assert_eq!(route(3, &[], 0, 2), None);
    }
}
