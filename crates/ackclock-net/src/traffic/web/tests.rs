use super::*;
use crate::distribution::{Distribution, Law};
use ackclock_tcp::Span;

fn web(responses: f64, exactly: bool) -> Web {
    let size = Distribution { law: Law::Fixed(1000), max: None };
    Web { responses, exactly, size, think: Span::from_millis(100) }
}

#[test]
fn exactly_so_many_responses_follow_each_other() {
    let mut responses = Responses::new(web(2.0, true), Rng::new(7, "x"));
    let write = |last| Write { bytes: 1000, last, next: u64::MAX };
    assert_eq!(responses.write(), write(false));
    // The first exponential draw of this stream.
    assert_eq!(
        responses.acknowledged(5),
        Some(5 + Rng::new(7, "x").exponential(Span::from_millis(100)).0)
    );
    assert_eq!(responses.write(), write(true));
    assert_eq!((responses.acknowledged(9), responses.written), (None, 2000));
}

/// P(n) = (1 - 1/m)^(n - 1) / m has the mean m; its first two values are 1/4 and 3/16 for m =
/// 4.
#[test]
fn the_number_of_responses_is_geometric() {
    let n = 100_000;
    let mut rng = Rng::new(7, "x");
    let config = web(4.0, false);
    let numbers: Vec<u64> = (0..n).map(|_| number(&config, &mut rng)).collect();
    let share = |k| numbers.iter().filter(|&&number| number == k).count() as f64 / f64::from(n);
    let mean = numbers.iter().sum::<u64>() as f64 / f64::from(n);
    // Four standard errors: the standard deviation is sqrt(m (m - 1)), that of a share at most
    // 0.5.
    assert!((mean - 4.0).abs() < 4.0 * (12.0 / f64::from(n)).sqrt(), "{mean}");
    let tolerance = 2.0 / f64::from(n).sqrt();
    assert_eq!(share(0), 0.0);
    assert!((share(1) - 0.25).abs() < tolerance && (share(2) - 0.1875).abs() < tolerance);
    assert_eq!(number(&web(1.0, false), &mut rng), 1);
}
