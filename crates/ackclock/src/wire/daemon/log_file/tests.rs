use super::*;

#[test]
fn whole_lines_after_one_that_was_cut() {
    let path = std::env::temp_dir().join(format!("ackclock-log-{}", std::process::id()));
    for (before, after) in [("", "new\n"), ("old\n", "old\nnew\n"), ("cu", "cu\nnew\n")] {
        std::fs::write(&path, before).unwrap();
        let (log, writer) = LogFile::open(&path).unwrap();
        writer.start().unwrap();
        log.append(b"new\n".to_vec());
        log.finish();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
        assert!(log.error().is_none() && log.lost() == 0);
    }
    std::fs::remove_file(&path).unwrap();
}

/// Nobody waits for a reader of a pipe either.
#[test]
fn a_pipe_without_a_reader() {
    let path = std::env::temp_dir().join(format!("ackclock-log-pipe-{}", std::process::id()));
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    let error = LogFile::open(&path).err().unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(error.to_string().contains("start its reader first"), "{error}");
}

/// Nobody waits for a pipe that takes nothing. What does not fit in between is counted.
#[test]
fn a_file_that_takes_nothing_holds_nobody_up() {
    struct Stuck;
    impl Write for Stuck {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            loop {
                thread::park();
            }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (log, writer) = LogFile::open(Path::new("-")).unwrap();
    LogWriter { to: Box::new(Stuck), ..writer }.start().unwrap();
    for _ in 0..WAITING + 10 {
        log.append(b"one\ntwo\n".to_vec());
    }
    // One block may have been taken.
    assert!((18..=20).contains(&log.lost()), "{}", log.lost());
    assert!(log.error().is_some());
    log.finish();
    assert!(log.error().is_some());
}

#[test]
fn lines_that_cannot_be_written_are_counted() {
    let (log, writer) = LogFile::open(Path::new("/dev/full")).unwrap();
    writer.start().unwrap();
    log.append(b"one\ntwo\n".to_vec());
    log.finish();
    assert_eq!((log.lost(), log.error().unwrap().raw_os_error()), (2, Some(28)));
}

/// A disk is full for a while. What it took counts as written, and the line that it cut is no part
/// of the next one.
#[test]
fn a_line_that_a_full_disk_has_cut() {
    /// Takes so many bytes more.
    struct Disk(usize, Arc<Mutex<Vec<u8>>>);
    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let n = bytes.len().min(self.0).min(5);
            if n == 0 {
                // Somebody makes room.
                self.0 = 100;
                return Err(Errno::NOSPC.into());
            }
            self.0 -= n;
            self.1.lock().unwrap().extend_from_slice(&bytes[..n]);
            Ok(n)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let written = Arc::default();
    let (log, writer) = LogFile::open(Path::new("-")).unwrap();
    LogWriter { to: Box::new(Disk(6, Arc::clone(&written))), ..writer }.start().unwrap();
    for lines in ["one\ntwo\nthree\n", "four\n"] {
        log.append(lines.into());
    }
    log.finish();
    assert_eq!(String::from_utf8_lossy(&written.lock().unwrap()), "one\ntw\nfour\n");
    assert_eq!((log.lost(), log.error().unwrap().raw_os_error()), (2, Some(28)));
}
