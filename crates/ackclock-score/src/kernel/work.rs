//! The applications at both ends.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::set_tcp_congestion;

use super::plan::{Planned, Work};
use super::testbed::Testbed;

/// No capture takes longer.
const LIMIT: Duration = Duration::from_secs(15);
const REQUEST: usize = 100;
const PORT: u16 = 5001;

/// Does it, and calls `at_end` of each connection when all has been sent, before it closes.
pub(super) fn work(
    testbed: &Testbed,
    planned: &Planned,
    mut at_end: impl FnMut() -> io::Result<()>,
) -> io::Result<()> {
    let congestion = planned.congestion.as_str();
    match planned.work {
        Work::Bulk { bytes } => {
            let pair = Pair::to_receiver(testbed, congestion)?;
            pair.within_limit(
                move |mut stream| stream.write_all(&vec![0; bytes as usize]),
                move |mut stream| read(&mut stream, bytes),
                at_end,
            )
        }
        Work::Writes { count, bytes, pause_ms, reader_sleeps_ms } => {
            let pair = Pair::to_receiver(testbed, congestion)?;
            let sender = move |mut stream: TcpStream| {
                (0..count).try_for_each(|_| {
                    stream.write_all(&vec![0; bytes as usize])?;
                    thread::sleep(Duration::from_millis(pause_ms));
                    Ok(())
                })
            };
            let receiver = move |mut stream: TcpStream| {
                read(&mut stream, 1)?;
                thread::sleep(Duration::from_millis(reader_sleeps_ms));
                read(&mut stream, u64::from(count) * bytes - 1)
            };
            pair.within_limit(sender, receiver, at_end)
        }
        Work::Responses { count, bytes, pause_ms, reconnect } => {
            let (connections, each) = if reconnect { (count, 1) } else { (1, count) };
            let listener =
                testbed.sender.run(|| TcpListener::bind((testbed.addresses[0], PORT)))??;
            set_tcp_congestion(&listener, congestion)?;
            (0..connections).try_for_each(|_| {
                let pair = Pair::from_receiver(testbed, &listener)?;
                let server = move |mut stream: TcpStream| {
                    (0..each).try_for_each(|_| {
                        read(&mut stream, REQUEST as u64)?;
                        stream.write_all(&vec![0; bytes as usize])
                    })
                };
                let client = move |mut stream: TcpStream| {
                    (0..each).try_for_each(|_| {
                        stream.write_all(&[0; REQUEST])?;
                        read(&mut stream, bytes)?;
                        thread::sleep(Duration::from_millis(pause_ms));
                        Ok(())
                    })
                };
                pair.within_limit(server, client, &mut at_end)
            })
        }
    }
}

fn read(stream: &mut TcpStream, bytes: u64) -> io::Result<()> {
    let n = io::copy(&mut stream.take(bytes), &mut io::sink())?;
    if n < bytes { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

/// The other end of a connection. If all ACKs of the SYN/ACK are lost, it does not come about
/// before the peer sends something.
fn accept(listener: &TcpListener, peer: &TcpStream) -> io::Result<TcpStream> {
    const STEP: Duration = Duration::from_millis(5);
    listener.set_nonblocking(true)?;
    let address = peer.local_addr()?;
    let mut left = LIMIT;
    while !left.is_zero() {
        match listener.accept() {
            Ok((stream, from)) if from == address => {
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            _ => thread::sleep(STEP),
        }
        left = left.saturating_sub(STEP);
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// The two ends of a connection: one has opened it, and the other waits for it.
struct Pair {
    opened: TcpStream,
    listener: TcpListener,
    sender_opens: bool,
}

impl Pair {
    fn to_receiver(testbed: &Testbed, congestion: &str) -> io::Result<Pair> {
        let address = SocketAddr::new(testbed.addresses[1], PORT);
        let listener = testbed.receiver.run(|| TcpListener::bind(address))??;
        let opened = testbed.sender.run(|| TcpStream::connect_timeout(&address, LIMIT))??;
        set_tcp_congestion(&opened, congestion)?;
        Ok(Pair { opened, listener, sender_opens: true })
    }

    fn from_receiver(testbed: &Testbed, listener: &TcpListener) -> io::Result<Pair> {
        let address = SocketAddr::new(testbed.addresses[0], PORT);
        let opened = testbed.receiver.run(|| TcpStream::connect_timeout(&address, LIMIT))??;
        Ok(Pair { opened, listener: listener.try_clone()?, sender_opens: false })
    }

    /// Lets both do their part, in [`LIMIT`] or not at all, then closes: the sender first. The end
    /// that opens begins before the other one has come about.
    fn within_limit(
        self,
        sender: impl FnOnce(TcpStream) -> io::Result<()> + Send + 'static,
        receiver: impl FnOnce(TcpStream) -> io::Result<()> + Send + 'static,
        at_end: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let Pair { opened, listener, sender_opens } = self;
        let (peer, ours) = (opened.try_clone()?, opened.try_clone()?);
        let accepted = Arc::new(OnceLock::new());
        let kept = Arc::clone(&accepted);
        let accepts = move || {
            let stream = accept(&listener, &peer)?;
            // Nobody else sets it.
            let _ = kept.set(stream.try_clone()?);
            Ok(stream)
        };
        let opens = move || Ok(ours);
        let ends: [End; 2] = match sender_opens {
            true => [Box::new(opens), Box::new(accepts)],
            false => [Box::new(accepts), Box::new(opens)],
        };
        let [from, to] = ends;
        let (done, over) = mpsc::channel();
        let also = done.clone();
        let threads = [
            thread::spawn(move || drop((from().and_then(sender), done.send(())))),
            thread::spawn(move || drop((to().and_then(receiver), also.send(())))),
        ];
        let finished = over.recv_timeout(LIMIT).and_then(|()| over.recv_timeout(LIMIT)).is_ok();
        let asked = at_end();
        let Some(accepted) = accepted.get() else {
            let address = opened.local_addr()?;
            let error = format!("the handshake with {address} was not over within {LIMIT:?}");
            return Err(io::Error::new(io::ErrorKind::TimedOut, error));
        };
        let (sender, mut receiver) =
            if sender_opens { (&opened, accepted) } else { (accepted, &opened) };
        // What is not through by now ends here: the writer by this, the reader by what the writer
        // sends then.
        sender.shutdown(Shutdown::Write)?;
        if finished {
            let _ = receiver.set_read_timeout(Some(LIMIT));
            let _ = io::copy(&mut receiver, &mut io::sink());
        } else {
            let _ = receiver.shutdown(Shutdown::Both);
        }
        for thread in threads {
            let _ = thread.join();
        }
        asked
    }
}

/// Yields one end of a connection.
type End = Box<dyn FnOnce() -> io::Result<TcpStream> + Send>;
