//! What arrives: IP packets, TCP segments for connections, listeners and nobody.

use std::net::IpAddr;

use ackclock_tcp::connection::{Connection, TcpState};
use ackclock_tcp::wire::ip::{ICMP, ICMPV6, ParseError, TCP, codepoint, v4, v6};
use ackclock_tcp::wire::{Control, Options, Packet, Repr};
use ackclock_tcp::{Codepoint, Seq, Span, Time, Timestamps};

use crate::lifecycle::New;
use crate::listener::{LIFETIME, bake, verify};
use crate::patience::wait;
use crate::said::{Said, control_len};
use crate::socket::Owner;
use crate::table::Entry;
use crate::time_wait::Outcome;
use crate::tuple::{Tuple, pseudo_header};
use crate::{ListenerId, Stack};

impl Stack {
    /// An IP packet arrived. `trusted` says that its TCP checksum need not be looked at, as for
    /// packets that never were on a wire. A TCP segment may be larger than the MTU.
    pub fn on_packet(&mut self, now: Time, packet: &[u8], trusted: bool) {
        self.on_ip(now, packet, trusted, false);
    }

    /// The same for a stack that shares its addresses with others, each of which has connections of
    /// its own. `false` if the packet may be for a connection of another one: a segment of none
    /// here other than a SYN for a listener, or an error of ICMP about such a segment. It is
    /// neither answered nor counted then. If it is no other one's either, it is for
    /// [`Stack::on_packet`].
    #[must_use]
    pub fn offer(&mut self, now: Time, packet: &[u8], trusted: bool) -> bool {
        self.on_ip(now, packet, trusted, true)
    }

    fn on_ip(&mut self, now: Time, packet: &[u8], trusted: bool, shared: bool) -> bool {
        self.wait = Span::ZERO;
        let taken = match packet.first().map(|byte| byte >> 4) {
            Some(4) => self.on_ipv4(now, packet, trusted, shared),
            Some(6) => self.on_ipv6(now, packet, trusted, shared),
            _ => None,
        };
        if taken.is_none() {
            self.stats.malformed += 1;
        }
        self.patience.note(now, self.wait);
        let taken = taken.unwrap_or(true);
        self.stats.packets_in += u64::from(taken);
        taken
    }

    /// `None` if this is no packet for us; else whether it was taken.
    fn on_ipv4(&mut self, now: Time, packet: &[u8], trusted: bool, shared: bool) -> Option<bool> {
        let v4::Packet { header, payload } = match v4::Packet::parse(packet) {
            Ok(packet) => packet,
            Err(error) => return self.count_fragment(error),
        };
        let (src, dst) = (header.src().into(), header.dst().into());
        match header.protocol() {
            _ if !self.is_ours(dst) => self.ignore(),
            _ if !self.may_be_peer(src) => None,
            TCP => self.on_tcp(now, (src, dst), codepoint(packet), payload, trusted, shared),
            ICMP => self.on_icmp(now, src, dst, payload, shared),
            _ => self.ignore(),
        }
    }

    fn on_ipv6(&mut self, now: Time, packet: &[u8], trusted: bool, shared: bool) -> Option<bool> {
        let v6::Packet { header, protocol, payload } = match v6::Packet::parse(packet) {
            Ok(packet) => packet,
            Err(error) => return self.count_fragment(error),
        };
        let (src, dst) = (header.src().into(), header.dst().into());
        match protocol {
            _ if !self.is_ours(dst) => self.ignore(),
            _ if !self.may_be_peer(src) => None,
            TCP => self.on_tcp(now, (src, dst), codepoint(packet), payload, trusted, shared),
            ICMPV6 => self.on_icmp(now, src, dst, payload, shared),
            _ => self.ignore(),
        }
    }

    /// Broadcasts and multicasts are not. A kernel sends some at our device by itself: router
    /// solicitations (RFC 4861 section 6.3.7), reports of groups (RFC 3810).
    fn is_ours(&self, dst: IpAddr) -> bool {
        self.config.addresses.contains(&dst)
    }

    /// A packet that cannot be read is malformed, but for a fragment.
    fn count_fragment(&mut self, error: ParseError) -> Option<bool> {
        let fragment = error == ParseError::Fragment;
        self.stats.fragments += u64::from(fragment);
        fragment.then_some(true)
    }

    fn ignore(&mut self) -> Option<bool> {
        self.stats.ignored += 1;
        Some(true)
    }

