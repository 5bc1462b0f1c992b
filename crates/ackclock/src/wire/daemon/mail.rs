//! What threads have each other do, and how they wake each other.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

use rustix::event::{EventfdFlags, eventfd};

use crate::error::Error;

/// Errands that may wait. A packet may have 64 KiB.
pub(super) const ROOM: usize = 32;

/// Wakes whoever waits for it as for a file, until that one has silenced it.
#[derive(Clone)]
pub(super) struct Bell(Arc<OwnedFd>);

impl Bell {
    pub fn new() -> Result<Bell, Error> {
        let made = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Ok(Bell(Arc::new(made.map_err(|e| Error::system("eventfd")(e.into()))?)))
    }

    pub fn ring(&self) {
        // It fails only where it has rung 2^64 times, and then it rings already.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    pub fn silence(&self) {
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// What a thread is to do with what it has.
pub(super) type Errand<W> = Box<dyn FnOnce(&mut W) + Send>;

/// Where a thread takes its errands.
pub(super) struct Mailbox<W> {
    errands: Receiver<Errand<W>>,
    bell: Bell,
}

/// Where others leave them.
pub(super) struct Post<W> {
    errands: SyncSender<Errand<W>>,
    bell: Bell,
}

impl<W> Clone for Post<W> {
    fn clone(&self) -> Post<W> {
        Post { errands: self.errands.clone(), bell: self.bell.clone() }
    }
}

/// Both ends of a mailbox; the bell rings when there is something in it.
pub(super) fn mailbox<W>(bell: Bell) -> (Post<W>, Mailbox<W>) {
    let (sender, errands) = sync_channel(ROOM);
    (Post { errands: sender, bell: bell.clone() }, Mailbox { errands, bell })
}

impl<W> Mailbox<W> {
    pub fn bell(&self) -> &Bell {
        &self.bell
    }

    /// The errands that wait, to be called when the bell rings.
    pub fn take(&mut self) -> Vec<Errand<W>> {
        self.bell.silence();
        let errands: Vec<_> = self.errands.try_iter().take(ROOM).collect();
        if errands.len() == ROOM {
            // There may be more, and others come first.
            self.bell.ring();
        }
        errands
    }
}

impl<W> Post<W> {
    /// Leaves an errand if there is room, as for packets, which may get lost.
    pub fn try_leave(&self, errand: Errand<W>) {
        if self.errands.try_send(errand).is_ok() {
            self.bell.ring();
        }
    }
}

/// Has each thread do something, and returns what they answer, in this order; of one that has
/// ended, nothing.
pub(super) fn ask<W, T: Send + 'static>(
    posts: &[Post<W>],
    work: impl Fn(&mut W) -> T + Send + Sync + 'static,
) -> Vec<T> {
    let work = Arc::new(work);
    let (reply, replies) = channel();
    for (n, post) in posts.iter().enumerate() {
        let (work, reply) = (work.clone(), reply.clone());
        let errand: Errand<W> = Box::new(move |worker| {
            // Who asks waits for it.
            let _ = reply.send((n, work(worker)));
        });
        if post.errands.send(errand).is_ok() {
            post.bell.ring();
        }
    }
    drop(reply);
    let mut answers: Vec<(usize, T)> = replies.iter().collect();
    answers.sort_by_key(|(n, _)| *n);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests;
