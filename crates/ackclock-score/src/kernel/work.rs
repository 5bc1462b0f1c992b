//! The applications at both ends.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
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
    let error = format!("the handshake with {address} was not over within {LIMIT:?}");
    Err(io::Error::new(io::ErrorKind::TimedOut, error))
}

/// The two ends of a connection.
struct Pair {
    sender: TcpStream,
    receiver: TcpStream,
}

impl Pair {
    fn to_receiver(testbed: &Testbed, congestion: &str) -> io::Result<Pair> {
        let address = SocketAddr::new(testbed.addresses[1], PORT);
        let listener = testbed.receiver.run(|| TcpListener::bind(address))??;
        let sender = testbed.sender.run(|| TcpStream::connect_timeout(&address, LIMIT))??;
        set_tcp_congestion(&sender, congestion)?;
        let receiver = accept(&listener, &sender)?;
        Ok(Pair { sender, receiver })
    }

    fn from_receiver(testbed: &Testbed, listener: &TcpListener) -> io::Result<Pair> {
        let address = SocketAddr::new(testbed.addresses[0], PORT);
        let receiver = testbed.receiver.run(|| TcpStream::connect_timeout(&address, LIMIT))??;
        let sender = accept(listener, &receiver)?;
        Ok(Pair { sender, receiver })
    }

    /// Lets both do their part, in [`LIMIT`] or not at all, then closes: the sender first.
    fn within_limit(
        self,
        sender: impl FnOnce(TcpStream) -> io::Result<()> + Send + 'static,
        receiver: impl FnOnce(TcpStream) -> io::Result<()> + Send + 'static,
        at_end: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let (done, over) = mpsc::channel();
        let (from, to) = (self.sender.try_clone()?, self.receiver.try_clone()?);
        let also = done.clone();
        let threads = [
            thread::spawn(move || drop((sender(from), done.send(())))),
            thread::spawn(move || drop((receiver(to), also.send(())))),
        ];
        let finished = over.recv_timeout(LIMIT).and_then(|()| over.recv_timeout(LIMIT)).is_ok();
        let asked = at_end();
        // What is not through by now ends here: the writer by this, the reader by what the writer
        // sends then.
        self.sender.shutdown(Shutdown::Write)?;
        if finished {
            let _ = self.receiver.set_read_timeout(Some(LIMIT));
            let _ = io::copy(&mut &self.receiver, &mut io::sink());
        } else {
            let _ = self.receiver.shutdown(Shutdown::Both);
        }
        drop(self);
        for thread in threads {
            let _ = thread.join();
        }
        asked
    }
}
