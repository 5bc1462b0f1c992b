use super::{Budget, least};

#[test]
fn connections_take_half_at_most() {
    // 10,000 connections take 470 MiB.
    let all = 2 << 30;
    let fixed = 12_048 * 40 * 1024;
    let buffers = all - (16 << 20) - fixed;
    let connections = 10_000;
    let expected = Budget { all, buffers, connections, waiting: 1024 };
    assert_eq!(Budget::new(all, 10_000, 1), expected);
    let all = 176 << 20;
    let expected = Budget { all, buffers: 80 << 20, connections: 1024, waiting: 512 };
    assert_eq!(Budget::new(all, 10_000, 1), expected);
    let expected = Budget { all: 0, buffers: 0, connections: 1, waiting: 1 };
    assert_eq!(Budget::new(0, 10, 1), expected);
    // Each further queue takes 3 MiB.
    let all = (176 + 9) << 20;
    let expected = Budget { all, buffers: 80 << 20, connections: 1024, waiting: 512 };
    assert_eq!(Budget::new(all, 10_000, 4), expected);
    assert_eq!([1, 4].map(least), [32 << 20, 41 << 20]);
}
