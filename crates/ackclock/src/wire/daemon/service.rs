//! What a command that serves does with connections.

use std::net::SocketAddr;

use ackclock_impair::exposition::Exposition;
use ackclock_stack::SocketId;
use rustix::event::epoll::EventFlags;

use super::super::split::Split;
use super::net::{Listening, Net};

/// Why something is read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// SIGHUP has come.
    Hangup,
    /// Backends of these names take no client: only the names are looked up.
    NoBackend(Vec<String>),
}

/// What came of reading again.
pub(crate) enum Again<P> {
    /// There is nothing to be read.
    Nothing,
    /// What SIGHUP has read.
    Reload(Reload<P>),
    /// What names stand for.
    Names(Vec<Found>),
}

/// A name of a backend with its addresses, or why they are not known.
pub(crate) type Found = (String, Result<Vec<SocketAddr>, String>);

/// What a file that was read again changes.
pub(crate) struct Reload<P> {
    /// Where to listen from now on, and nowhere else.
    pub listen: Vec<Listening>,
    /// The strategies of new clients.
    pub split: Split,
    /// What services do with them.
    pub plan: P,
    /// What there is to say of it.
    pub said: String,
}

/// What a service counts.
pub(crate) trait Counts: Default + Send + 'static {
    /// Adds what the service of another queue has counted.
    fn add(&mut self, other: &Self);

    /// Writes it as metrics. `strategies` has the names by [`ackclock_stack::Status::strategy`].
    fn write(&self, to: &mut Exposition, strategies: &[String]);
}

/// What is done with the connections of a queue.
pub(crate) trait Service: Send + 'static {
    /// What it counts.
    type Counts: Counts;
    /// What it takes from a file that was read again.
    type Plan: Send + Sync + 'static;

    /// Open files that each connection needs.
    const FILES: u64;

    /// A client has connected to a listener.
    fn opened(&mut self, net: &mut Net, socket: SocketId, listener: SocketAddr);

    /// A client's socket may do more than before.
    fn ready(&mut self, net: &mut Net, socket: SocketId);

    /// So may a socket of the kernel, with the number under which [`Net::watch`] had it.
    fn kernel_ready(&mut self, _net: &mut Net, _number: u64, _flags: EventFlags) {}

    /// From now on deals with new connections like this.
    fn follow(&mut self, _plan: &Self::Plan) {}

    /// An answer to [`Net::look_up`], whichever queue has asked. Returns what there is to say of
    /// each name, which is the same at all queues.
    fn looked_up(&mut self, _net: &mut Net, _found: &[Found]) -> Vec<(String, String)> {
        Vec::new()
    }

    /// A second has passed: time for what has waited too long.
    fn sweep(&mut self, net: &mut Net);

    /// So many clients wait and there is no room for them: ends as many connections of which nobody
    /// has use at the moment, if there are. Returns for how many there is room soon.
    fn make_room(&mut self, _net: &mut Net, _clients: usize) -> usize {
        0
    }

    /// The end is near: what is idle ends now.
    fn drain(&mut self, net: &mut Net);

    /// The sockets that it has, each until [`Net::drop`].
    fn sockets(&self) -> Vec<SocketId>;

    /// How many they are.
    fn open(&self) -> usize;

    /// What it has counted so far.
    fn counts(&self) -> Self::Counts;
}