    fn on_tcp(
        &mut self,
        now: Time,
        (src, dst): (IpAddr, IpAddr),
        codepoint: Codepoint,
        bytes: &[u8],
        trusted: bool,
        shared: bool,
    ) -> Option<bool> {
        let packet = Packet::parse(bytes).ok()?;
        if !trusted && !packet.checksum_ok(&pseudo_header(src, dst)) {
            self.stats.bad_checksums += 1;
            return Some(true);
        }
        // Of malformed options those before the malformed one count.
        let (mut header, _) = Repr::parse(&packet);
        header.codepoint = codepoint;
        if src.is_ipv6() && header.control.contains(Control::SYN) {
            // RFC 9293 section 3.7.1 (MUST-15): what a peer takes that names no MSS. Over IPv4 it
            // is the connection's default.
            header.options.mss.get_or_insert(1220);
        }
        let tuple = Tuple {
            local: dst,
            remote: src,
            local_port: header.dst_port,
            remote_port: header.src_port,
        };
        let Some(&index) = self.demux.get(&tuple) else {
            let taken = self.on_listener(now, tuple, &header, packet.payload(), None);
            if !taken && !shared {
                self.reset(&tuple, &header, packet.payload().len() as u32);
            }
            return Some(taken || !shared);
        };
        self.on_segment(now, index, &header, packet.payload());
        Some(true)
    }

    /// A segment for a connection.
    fn on_segment(&mut self, now: Time, index: u32, header: &Repr, payload: &[u8]) {
        let control = essential(header.control);
        let grant = self.memory.grant();
        let Some(slot) = self.table.slot(index) else { return };
        match &mut slot.entry {
            Entry::Free => {}
            Entry::TimeWait(record) => {
                let tuple = record.tuple;
                match record.on_segment(now, header, payload.len() as u32) {
                    Outcome::Ignore => {}
                    Outcome::Answer(answer) => {
                        let class = self.class(&tuple);
                        self.output.answer_tcp(&tuple, class, &answer);
                    }
                    Outcome::Over => self.forget(&tuple, index),
                    Outcome::MayReopen(above) => {
                        self.forget(&tuple, index);
                        self.on_stray(now, tuple, header, payload, Some(above));
                    }
                }
            }
            Entry::Socket(socket) => {
                // With a full accept queue the handshake cannot end: the peer will send again.
                if let Owner::HalfOpen(listener) = socket.owner
                    && socket.connection.state() == TcpState::SynReceived
                    && !header.control.contains(Control::RST)
                    && self.listeners.get(&listener).is_some_and(|listener| listener.is_full())
                {
                    self.stats.queue_full += 1;
                    return;
                }
                socket.grant_receive(grant);
                let own = on_our_clock(header, socket.ts_offset);
                if let Some(place) = socket.connection.on_segment(now, &own, payload.len() as u32) {
                    let kept = payload.get(place.offset as usize..).unwrap_or_default();
                    socket.receive.put(place.position, &kept[..kept.len().min(place.len as usize)]);
                }
                self.wait = wait(socket, payload.len());
                let (tuple, last) = (socket.tuple, socket.said.snd_max);
                self.after_input(index);
                // It was in TIME-WAIT, and gives way to a new one.
                if control == Control::SYN && !self.is_alive(index) {
                    self.settle(now, index);
                    self.on_stray(now, tuple, header, payload, Some(last));
                }
            }
        }
    }

    fn is_alive(&mut self, index: u32) -> bool {
        self.table.socket(index).is_some_and(|socket| socket.connection.state() != TcpState::Closed)
    }

    /// A segment of no connection. Where one was in TIME-WAIT, ours needs a sequence number beyond
    /// `above`.
    fn on_stray(
        &mut self,
        now: Time,
        tuple: Tuple,
        header: &Repr,
        payload: &[u8],
        above: Option<Seq>,
    ) {
        if !self.on_listener(now, tuple, header, payload, above) {
            self.reset(&tuple, header, payload.len() as u32);
        }
    }

    /// The same as far as it is for a listener: whether it was.
    fn on_listener(
        &mut self,
        now: Time,
        tuple: Tuple,
        header: &Repr,
        payload: &[u8],
        above: Option<Seq>,
    ) -> bool {
        let control = essential(header.control);
        if let Some(id) = self.listener_for(&tuple) {
            if control == Control::SYN {
                self.on_syn(now, id, tuple, header, above);
                return true;
            }
            if control.contains(Control::SYN) && !control.contains(Control::ACK) {
                return true;
            }
            if control.contains(Control::ACK)
                && !control.contains(Control::SYN)
                && !control.contains(Control::RST)
            {
                return self.on_cookie(now, id, tuple, header, payload);
            }
        }
        false
    }

    /// RFC 9293 section 3.10.7.1.
    fn reset(&mut self, tuple: &Tuple, header: &Repr, len: u32) {
        if header.control.contains(Control::RST) {
            return;
        }
        let (seq, ack, control) = if header.control.contains(Control::ACK) {
            (header.ack, Seq(0), Control::RST)
        } else {
            (
                Seq(0),
                header.seq + len + control_len(header.control),
                Control::RST.with(Control::ACK),
            )
        };
        let (src_port, dst_port) = (tuple.local_port, tuple.remote_port);
        let answer = Repr { src_port, dst_port, seq, ack, control, ..Repr::default() };
        self.output.answer_tcp(tuple, self.class(tuple), &answer);
        self.stats.resets_out += 1;
    }

    fn listener_for(&self, tuple: &Tuple) -> Option<ListenerId> {
        let fits = |local: std::net::SocketAddr| {
            local.port() == tuple.local_port
                && (local.ip() == tuple.local
                    || local.ip().is_unspecified() && local.is_ipv4() == tuple.local.is_ipv4())
        };
        self.listeners.iter().find(|(_, listener)| fits(listener.local)).map(|(id, _)| *id)
    }

