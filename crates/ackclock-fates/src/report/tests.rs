use super::{LEGEND, legend, thousands};

#[test]
fn digits_in_threes() {
    assert_eq!([0, 999, 1000, 531_441].map(thousands), ["0", "999", "1,000", "531,441"]);
}

/// Its lines end with the terminal, and each text stays beside its name.
#[test]
fn the_legend_fits_the_terminal() {
    assert_eq!(legend(None), LEGEND);
    let narrow = legend(Some(60));
    assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
    let begin = "completes    runs that are done in the end\ntimeout      runs with a timeout; minimal: of \
                 those, no part\n             of the fates alone has one\n";
    assert!(narrow.starts_with(begin), "{narrow}");
}
