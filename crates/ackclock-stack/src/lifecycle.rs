//! What becomes of sockets: from their place in the tables to what is left of them.

use ackclock_tcp::Seq;
use ackclock_tcp::Time;
use ackclock_tcp::connection::{Connection, TcpState};

use crate::buffer::Ring;
use crate::limits::{Limit, Limits};
use crate::said::Said;
use crate::socket::{Owner, Socket};
use crate::table::Entry;
use crate::time_wait::TimeWait;
use crate::tuple::Tuple;
use crate::{ListenerId, Ready, SocketId, Stack, TcpConfig};

/// A new connection.
pub(crate) struct New<'a> {
    pub tuple: Tuple,
    pub connection: Connection,
    /// Its initial sequence number.
    pub iss: Seq,
    pub config: &'a TcpConfig,
    /// As [`Status::strategy`](crate::Status::strategy) has it.
    pub strategy: usize,
    pub owner: Owner,
}

impl Stack {
    /// Puts a new connection into the tables, with a segment to send.
    pub(crate) fn insert(&mut self, now: Time, new: New) -> SocketId {
        let New { tuple, connection, iss, config, strategy, owner } = new;
        let (index, id) = self.table.next();
        let state = connection.state();
        self.table.insert(Socket {
            id,
            tuple,
            connection,
            strategy,
            owner,
            send: Ring::new(config.send_buffer),
            receive: Ring::new(config.receive_buffer),
            counted: 0,
            limits: Limits::new(now),
            iss,
            said: Said { snd_max: iss, ..Said::default() },
            time_wait: config.time_wait,
            timestamps: config.timestamps,
            ts_offset: self.secret.ts_offset(&tuple),
            class: self.class(&tuple),
            state,
            wants_read: true,
            wants_write: false,
            wants_acked: None,
            in_ready: false,
            in_transmit: true,
            held_back: None,
            gathered: None,
            shut: false,
            mapped: true,
            events: config.events,
            next_id: None,
        });
        self.demux.insert(tuple, index);
        self.output.enqueue(index);
        id
    }

    /// Ends the application's, or a listener's, hold of a socket.
    pub(crate) fn let_go(
        &mut self,
        now: Time,
        index: u32,
        end: impl FnOnce(&mut Connection, Time),
    ) {
        let Some(socket) = self.table.socket(index) else { return };
        socket.owner = Owner::Nobody;
        end(&mut socket.connection, now);
        self.after_input(index);
    }

    /// What an input to a connection may have changed: tells whoever waits, and has the connection
    /// asked for segments.
    pub(crate) fn after_input(&mut self, index: u32) {
        let Some(socket) = self.table.socket(index) else { return };
        socket.send.release(socket.connection.acked());
        socket.send.relax();
        self.memory.count(socket);
        if !socket.in_transmit {
            socket.in_transmit = true;
            self.output.enqueue(index);
        }
        self.look(index);
    }

    /// Tells whoever waits for a socket what is new.
    fn look(&mut self, index: u32) {
        let Some(socket) = self.table.socket(index) else { return };
        let state = socket.connection.state();
        let changed = state != socket.state;
        if changed {
            self.state_changed(index, state);
        }
        let grant = self.memory.grant();
        let Some(socket) = self.table.socket(index) else { return };
        if socket.owner == Owner::Application && (socket.has_news(grant) || changed) {
            self.notify(index);
        }
    }

    fn state_changed(&mut self, index: u32, state: TcpState) {
        let Some(socket) = self.table.socket(index) else { return };
        let opening = |state| matches!(state, TcpState::SynSent | TcpState::SynReceived);
        let opened = opening(socket.state) && !opening(state) && state != TcpState::Closed;
        socket.state = state;
        self.stats.opened += u64::from(opened);
        match socket.owner {
            Owner::HalfOpen(id) if opened || state == TcpState::Closed => {
                socket.owner = if opened { Owner::Queued(id) } else { Owner::Nobody };
                if let Some(listener) = self.listeners.get_mut(&id) {
                    listener.half_open -= 1;
                }
                if opened {
                    self.queue(id, index);
                }
            }
            // One that is queued stays so where the peer resets it, as in Linux: the application
            // reads what had come before, and then hears of the reset.
            _ => {}
        }
    }

    /// Puts an established connection into a listener's queue.
    pub(crate) fn queue(&mut self, id: ListenerId, index: u32) {
        let Some(listener) = self.listeners.get_mut(&id) else { return };
        listener.queue.push_back(index);
        if !listener.in_ready {
            listener.in_ready = true;
            self.ready.push_back(Ready::Accept(id));
        }
    }

    pub(crate) fn notify(&mut self, index: u32) {
        if let Some(socket) = self.table.socket(index)
            && !socket.in_ready
        {
            socket.in_ready = true;
            self.ready.push_back(Ready::Socket(socket.id));
        }
    }

    /// A connection has nothing more to send now: takes what it says of the future, and frees what
    /// is over.
    pub(crate) fn settle(&mut self, now: Time, index: u32) {
        self.look(index);
        let Some(slot) = self.table.slot(index) else { return };
        let Entry::Socket(socket) = &mut slot.entry else { return };
        socket.in_transmit = false;
        let limit = Limit::of(socket.connection.sender().state(), socket.wants_write);
        socket.limits.set(now, limit);
        if socket.events {
            let id = socket.id;
            self.events.extend(
                std::iter::from_fn(|| socket.connection.poll_event()).map(|event| (id, event)),
            );
        }
        // Sending has made what is outstanding longer.
        self.memory.count(socket);
        let held = socket.owner != Owner::Nobody;
        let tuple = socket.tuple;
        if !held && matches!(socket.state, TcpState::Closed | TcpState::TimeWait) {
            // It leaves the table.
            socket.add_timeouts(&mut self.timeouts);
        }
        match socket.state {
            TcpState::Closed => {
                let mapped = std::mem::replace(&mut socket.mapped, false);
                if !held {
                    self.memory.account(socket.counted, 0);
                    self.table.remove(index);
                }
                if mapped {
                    self.demux.remove(&tuple);
                    self.stats.closed += 1;
                }
            }
            TcpState::TimeWait if !held => {
                self.memory.account(socket.counted, 0);
                if !self.memory.may_wait() {
                    self.remove(&tuple, index);
                    return;
                }
                let record = TimeWait::new(now, socket);
                slot.entry = Entry::TimeWait(record);
                self.timers.schedule(index, record.until, &mut slot.scheduled);
            }
            _ => {
                let deadline = socket.connection.next_deadline();
                self.timers.schedule(index, deadline, &mut slot.scheduled);
            }
        }
        self.timers.prune(self.table.len(), |index| self.table.scheduled(index));
    }

    /// Removes what is left of a connection in TIME-WAIT.
    pub(crate) fn forget(&mut self, tuple: &Tuple, index: u32) {
        self.memory.has_waited();
        self.remove(tuple, index);
    }

    fn remove(&mut self, tuple: &Tuple, index: u32) {
        self.demux.remove(tuple);
        self.table.remove(index);
        self.stats.closed += 1;
    }
}
