use super::*;

#[test]
fn names_are_unique_and_the_page_about_the_format_has_those_of_this_crate() {
    let mut names: Vec<&str> = measures().map(|m| m.name).collect();
    let page = include_str!("../../papers/README.md");
    for m in OF_FLOWS.iter().chain(&OVER_ORACLE).chain(&OF_TIMEOUTS) {
        assert!(page.contains(&format!("`{}`", m.name)), "{}", m.name);
    }
    names.sort();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}

#[test]
fn a_quantile_is_named_by_its_percent() {
    assert_eq!(quantile("recovery-time-p95", "recovery-time"), Some(95.0));
    for other in ["recovery-time-p101", "recovery-time-pipe", "recovery-time", "time-p95"] {
        assert_eq!(quantile(other, "recovery-time"), None, "{other}");
    }
}
