//! Connections and streams of datagrams.

use ackclock_tcp::connection::ConnectionConfig;
use ackclock_tcp::recovery::detect::Notices;
use ackclock_tcp::strategy::Composition;
use ackclock_tcp::wire::{Options, window_scale};
use ackclock_tcp::{
    Receiver, ReceiverConfig, Segment, Sender, SenderConfig, Seq, Span, Time, Timestamps,
};

use super::source::build_source;
use crate::idle::IdlePaths;
use crate::packet_size::PacketSizes;
use crate::rng::Rng;
use crate::scenario::check::check_strategy;
use crate::scenario::error::ScenarioError;
use crate::scenario::model::{Arrivals, Cbr, FirstRtt, Flow, Scenario, Tcp};
use crate::scenario::names::Names;
use crate::scenario::path::steps;
use crate::scenario::simulation::{BuildOptions, BuiltFlow};
use crate::scenario::units::{Amount, Size};
use crate::scenario::values::DelayedAck;
use crate::{CbrConfig, Endpoint, Ends, FlowConfig, FlowId};

/// A copy of a stream of datagrams.
pub(super) fn build_cbr(cbr: &Cbr, copy: u32, number: u32, names: &Names) -> CbrConfig {
    CbrConfig {
        name: names.flows[number as usize].clone(),
        from: names.end(&cbr.from, copy),
        to: names.end(&cbr.to, copy),
        rate: cbr.rate.0,
        packet_size: cbr.packet_size.map_or(1000, |s| s.0 as u32),
        dither: cbr.dither.get(),
        start: Time::ZERO + cbr.start.0,
        stop: cbr.stop.map(|stop| Time::ZERO + stop.0),
    }
}

/// How often a SYN is retransmitted, as Linux does (`tcp_syn_retries`).
const SYN_RETRIES: u32 = 6;
/// 2 MSL, as Linux has it.
const TIME_WAIT: Span = Span::from_secs(60);

/// The options of a SYN, and of the SYN/ACK that answers it, with which a connection like this one
/// would open. Their values do not matter here.
fn syn_options(sender: &SenderConfig) -> Options {
    Options {
        mss: Some(0),
        wscale: Some(0),
        sack_permitted: sender.sack,
        timestamps: sender.timestamps.then(Timestamps::default),
        ..Options::default()
    }
}

/// What all copies of a flow have in common.
pub(super) struct FlowBuilder<'a> {
    flow: &'a Flow,
    tcp: Tcp,
    strategy: &'a str,
    composition: Composition,
    options: &'a BuildOptions<'a>,
}

