//! What a command that serves does with connections.

use ackclock_stack::SocketId;
use rustix::event::epoll::EventFlags;

use super::super::metrics::Exposition;
use super::net::Net;

/// What is done with connections.
pub(crate) trait Service {
    /// A client has connected.
    fn opened(&mut self, net: &mut Net, socket: SocketId);

    /// A client's socket may do more than before.
    fn ready(&mut self, net: &mut Net, socket: SocketId);

    /// So may a socket of the kernel, with the number under which [`Net::watch`] had it.
    fn kernel_ready(&mut self, _net: &mut Net, _number: u64, _flags: EventFlags) {}

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
