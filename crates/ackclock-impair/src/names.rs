//! Addresses of names, with bounds: who waits for a resolver that is silent waits no longer than
//! that, and no more threads than so many wait for it.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long an answer may take: two tries of the C library (`timeout` in resolv.conf(5)).
const LONGEST: Duration = Duration::from_secs(10);

/// The least time from one look-up of a server's name to the next, where nobody at its addresses
/// takes a client: a resolver is not asked by each client.
pub const PAUSE: Duration = Duration::from_secs(1);

/// The most look-ups at the same time.
const MOST: usize = 64;

/// The look-ups of this process.
static LOOK_UPS: LookUps = LookUps::new(MOST);

/// What of a server may be looked up again: its text, if that is no address.
pub fn name(text: &str) -> Option<String> {
    text.parse::<SocketAddr>().is_err().then(|| text.into())
}

/// Says why no server can have these addresses, if so.
///
/// # Errors
/// What is wrong, and what would be right.
pub fn check_servers(found: &[SocketAddr]) -> Result<(), String> {
    if found.iter().any(|address| address.port() == 0) {
        return Err("no server has port 0; write the port of the server".into());
    }
    let no_host = |ip: IpAddr| match ip {
        IpAddr::V4(v4) => v4.is_broadcast() || v4.is_multicast(),
        IpAddr::V6(v6) => v6.is_multicast(),
    };
    match found.iter().map(SocketAddr::ip).find(|ip| no_host(*ip)) {
        Some(ip) => Err(format!("no host can have {ip}; write the address of the server")),
        None => Ok(()),
    }
}

/// The addresses of a text such as `db.example:5432`. Addresses themselves are not looked up.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for what has no port, [`ErrorKind::TimedOut`] if no answer has come
/// within 10 s, or 64 other look-ups were under way for as long, and what the system says.
pub fn addresses(text: &str) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = text.parse() {
        return Ok(vec![address]);
    }
    let name = text.to_string();
    LOOK_UPS.within(LONGEST, move || Ok(name.to_socket_addrs()?.collect()))
}

/// Does this work for each of them, for 64 at the same time: a resolver that is silent about one
/// holds up no other. Returns what came of each, in their order.
///
/// # Panics
/// If the work does.
pub fn each<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let others = 1..items.len().min(MOST);
    let (items, done) = (Mutex::new(items.into_iter().enumerate()), Mutex::new(Vec::new()));
    let work_off = || {
        let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some((number, item)) = next() {
            let result = (number, work(item));
            done.lock().unwrap_or_else(PoisonError::into_inner).push(result);
        }
    };
    thread::scope(|scope| {
        // Where there can be no more threads, those there are do the rest.
        let begin = |_| thread::Builder::new().name("look-up".into()).spawn_scoped(scope, work_off);
        let _threads: Vec<_> = others.map_while(|n| begin(n).ok()).collect();
        work_off();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|&(number, _)| number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Work in threads that nothing can end before its time: it goes on where nobody waits any more. So
/// there is a bound to how many of them there are.
struct LookUps {
    most: usize,
    under_way: Mutex<usize>,
    ended: Condvar,
}

/// A look-up that is under way, until it is dropped.
struct UnderWay(&'static LookUps);

impl LookUps {
    const fn new(most: usize) -> LookUps {
        LookUps { most, under_way: Mutex::new(0), ended: Condvar::new() }
    }

    /// Does work in a thread of its own, once there may be another one.
    fn within<T: Send + 'static>(
        &'static self,
        longest: Duration,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let begun = Instant::now();
        let place = self.begin(longest)?;
        let (sender, answer) = channel();
        let work = move || {
            let found = work();
            drop(place);
            // Nobody may wait any more.
            let _ = sender.send(found);
        };
        thread::Builder::new().name("look-up".into()).spawn(work)?;
        let late = |error| match error {
            RecvTimeoutError::Timeout => late(longest, "the resolver has not answered"),
            RecvTimeoutError::Disconnected => io::Error::other("the look-up ended early"),
        };
        answer.recv_timeout(longest.saturating_sub(begun.elapsed())).map_err(late)?
    }

    fn begin(&'static self, longest: Duration) -> io::Result<UnderWay> {
        let under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        let waited =
            self.ended.wait_timeout_while(under_way, longest, |under_way| *under_way == self.most);
        let (mut under_way, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *under_way == self.most {
            let text = format!("{} look-ups before this one have had no answer", self.most);
            return Err(late(longest, &text));
        }
        *under_way += 1;
        Ok(UnderWay(self))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        *self.0.under_way.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.ended.notify_one();
    }
}

fn late(longest: Duration, what: &str) -> io::Error {
    let text = format!("{what} for {} s", longest.as_secs_f64());
    io::Error::new(ErrorKind::TimedOut, text)
}

#[cfg(test)]
mod tests;
