#[test]
fn a_long_label_loses_its_middle() {
    assert_eq!(super::shortened("link[1].loss[0].drop"), "link[1].loss[0].drop");
    assert_eq!(super::shortened("[14, 26, 28, 30, 32, 34]"), "[14, 26, 2…, 32, 34]");
    assert_eq!(super::shortened("[14, 26, 28, 30, 32, 34]").chars().count(), 20);
}
