//! What a command that serves does with connections.

use std::net::SocketAddr;

use ackclock_stack::SocketId;
use rustix::event::epoll::EventFlags;

use super::super::Ecn;
use super::super::metrics::Exposition;
use super::super::split::Split;
use super::net::Net;
use crate::error::Error;

/// An address to listen at, and when its clients have ECN if not as the configuration says.
pub(crate) type Listening = (SocketAddr, Option<Ecn>);

/// Listens at these addresses and no others, and gives new clients these strategies.
pub(crate) type Listen<'a> = dyn FnMut(&[Listening], &Split) -> Result<(), Error> + 'a;

/// What is done with connections.
pub(crate) trait Service {
    /// A client has connected to a listener.
    fn opened(&mut self, net: &mut Net, socket: SocketId, listener: SocketAddr);

    /// A client's socket may do more than before.
    fn ready(&mut self, net: &mut Net, socket: SocketId);

    /// So may a socket of the kernel, with the number under which [`Net::watch`] had it.
    fn kernel_ready(&mut self, _net: &mut Net, _number: u64, _flags: EventFlags) {}

    /// Reads its file again, if it has one, and has `listen` take the place of all listeners and of
    /// who gets which strategy.
    /// Returns what there is to say of it. Where that fails, everything stays as it was.
    fn reload(&mut self, _listen: &mut Listen<'_>) -> Result<Option<String>, Error> {
        Ok(None)
    }

    /// A second has passed: time for what has waited too long.
    fn sweep(&mut self, net: &mut Net);

    /// The end is near: what is idle ends now.
    fn drain(&mut self, net: &mut Net);

    /// The sockets that it has, each until [`Net::drop`].
    fn sockets(&self) -> Vec<SocketId>;

    /// How many they are.
    fn open(&self) -> usize;

    /// Metrics of its own.
    fn metrics(&self, to: &mut Exposition);
}
