use super::Progress;

#[test]
fn steps_count_by_their_weight_on_one_bar() {
    let progress = Progress::new(100 + 3 * 100);
    progress.weighing(3).advance(100);
    assert_eq!(progress.shared.bar.bar.position(), 300);
    progress.advance(100);
    assert_eq!(Some(progress.shared.bar.bar.position()), progress.shared.bar.bar.length());
}
