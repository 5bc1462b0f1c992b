use super::*;

fn route(nodes: usize, links: &[(u32, u32)], from: u32, to: u32) -> Option<Vec<u32>> {
    Topology::new(nodes, links.to_vec()).route(from, to)
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
    let links =
        vec![(0, 1), (1, 0), (2, 0), (0, 2), (3, 0), (0, 3), (4, 1), (1, 4), (5, 1), (1, 5)];
    let mut topology = Topology::new(6, links);
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
