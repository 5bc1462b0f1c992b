#[test]
fn one_is_no_plural() {
    let shown = [0, 1, 2, 11].map(|n| super::counted(n, "packet"));
    assert_eq!(shown, ["0 packets", "1 packet", "2 packets", "11 packets"]);
}

#[test]
fn nothing_has_no_parts() {
    let parts = [(0, 0), (0, 4), (1, 4)].map(|(part, whole)| super::percent(part, whole));
    assert_eq!(parts, [None, Some(0.0), Some(25.0)]);
}
