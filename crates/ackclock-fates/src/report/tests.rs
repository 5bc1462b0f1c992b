use super::thousands;

#[test]
fn digits_in_threes() {
    assert_eq!([0, 999, 1000, 531_441].map(thousands), ["0", "999", "1,000", "531,441"]);
}
