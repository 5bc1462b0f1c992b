use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashSet};

use super::*;

/// Hosts of a few networks, each with each, by the same ports.
#[test]
fn hashes_differ() {
    let v4 = |host: u64| (0, 0x0a00_0000 + host % 64 + host / 64 * 256);
    let v6 = |host: u64| (0x2001_0db8_0000_0000 + host / 64, host % 64);
    for of in [v4, v6] {
        let hosts: Vec<_> = (0..256).map(of).collect();
        let pairs = hosts.iter().flat_map(|low| hosts.iter().map(move |high| (*low, *high)));
        let keys = pairs.map(|(low, high)| Key { low, high, ports: (443 << 16) + 50_000 });
        let hashes: FxHashSet<u64> = keys.map(|key| FxBuildHasher.hash_one(key)).collect();
        assert_eq!(hashes.len(), 256 * 256);
    }
}
