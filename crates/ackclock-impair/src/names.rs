//! Addresses of names, with a bound: who waits for a resolver that is silent waits no longer than
//! that.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// How long an answer may take: two tries of the C library (`timeout` in resolv.conf(5)).
const LONGEST: Duration = Duration::from_secs(10);

/// The addresses of a text such as `db.example:5432`. Addresses themselves are not looked up.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for what has no port, [`ErrorKind::TimedOut`] if no answer has come
/// within 10 s, and what the system says.
pub fn addresses(text: &str) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = text.parse() {
        return Ok(vec![address]);
    }
    let name = text.to_string();
    within(LONGEST, move || Ok(name.to_socket_addrs()?.collect()))
}

/// Does work in a thread of its own. Nothing can end that thread before its time: it goes on where
/// nobody waits any more.
fn within<T: Send + 'static>(
    longest: Duration,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (sender, answer) = channel();
    let work = move || drop(sender.send(work()));
    thread::Builder::new().name("look-up".into()).spawn(work)?;
    let late = |_| {
        let text = format!("the resolver has not answered for {} s", longest.as_secs_f64());
        Err(io::Error::new(ErrorKind::TimedOut, text))
    };
    answer.recv_timeout(longest).unwrap_or_else(late)
}

#[cfg(test)]
mod tests;
