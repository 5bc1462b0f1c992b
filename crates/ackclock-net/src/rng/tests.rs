use super::*;

#[test]
fn a_stream_depends_on_seed_and_id_alone() {
    let draw = |seed, id| Rng::new(seed, id).0.next_u64();
    assert_eq!(draw(1, "a"), draw(1, "a"));
    assert_ne!(draw(1, "a"), draw(2, "a"));
    assert_ne!(draw(1, "a"), draw(1, "b"));
}

#[test]
fn fnv1a_matches_its_published_vectors() {
    assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(fnv1a("a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(fnv1a("foobar"), 0x8594_4171_f739_67e8);
}

#[test]
fn certain_and_impossible_chances() {
    let mut rng = Rng::new(7, "x");
    assert!((0..1000).all(|_| rng.chance(1.0) && !rng.chance(0.0)));
}

#[test]
fn uniform_covers_its_range_and_no_more() {
    let mut rng = Rng::new(7, "x");
    let mut seen = [0; 4];
    for _ in 0..4000 {
        seen[rng.up_to(Span(3)).0 as usize] += 1;
    }
    assert!(seen.iter().all(|&n| (900..1100).contains(&n)), "{seen:?}");
}

#[test]
fn exponential_has_its_mean() {
    let mut rng = Rng::new(7, "x");
    let mean = (0..100_000).map(|_| rng.exponential(Span(1_000_000)).0).sum::<u64>() / 100_000;
    assert!((990_000..1_010_000).contains(&mean), "{mean}");
}
