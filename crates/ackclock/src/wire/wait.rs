//! Waiting for whatever happens next.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use ackclock_live::Host;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Interrupt;
use crate::error::Error;

/// Waits for a packet, a signal, `input` if there is one, a deadline of the host, or the end of
/// `timeout`; then lets the host do what is due. Returns whether `input` has something.
pub(crate) fn wait(
    host: &mut Host,
    interrupt: &Interrupt,
    input: Option<BorrowedFd<'_>>,
    timeout: Option<Duration>,
) -> Result<bool, Error> {
    let failed = |error: io::Error| Error::System { what: "the TUN device".into(), error };
    let timeout = [host.timeout(), timeout].into_iter().flatten().min();
    let timeout =
        timeout.map(|t| Timespec { tv_sec: t.as_secs() as i64, tv_nsec: t.subsec_nanos().into() });
    let wanted = if host.rests() { PollFlags::empty() } else { PollFlags::IN };
    let third = input.unwrap_or_else(|| interrupt.as_fd());
    let mut fds = [
        PollFd::new(host, wanted),
        PollFd::new(interrupt, PollFlags::IN),
        PollFd::from_borrowed_fd(third, PollFlags::IN),
    ];
    match poll(&mut fds[..if input.is_some() { 3 } else { 2 }], timeout.as_ref()) {
        Err(e) if e != rustix::io::Errno::INTR => return Err(failed(e.into())),
        _ => {}
    }
    let more = input.is_some() && !fds[2].revents().is_empty();
    host.turn().map_err(failed)?;
    Ok(more)
}