impl<'a> FlowBuilder<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        index: usize,
        flow: &'a Flow,
        options: &'a BuildOptions<'a>,
    ) -> Result<Self, ScenarioError> {
        let tcp = flow.tcp.or(&scenario.tcp);
        let strategy = options.strategy.or(flow.strategy.as_deref()).unwrap_or("newreno");
        let at = steps!["flow", index, "strategy"];
        check_strategy(strategy, options.registry)
            .map_err(|message| ScenarioError::at(&at, message))?;
        // A timer that the strategy names replaces it.
        let timer = tcp.timer.unwrap_or_default().mechanism();
        let composition = options.registry.parse(strategy);
        let mut composition = composition.map_err(|e| ScenarioError::at(&at, e.to_string()))?;
        if let Some(timer) = options.registry.mechanism(timer) {
            composition = composition.or(timer);
        }
        if tcp.handshake == Some(true) && composition.build().detect.notices() != Notices::Never {
            let message = format!(
                "`{strategy}` needs to be notified of losses, which only established connections \
                 are; leave out `handshake`"
            );
            return Err(ScenarioError::at(&at, message));
        }
        Ok(FlowBuilder { flow, tcp, strategy, composition, options })
    }

    pub(super) fn composition(&self) -> Composition {
        self.composition.clone()
    }

    fn mss(&self) -> u32 {
        self.tcp.mss.map_or(1460, |Size(n)| n as u32)
    }

    fn sizes(&self) -> PacketSizes {
        let tcp = &self.tcp;
        PacketSizes {
            mss: self.mss(),
            header: tcp.header.unwrap_or(40),
            ack_size: tcp.ack_size.unwrap_or(40),
            count_options: tcp.count_options.unwrap_or(true),
        }
    }

    fn rwnd(&self) -> u64 {
        self.tcp.rwnd.unwrap_or(Amount::Bytes(1 << 20)).bytes(self.mss()).min(1 << 30)
    }

    fn wscale(&self) -> u8 {
        self.tcp.window_scale.unwrap_or_else(|| window_scale(self.rwnd()))
    }

    /// The random numbers for `what` of the flow of this name.
    fn rng(&self, what: &str, name: &str) -> Rng {
        Rng::new(self.options.seed, &format!("scenario/{what}/{name}"))
    }

    /// When each copy starts, random spread aside. `first` is the name of the first one.
    pub(super) fn starts(&self, first: &str) -> impl Iterator<Item = Time> {
        let Flow { start, start_step, arrivals, count, .. } = *self.flow;
        let mut rng = self.rng("arrivals", first);
        let mut at = Time::ZERO + start.0;
        (0..count).map(move |copy| {
            match arrivals {
                Some(Arrivals::Poisson(mean)) => at += rng.exponential(mean.0),
                None if copy > 0 => at += start_step.0,
                None => {}
            }
            at
        })
    }

    /// A copy of the flow.
    pub(super) fn flow(
        &self,
        copy: u32,
        id: FlowId,
        start: Time,
        names: &Names,
        idle: &mut IdlePaths,
    ) -> (FlowConfig, BuiltFlow) {
        let flow = self.flow;
        let name = names.flows[id.0 as usize].clone();
        let draw = |what: &str, span: Span| self.rng(what, &name).up_to(span);
        let start = start + draw("start", flow.start_spread.0);
        let (slow, fast) =
            (draw("tick", Span::from_millis(500)), draw("fast tick", Span::from_millis(200)));
        let (mut sender, mut receiver) = self.endpoints(slow, fast);
        let (from, to) = (names.end(&flow.from, copy), names.end(&flow.to, copy));
        let (mss, tcp) = (self.mss(), &self.tcp);
        let sizes = self.sizes();
        sender.handshake_rtt = match tcp.first_rtt.unwrap_or_default() {
            FirstRtt::Path if tcp.handshake != Some(true) => {
                let size = sizes.packet(0, || syn_options(&sender).len() as u32);
                idle.round_trip(from, to, size)
            }
            _ => None,
        };
        sender.handshake_end = start;
        if tcp.delayed_ack == Some(DelayedAck::Linux) {
            let rtt = sender.handshake_rtt.unwrap_or_default();
            receiver.delayed_ack = ackclock_tcp::DelayedAck::Linux(rtt);
        }
        let built = BuiltFlow {
            id,
            name: name.clone(),
            ends: [from, to],
            strategy: self.strategy.to_string(),
            mss,
            isn: sender.isn,
            start,
            sack: sender.sack,
            ecn: sender.ecn,
            timestamps: sender.timestamps,
            wscale: sender.wscale,
            rwnd: sender.initial_rwnd,
        };
        let config = FlowConfig {
            source: build_source(&flow.source, mss, || self.rng("size", &name)),
            name,
            from,
            to,
            ends: self.ends(sender, receiver),
            start,
            stop: flow.stop.map(|stop| Time::ZERO + stop.0),
            mss,
            header: sizes.header,
            ack_size: sizes.ack_size,
            count_options: sizes.count_options,
        };
        (config, built)
    }

    fn ends(&self, sender: SenderConfig, receiver: ReceiverConfig) -> Ends {
        let strategy = || self.composition.build();
        if self.tcp.handshake != Some(true) {
            return Ends::Established {
                sender: Sender::new(sender, strategy()),
                receiver: Receiver::new(receiver),
            };
        }
        // The MSS of the scenario is what a segment carries beside its options. The MSS of a SYN
        // counts as if there were none (RFC 6691).
        let options = Segment {
            timestamps: sender.timestamps.then(Timestamps::default),
            ..Segment::default()
        };
        let mss = (sender.mss + options.option_len()).min(u32::from(u16::MAX)) as u16;
        let (theirs, wscale) = (sender.remote_seq, sender.wscale);
        let config = ConnectionConfig {
            ecn: sender.ecn,
            iss: sender.isn - 1,
            local_mss: mss,
            path_mss: mss,
            wide_path_mss: None,
            least_path_mss: None,
            sack: sender.sack,
            timestamps: sender.timestamps,
            wscale: Some(0),
            sender,
            receiver,
            syn_retries: SYN_RETRIES,
            keep_alive: None,
            user_timeout: None,
            time_wait: TIME_WAIT,
            fin_wait_2: TIME_WAIT,
        };
        let mut server =
            ConnectionConfig { iss: theirs - 1, wscale: Some(wscale), ..config.clone() };
        server.sender.events = false;
        let end = |config| Box::new(Endpoint { config, strategy: strategy() });
        Ends::Handshake { client: end(config), server: end(server) }
    }

    /// How both ends behave, with the phases of the coarse timers at either end.
    fn endpoints(&self, tick_phase: Span, fast_tick_phase: Span) -> (SenderConfig, ReceiverConfig) {
        let (mss, tcp) = (self.mss(), &self.tcp);
        let strategy = self.composition.build();
        let bytes = |amount: Amount| amount.bytes(mss);
        let isn = Seq(tcp.isn.unwrap_or(1));
        let sack = tcp.sack.unwrap_or(strategy.uses_sack);
        let timestamps = tcp.timestamps.unwrap_or(false);
        let ecn = tcp.ecn.unwrap_or(false);
        let sender = SenderConfig {
            ecn,
            isn,
            remote_seq: Seq(1),
            mss,
            initial_window: tcp.initial_window,
            initial_ssthresh: tcp.initial_ssthresh.map(bytes),
            initial_rwnd: self.rwnd(),
            max_cwnd: tcp.max_cwnd.map(bytes),
            wscale: self.wscale(),
            sack,
            timestamps,
            nagle: tcp.nagle.unwrap_or(false),
            max_burst: tcp.max_burst,
            handshake_rtt: None,
            handshake_end: Time::ZERO,
            syn_retransmissions: 0,
            syn_spurious: false,
            initial_rto: None,
            events: self.options.events,
            tick_phase,
            min_rto: tcp.min_rto.map(|d| d.0),
            max_rto: tcp.max_rto.map(|d| d.0),
            idle_restart: tcp.idle_restart.unwrap_or(true),
        };
        let receiver = ReceiverConfig {
            ecn,
            dctcp_echo: tcp.dctcp_echo.unwrap_or(false),
            isn,
            local_seq: Seq(1),
            mss,
            delayed_ack: match tcp.delayed_ack {
                None => ackclock_tcp::DelayedAck::After(Span::from_millis(200)),
                Some(DelayedAck::Off) => ackclock_tcp::DelayedAck::Off,
                Some(DelayedAck::After(d)) => ackclock_tcp::DelayedAck::After(d.0),
                Some(DelayedAck::Linux) => ackclock_tcp::DelayedAck::Linux(Span::ZERO),
                Some(DelayedAck::Ns2(d)) => ackclock_tcp::DelayedAck::Ns2(d.0),
                Some(DelayedAck::Bsd) => ackclock_tcp::DelayedAck::FastTimer(fast_tick_phase),
            },
            ack_every: tcp.ack_every.unwrap_or(2),
            sack,
            dsack: sack && tcp.dsack.unwrap_or(true),
            timestamps,
            echo_out_of_order: tcp.echo_out_of_order.unwrap_or(false),
            buffer: self.rwnd(),
            wscale: self.wscale(),
            auto_read: true,
        };
        (sender, receiver)
    }
}
