//! The addresses of a server that is known by its name, which may change.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::Instant;

use mio::Waker;

use crate::address::{check_server, server_addresses};
use crate::{Error, names};

/// Looks up a name again where no address of it takes a client. It does so in a thread of its own:
/// a resolver may take long to answer.
pub(crate) struct LookUp {
    name: String,
    /// Where the proxy listens, which no server may be.
    listen: Vec<SocketAddr>,
    /// Wakes who waits for the answer.
    waker: Arc<Waker>,
    last: Option<Instant>,
    answer: Option<Receiver<Vec<SocketAddr>>>,
}

impl LookUp {
    pub(crate) fn new(name: String, listen: Vec<SocketAddr>, waker: Arc<Waker>) -> LookUp {
        LookUp { name, listen, waker, last: None, answer: None }
    }

    /// Begins, unless that has just been done. Returns whether an answer will come.
    pub(crate) fn begin(&mut self) -> bool {
        if self.answer.is_some() || self.last.is_some_and(|last| last.elapsed() < names::PAUSE) {
            return self.answer.is_some();
        }
        self.last = Some(Instant::now());
        let (sender, answer) = channel();
        let (name, listen, waker) = (self.name.clone(), self.listen.clone(), self.waker.clone());
        let work = move || {
            if let Ok(found) = find(&name, &listen) {
                // The proxy may have ended.
                let _ = sender.send(found);
            }
            drop(sender);
            let _ = waker.wake();
        };
        // Without a thread, the next client asks again.
        let begun = thread::Builder::new().name("impair-name".into()).spawn(work);
        self.answer = begun.ok().map(|_| answer);
        self.answer.is_some()
    }

    /// The answer, once it has come: the addresses, or nothing of a name that is not found.
    pub(crate) fn poll(&mut self) -> Option<Option<Vec<SocketAddr>>> {
        match self.answer.as_ref()?.try_recv() {
            Err(TryRecvError::Empty) => None,
            answer => {
                self.answer = None;
                Some(answer.ok())
            }
        }
    }
}

fn find(name: &str, listen: &[SocketAddr]) -> Result<Vec<SocketAddr>, Error> {
    let found = server_addresses("--to", name)?;
    listen.iter().try_for_each(|&listen| check_server("--to", name, &found, listen))?;
    Ok(found)
}
