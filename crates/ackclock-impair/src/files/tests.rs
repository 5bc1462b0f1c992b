use super::*;

#[test]
fn a_warning_has_the_numbers() {
    assert_eq!(
        warning(1024, 504, 1000),
        "warning: 1024 open files are allowed, which is room for some 504 of the 1000 clients of \
         --max-connections; further ones wait; `ulimit -Hn` is the limit"
    );
}
