use super::*;

#[test]
fn a_warning_has_the_numbers() {
    assert_eq!(
        warning(1024, 1000),
        "warning: 1024 open files are allowed, which is room for some 504 clients at the same \
         time, not for --max-connections 1000; further ones wait; `ulimit -Hn` is the limit"
    );
}
