use super::*;

#[test]
fn each_bucket_holds_those_before_it() {
    let mut histogram = Histogram::default();
    for ms in [0, 1, 2, 10, 11, 60_000, 60_001] {
        histogram.add(Span::from_millis(ms));
    }
    let counts: Vec<u64> = histogram.buckets().map(|(_, count)| count).collect();
    assert_eq!(counts, [2, 3, 3, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6]);
    assert_eq!((histogram.count, histogram.sum), (7, 120.025));
    let mut both = Histogram::default();
    both.add(Span::from_secs(2));
    both.join(&histogram);
    histogram.add(Span::from_secs(2));
    assert_eq!(both, histogram);
}
