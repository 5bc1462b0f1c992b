use super::{LEAST, Memory, TIME_WAIT};

/// Buffers of 4 MiB that nobody empties, one after the other: each takes what it is granted.
#[test]
fn the_more_is_in_use_the_less_a_buffer_gets() {
    let mut memory = Memory::new(1 << 30);
    let mut grants: Vec<(usize, usize)> = Vec::new();
    for _ in 0..2000 {
        let grant = memory.grant().min(4 << 20);
        memory.account(0, grant);
        match grants.last_mut() {
            Some((size, times)) if *size == grant => *times += 1,
            _ => grants.push((grant, 1)),
        }
    }
    let kib: Vec<_> = grants.iter().map(|(size, times)| (size >> 10, *times)).collect();
    let expected = [
        (4096, 193),
        (2048, 63),
        (1024, 63),
        (512, 63),
        (256, 63),
        (128, 63),
        (64, 63),
        (32, 63),
        (16, 63),
        (8, 1303),
    ];
    assert_eq!(kib, expected);
    // All that is beyond the budget is what everybody has.
    assert!(memory.used() <= (1 << 30) + 1303 * LEAST);
    memory.account(memory.used(), 0);
    assert_eq!(memory.grant(), 16 << 20);
}

#[test]
fn without_a_budget_everything_is_granted() {
    assert!(Memory::new(usize::MAX).grant() >= 1 << 50);
    assert_eq!(Memory::new(0).grant(), LEAST);
}

/// However little is left for buffers.
#[test]
fn time_wait_keeps_its_share() {
    let mut memory = Memory::new(1 << 20);
    memory.budget = 0;
    let waits = (0..1000).filter(|_| memory.may_wait()).count();
    assert_eq!((waits, memory.used()), ((1 << 17) / TIME_WAIT, 170 * TIME_WAIT));
}
