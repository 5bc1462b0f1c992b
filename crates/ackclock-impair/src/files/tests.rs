use super::*;

#[test]
fn a_warning_has_the_numbers() {
    assert_eq!(
        warning(1024, 504, 1000),
        "warning: 1024 open files are allowed, which is room for some 504 of the 1000 clients of \
         --max-connections; further ones wait; `ulimit -Hn` is the limit"
    );
}

/// No socket is made for it: a client is not to wait for six of them.
#[cfg(unix)]
#[test]
fn what_is_left_over_is_a_copy_of_what_is_open() {
    use std::fs::File;
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let number = |fd: OwnedFd| File::from(fd).metadata().unwrap().ino();
    let own = number(io::stderr().as_fd().try_clone_to_owned().unwrap());
    let files = left_over().unwrap();
    assert_eq!(files.into_iter().map(number).collect::<Vec<_>>(), [own; LEFT_OVER]);
}
