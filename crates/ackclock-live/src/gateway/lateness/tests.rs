use super::*;

#[test]
fn buckets_lie_side_by_side() {
    for n in 0..10_000 {
        let at = bucket(n);
        assert!(n <= upper(at as u64) && (at == 0 || n > upper(at as u64 - 1)), "{n}");
    }
    assert!(bucket(u64::MAX) < 64 * STEPS as usize);
}

#[test]
fn quantiles_err_by_an_eighth_at_most() {
    let mut all = Lateness::default();
    assert_eq!(all.quantile(0.5), 0);
    (1..=1000).for_each(|n| all.add(n * 1000));
    assert_eq!((all.count(), all.max(), all.quantile(1.0)), (1000, 1_000_000, 1_000_000));
    for q in [0.001, 0.5, 0.9, 0.99] {
        let exact = q * 1e6;
        assert!(
            (exact..=exact * 1.125).contains(&(all.quantile(q) as f64)),
            "{q}: {}",
            all.quantile(q)
        );
    }
}
