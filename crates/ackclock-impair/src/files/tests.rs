use super::*;

#[test]
fn a_warning_has_the_numbers() {
    assert_eq!(
        warning(1024, 504, 1000),
        "warning: 1024 open files are allowed, which is room for some 504 of the 1000 clients of \
         --max-connections; further ones wait; `ulimit -Hn` is the limit"
    );
}

/// One socket is made for it, which the system may have no file for, and no six: a client is not to
/// wait for them.
#[cfg(unix)]
#[test]
fn what_is_left_over_is_a_socket_and_its_copies() {
    use std::fs::File;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let of = |fd: OwnedFd| File::from(fd).metadata().unwrap();
    let all: Vec<_> = left_over().unwrap().into_iter().map(of).collect();
    assert!(all[0].file_type().is_socket());
    assert_eq!(all.iter().map(MetadataExt::ino).collect::<Vec<_>>(), [all[0].ino(); LEFT_OVER]);
}