    fn on_syn(&mut self, now: Time, id: ListenerId, tuple: Tuple, syn: &Repr, above: Option<Seq>) {
        let Some(listener) = self.listeners.get_mut(&id) else { return };
        if listener.is_full() {
            self.stats.queue_full += 1;
            return;
        }
        if listener.half_open >= self.config.half_open {
            listener.last_cookie = Some(now);
            return self.send_cookie(now, id, &tuple, syn);
        }
        listener.half_open += 1;
        let (config, strategy) = listener.config_for(tuple.remote());
        let mut iss = self.secret.isn(now, &tuple);
        if let Some(above) = above
            && iss.ahead_of(above) <= 0
        {
            // RFC 9293 section 3.10.7.4: larger than any of the previous connection, which may have
            // outrun the clock.
            iss = above + 65_536;
        }
        let settings = self.connection_config(now, &tuple, &config, iss);
        let connection = Connection::accept(now, settings, config.strategy.build(), syn);
        let (config, owner) = (&config, Owner::HalfOpen(id));
        self.insert(now, New { tuple, connection, iss, config, strategy, owner });
    }

    /// Answers a SYN and keeps nothing.
    fn send_cookie(&mut self, now: Time, id: ListenerId, tuple: &Tuple, syn: &Repr) {
        let Some(listener) = self.listeners.get(&id) else { return };
        let config = &listener.config;
        let offered = usable(&syn.options, config.timestamps);
        let (iss, timestamp) = bake(&self.secret, now, tuple, syn.seq, &offered);
        let settings = self.connection_config(now, tuple, config, iss);
        let options = Options {
            mss: Some(settings.local_mss),
            wscale: settings.wscale.filter(|_| offered.wscale.is_some()),
            sack_permitted: config.sack && offered.sack_permitted,
            timestamps: offered
                .timestamps
                .map(|echoed| Timestamps { val: timestamp, ecr: echoed.val }),
            ..Options::default()
        };
        let answer = Repr {
            codepoint: Default::default(),
            src_port: tuple.local_port,
            dst_port: tuple.remote_port,
            seq: iss,
            ack: syn.seq + 1,
            control: Control::SYN.with(Control::ACK),
            wnd: config.receive_buffer.min(65_535) as u16,
            urgent: 0,
            options,
        };
        self.output.answer_tcp(tuple, self.class(tuple), &answer);
        self.stats.cookies_sent += 1;
    }

    /// An ACK for a listener: whether it brought a cookie back.
    fn on_cookie(
        &mut self,
        now: Time,
        id: ListenerId,
        tuple: Tuple,
        ack: &Repr,
        payload: &[u8],
    ) -> bool {
        let Some(listener) = self.listeners.get(&id) else { return false };
        if listener.last_cookie.is_none_or(|at| now.since(at) > LIFETIME) {
            return false;
        }
        let Some(offered) = verify(&self.secret, now, &tuple, ack) else { return false };
        if listener.is_full() {
            self.stats.queue_full += 1;
            return true;
        }
        let (config, strategy) = listener.config_for(tuple.remote());
        let (iss, irs) = (ack.ack - 1, ack.seq - 1);
        let settings = self.connection_config(now, &tuple, &config, iss);
        let sender = config.strategy.build();
        let own = on_our_clock(ack, self.secret.ts_offset(&tuple));
        let connection = Connection::established(now, settings, sender, irs, &offered, &own);
        let (config, owner) = (&config, Owner::Queued(id));
        self.insert(now, New { tuple, connection, iss, config, strategy, owner });
        self.stats.cookies_accepted += 1;
        self.stats.opened += 1;
        if let Some(&index) = self.demux.get(&tuple) {
            if let Some(socket) = self.table.socket(index) {
                socket.said = Said { snd_max: iss + 1, ..Said::default() };
            }
            self.queue(id, index);
            self.on_segment(now, index, ack, payload);
        }
        true
    }
}

/// A segment whose echo of our timestamp is what our clock said.
fn on_our_clock(header: &Repr, ts_offset: u32) -> Repr {
    let mut own = *header;
    // Without an ACK it says nothing (RFC 7323 section 3.2), and 0 is none.
    if let Some(ts) = &mut own.options.timestamps
        && ts.ecr != 0
        && own.control.contains(Control::ACK)
    {
        ts.ecr = ts.ecr.wrapping_sub(ts_offset);
    }
    own
}

/// The control bits that decide what a segment is.
fn essential(control: Control) -> Control {
    Control(control.0 & Control::SYN.with(Control::ACK).with(Control::RST).with(Control::FIN).0)
}

/// What of a SYN's options a cookie can hold: without timestamps, only the MSS.
fn usable(offered: &Options, timestamps: bool) -> Options {
    if timestamps && offered.timestamps.is_some() {
        *offered
    } else {
        Options { mss: offered.mss, ..Options::default() }
    }
}
