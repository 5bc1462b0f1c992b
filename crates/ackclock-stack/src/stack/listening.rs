//! What the application calls to listen and to accept.

use std::collections::VecDeque;
use std::net::SocketAddr;

use ackclock_tcp::connection::{Connection, KeepAlive};
use ackclock_tcp::{Composition, Time};

use super::Stack;
use crate::listener::Listener;
use crate::socket::Owner;
use crate::tuple::Tuple;
use crate::{EcnUse, Error, ListenerId, SocketId, TcpConfig};

/// Whether a client of a listener at the one may be a client of a listener at the other: they do
/// not go together.
pub fn overlap(a: SocketAddr, b: SocketAddr) -> bool {
    let any = a.ip().is_unspecified() || b.ip().is_unspecified();
    a.port() == b.port() && a.is_ipv4() == b.is_ipv4() && (any || a.ip() == b.ip())
}

impl Stack {
    /// Listens at an address of the host (or the unspecified one, for all of its family), with at
    /// most `backlog` established connections that wait for [`Stack::accept`], at least one.
    /// Port 0 takes a free one.
    ///
    /// # Errors
    /// [`Error::InUse`], [`Error::NoAddress`].
    pub fn listen(
        &mut self,
        local: SocketAddr,
        config: TcpConfig,
        backlog: usize,
    ) -> Result<ListenerId, Error> {
        let ip = local.ip();
        if !(self.config.addresses.contains(&ip)
            || ip.is_unspecified()
                && self.config.addresses.iter().any(|own| own.is_ipv4() == ip.is_ipv4()))
        {
            return Err(Error::NoAddress);
        }
        let taken = |port: u16| {
            let local = SocketAddr::new(ip, port);
            self.listeners.values().any(|other| overlap(other.local, local))
        };
        let port = match local.port() {
            0 => {
                let tuple = Tuple { local: ip, remote: ip, local_port: 0, remote_port: 0 };
                self.ports.take(&self.secret, &tuple, |port| !taken(port)).ok_or(Error::InUse)?
            }
            port if taken(port) => return Err(Error::InUse),
            port => port,
        };
        let id = ListenerId(self.next_listener);
        self.next_listener += 1;
        let listener = Listener {
            local: SocketAddr::new(ip, port),
            config,
            choice: None,
            backlog: backlog.max(1),
            half_open: 0,
            queue: VecDeque::new(),
            last_cookie: None,
            in_ready: false,
        };
        self.listeners.insert(id, listener);
        Ok(id)
    }

    /// From now on gives some clients of a listener another strategy than that of its
    /// configuration: `choose` says which of `strategies`, for the client's address.
    /// [`crate::Status::strategy`] tells it.
    ///
    /// # Errors
    /// [`Error::NoSocket`].
    pub fn choose_strategies(
        &mut self,
        listener: ListenerId,
        strategies: Vec<Composition>,
        choose: impl Fn(SocketAddr) -> Option<usize> + Send + 'static,
    ) -> Result<(), Error> {
        let listening = self.listeners.get_mut(&listener).ok_or(Error::NoSocket)?;
        listening.choice = Some((strategies, Box::new(choose)));
        Ok(())
    }

    /// From now on clients of a listener may have ECN if this is not [`EcnUse::Off`], whatever its
    /// configuration says.
    ///
    /// # Errors
    /// [`Error::NoSocket`].
    pub fn set_ecn(&mut self, listener: ListenerId, ecn: EcnUse) -> Result<(), Error> {
        self.listeners.get_mut(&listener).ok_or(Error::NoSocket)?.config.ecn = ecn;
        Ok(())
    }

    /// From now on clients of a listener have these keep-alives, whatever its configuration says.
    ///
    /// # Errors
    /// [`Error::NoSocket`].
    pub fn set_keep_alive(
        &mut self,
        listener: ListenerId,
        keep_alive: Option<KeepAlive>,
    ) -> Result<(), Error> {
        self.listeners.get_mut(&listener).ok_or(Error::NoSocket)?.config.keep_alive = keep_alive;
        Ok(())
    }

    /// The address of a listener.
    ///
    /// # Errors
    /// [`Error::NoSocket`].
    pub fn listener_address(&self, listener: ListenerId) -> Result<SocketAddr, Error> {
        Ok(self.listeners.get(&listener).ok_or(Error::NoSocket)?.local)
    }

    /// Stops listening; connections that were not accepted are reset.
    pub fn unlisten(&mut self, now: Time, listener: ListenerId) {
        if self.listeners.remove(&listener).is_none() {
            return;
        }
        for index in self.table.of_listener(listener) {
            self.let_go(now, index, Connection::abort);
        }
    }

    /// Takes an established connection.
    ///
    /// # Errors
    /// [`Error::WouldBlock`], [`Error::NoSocket`].
    pub fn accept(&mut self, listener: ListenerId) -> Result<SocketId, Error> {
        let listening = self.listeners.get_mut(&listener).ok_or(Error::NoSocket)?;
        let index = listening.queue.pop_front().ok_or(Error::WouldBlock)?;
        let grant = self.memory.grant();
        let socket = self.table.socket(index).ok_or(Error::NoSocket)?;
        socket.owner = Owner::Application;
        let id = socket.id;
        // What came before is news to whoever takes it.
        if socket.has_news(grant) {
            self.notify(index);
        }
        Ok(id)
    }
}
