use super::*;

#[test]
fn times_have_the_unit_that_shows_their_digits() {
    let told = |nanos| time(Span(nanos));
    assert_eq!(
        [0, 400, 3_000, 49_000, 999_499].map(told),
        ["0 µs", "0 µs", "3 µs", "49 µs", "999 µs"]
    );
    let longer = [999_500, 1_040_000, 99_900_000, 100_000_000, 999_000_000, 1_000_000_000];
    assert_eq!(longer.map(told), ["1.0 ms", "1.0 ms", "99.9 ms", "0.10 s", "1.00 s", "1.0 s"]);
}
