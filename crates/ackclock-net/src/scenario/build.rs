//! From a scenario to a network ready to run.

use ackclock_tcp::axes::Told;
use ackclock_tcp::connection::ConnectionConfig;
use ackclock_tcp::strategy::Composition;
use ackclock_tcp::{Receiver, ReceiverConfig, Segment, Sender, SenderConfig, Seq, Span, Time, Timestamps};

use super::check::{Names, check, check_strategy};
use super::error::{ScenarioError, steps};
use super::model::{Arrivals, Cbr, Direction, Flow, Link, Loss, Queue, Scenario, Source, Spike, Tcp, TimerModel};
use super::names::expand;
use super::units::{Amount, Size};
use super::values::DelayedAck;
use crate::rng::Rng;
use crate::{
    Applies, CbrConfig, Dwell, Ends, Error, FlowConfig, FlowId, Limit, LinkConfig, LinkId, ListedLoss, LossModel,
    Network, NodeId, Recorder, Whole,
};

/// What one run of a scenario adds to it.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions<'a> {
    /// The seed of the run.
    pub seed: u64,
    /// The strategy of every flow, instead of its own.
    pub strategy: Option<&'a str>,
    /// Whether a recorder takes the senders' events.
    pub events: bool,
}

/// A network built from a scenario.
pub struct Simulation {
    /// The network, not yet run.
    pub network: Network,
    /// Its TCP flows.
    pub flows: Vec<BuiltFlow>,
    /// Its links, each direction by itself.
    pub links: Vec<BuiltLink>,
    /// The end of the run.
    pub until: Time,
}

/// A flow of a built network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltFlow {
    /// Its number.
    pub id: FlowId,
    /// Its name.
    pub name: String,
    /// Its strategy as given.
    pub strategy: String,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Sequence number of its first data byte.
    pub isn: Seq,
    /// When its application starts.
    pub start: Time,
    /// Whether SACK is negotiated.
    pub sack: bool,
    /// Whether timestamps are negotiated.
    pub timestamps: bool,
    /// The receiver's window scale shift.
    pub wscale: u8,
    /// The receiver's buffer in bytes.
    pub rwnd: u64,
}

/// One direction of a link of a built network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltLink {
    /// Its number.
    pub id: LinkId,
    /// Which `[[link]]` of the scenario it is a copy of.
    pub entry: usize,
    /// Whether it is the way back of a duplex link.
    pub back: bool,
}

impl Scenario {
    /// Reads and checks a scenario. Reads nothing but `text`.
    ///
    /// # Errors
    /// The first thing that is wrong with it, with its line.
    pub fn from_toml(text: &str) -> Result<Scenario, ScenarioError> {
        let scenario: Scenario = toml::from_str(text).map_err(|e| ScenarioError::from_toml(text, &e))?;
        scenario.check().map_err(|e| e.located(text))?;
        Ok(scenario)
    }

    /// The scenario as TOML, from which [`Scenario::from_toml`] reads the same scenario. Keys at their default are left
    /// out.
    ///
    /// # Errors
    /// Only if a number does not fit TOML (a drop list with a segment above 2^63).
    pub fn to_toml(&self) -> Result<String, ScenarioError> {
        toml::to_string(self).map_err(|e| ScenarioError::at(&[], e.to_string()))
    }

    /// The JSON Schema of scenario files.
    pub fn json_schema() -> serde_json::Value {
        schemars::schema_for!(Scenario).to_value()
    }

    /// Checks ranges and names, as [`Scenario::from_toml`] does.
    ///
    /// # Errors
    /// The first thing that is wrong, without a line.
    pub fn check(&self) -> Result<(), ScenarioError> {
        check(self).map(drop)
    }

    /// The node of this name, as `--pcap-at` has it; `None` if there is none, or the scenario is wrong.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        let names = check(self).ok()?;
        names.nodes.iter().position(|node| node == name).map(|index| NodeId(index as u32))
    }

    /// A network ready to run.
    ///
    /// # Errors
    /// As [`Scenario::check`], and when `options.strategy` is not a strategy.
    pub fn build(&self, options: &BuildOptions<'_>) -> Result<Simulation, ScenarioError> {
        let names = check(self)?;
        let (mut network, links) = self.build_links(&names, options.seed);
        let mut numbers = 0_u32..;
        let mut flows = Vec::new();
        for (i, flow) in self.flows.iter().enumerate() {
            let build = FlowBuilder::new(self, i, flow, options)?;
            let starts = build.starts(&names.flows[numbers.start as usize]);
            for ((copy, start), number) in (0..).zip(starts).zip(&mut numbers) {
                let (config, built) = build.flow(copy, FlowId(number), start, &names);
                network.flow(config);
                flows.push(built);
            }
        }
        for cbr in &self.cbrs {
            for (copy, number) in (0..cbr.count).zip(&mut numbers) {
                network.cbr(build_cbr(cbr, copy, number, &names));
            }
        }
        let until = Time::ZERO + self.duration.0;
        Ok(Simulation { network, flows, links, until })
    }

    /// A network of nodes and links only.
    pub(crate) fn build_links(&self, names: &Names, seed: u64) -> (Network, Vec<BuiltLink>) {
        let mut network = Network::new(seed);
        for name in &names.nodes {
            network.node(name);
        }
        let mut links = Vec::new();
        for (entry, link) in self.links.iter().enumerate() {
            build_link(entry, link, names, &mut network, &mut links);
        }
        (network, links)
    }

    /// What an error of the network means for this scenario.
    pub fn explain(&self, error: &Error) -> ScenarioError {
        let Error::NoRoute { from, to } = error else { return ScenarioError::at(&[], error.to_string()) };
        let flows = self.flows.iter().enumerate().map(|(i, f)| ("flow", i, &f.from, &f.to, f.count));
        let cbrs = self.cbrs.iter().enumerate().map(|(i, c)| ("cbr", i, &c.from, &c.to, c.count));
        for (kind, i, f, t, count) in flows.chain(cbrs) {
            let joins = |copy: u32| {
                let ends = (expand(f, copy), expand(t, copy));
                ends == (from.clone(), to.clone()) || ends == (to.clone(), from.clone())
            };
            if (0..count).any(joins) {
                return ScenarioError::at(&steps![kind, i], error.to_string());
            }
        }
        ScenarioError::at(&[], error.to_string())
    }
}

impl Simulation {
    /// Runs to the end.
    ///
    /// # Errors
    /// As [`Network::run`]; [`Scenario::explain`] says what it means for the scenario.
    pub fn run<R: Recorder>(&mut self, recorder: &mut R) -> Result<(), Error> {
        self.network.run(self.until, recorder)
    }
}

/// A name that [`check`] has found.
fn node(names: &Names, pattern: &str, copy: u32) -> NodeId {
    NodeId(names.node(&expand(pattern, copy)).unwrap_or_default())
}

fn build_link(entry: usize, link: &Link, names: &Names, network: &mut Network, links: &mut Vec<BuiltLink>) {
    let flow = |name: &Option<String>| name.as_ref().and_then(|n| names.flow(n)).map(FlowId);
    let loss: Vec<crate::Loss> = link.loss.iter().map(|l| build_loss(l, flow)).collect();
    for copy in 0..link.count {
        let config = LinkConfig {
            from: node(names, &link.from, copy),
            to: node(names, &link.to, copy),
            rate: link.rate.0,
            delay: delay(link, copy),
            queue: build_queue(link),
            loss: loss.clone(),
            spikes: link.spikes.iter().map(build_spike).collect(),
            jitter: link.jitter.unwrap_or_default().0,
            reorder: link.reorder.as_ref().map(|r| crate::Reorder {
                probability: r.p.map_or(0.0, |p| p.get()),
                segments: r.segments.clone(),
                extra_delay: r.delay.0,
            }),
            duplicate: link.duplicate.unwrap_or_default().get(),
            corrupt: link.corrupt.unwrap_or_default().get(),
        };
        if link.duplex {
            let (there, back) = network.duplex(config);
            links.push(BuiltLink { id: there, entry, back: false });
            links.push(BuiltLink { id: back, entry, back: true });
        } else {
            links.push(BuiltLink { id: network.link(config), entry, back: false });
        }
    }
}

/// The delay of copy `copy`, to the nanosecond below.
pub(super) fn delay(link: &Link, copy: u32) -> Span {
    let first = link.delay.0.nanos();
    let Some(last) = link.delay_to.map(|d| d.0.nanos()) else { return link.delay.0 };
    let share = u128::from(last.abs_diff(first)) * u128::from(copy) / u128::from(link.count.max(2) - 1);
    let share = share as u64;
    Span(if last >= first { first + share } else { first - share })
}

fn build_queue(link: &Link) -> crate::Queue {
    match &link.queue {
        None => crate::Queue::DropTail(Limit::Packets(1000)),
        Some(Queue::Droptail(q)) => match (q.packets, q.bytes) {
            (Some(packets), _) => crate::Queue::DropTail(Limit::Packets(packets)),
            (None, bytes) => crate::Queue::DropTail(Limit::Bytes(bytes.map_or(0, |b| b.0))),
        },
        Some(Queue::Red(red)) => {
            let mean_packet_size = red.mean_packet_size.map_or(500, |s| s.0 as u32);
            crate::Queue::Red(crate::Red {
                limit: red.limit,
                min_th: red.min,
                max_th: red.max,
                w_q: red
                    .weight
                    .unwrap_or_else(|| crate::Red::automatic_w_q(link.rate.0, link.delay.0, mean_packet_size)),
                max_p: red.max_p.map_or(0.1, |p| p.get()),
                gentle: red.gentle,
                wait: red.wait,
                queue_in_bytes: red.queue_in_bytes,
                byte_mode: red.byte_mode,
                mean_packet_size,
            })
        }
        Some(Queue::Fred(fred)) => crate::Queue::Fred(crate::Fred {
            limit: fred.limit,
            min_th: fred.min,
            max_th: fred.max,
            w_q: fred.weight.unwrap_or(0.002),
            max_p: fred.max_p.map_or(0.02, |p| p.get()),
            minq: fred.minq.unwrap_or(2),
            many_flows: fred.many_flows,
            mean_packet_size: fred.mean_packet_size.map_or(500, |s| s.0 as u32),
        }),
    }
}

fn build_spike(spike: &Spike) -> crate::Spike {
    crate::Spike { at: Time::ZERO + spike.at.0, lasts: spike.lasts.0, delay: spike.delay.0 }
}

fn build_loss(loss: &Loss, flow: impl Fn(&Option<String>) -> Option<FlowId>) -> crate::Loss {
    let applies = |direction| match direction {
        Direction::Data => Applies::Data,
        Direction::Ack => Applies::Acks,
        Direction::Both => Applies::Both,
    };
    match loss {
        Loss::Drop(l) => {
            let first = l.segments.iter().map(|s| ListedLoss::first(*s));
            let again = l.retransmissions.iter().map(|r| ListedLoss::retransmission(r.segment, r.nth));
            let model = LossModel::Listed(first.chain(again).collect());
            crate::Loss { model, applies: Applies::Data, flow: flow(&l.flow) }
        }
        Loss::Bernoulli(l) => {
            let model = LossModel::Bernoulli(l.p.get());
            crate::Loss { model, applies: applies(l.direction), flow: flow(&l.flow) }
        }
        Loss::GilbertElliott(l) => {
            let loss_bad = l.loss_bad.map_or(1.0, |p| p.get());
            let model =
                LossModel::GilbertElliott { p: l.p.get(), r: l.r.get(), loss_good: l.loss_good.get(), loss_bad };
            crate::Loss { model, applies: applies(l.direction), flow: flow(&l.flow) }
        }
        Loss::ThreeState(l) => {
            let model = LossModel::ThreeState {
                second_at: Time::ZERO + l.second_at.0,
                second_for: l.second_for.0,
                second_loss: l.second_loss.get(),
                third_for: l.third_for.0,
                third_loss: l.third_loss.get(),
                lose_fast_retransmission: l.lose_fast_retransmission,
            };
            crate::Loss { model, applies: applies(l.direction), flow: flow(&l.flow) }
        }
        Loss::Policer(l) => {
            let model = LossModel::Policer { rate: l.rate.0, burst: l.burst.0 as u32 };
            crate::Loss { model, applies: applies(l.direction), flow: flow(&l.flow) }
        }
    }
}

fn build_cbr(cbr: &Cbr, copy: u32, number: u32, names: &Names) -> CbrConfig {
    CbrConfig {
        name: names.flows[number as usize].clone(),
        from: node(names, &cbr.from, copy),
        to: node(names, &cbr.to, copy),
        rate: cbr.rate.0,
        packet_size: cbr.packet_size.map_or(1000, |s| s.0 as u32),
        dither: cbr.dither.get(),
        start: Time::ZERO + cbr.start.0,
        stop: cbr.stop.map(|stop| Time::ZERO + stop.0),
    }
}

/// SYNs that are sent again, as Linux does.
const SYN_RETRIES: u32 = 6;
/// 2 MSL, as Linux has it.
const TIME_WAIT: Span = Span::from_secs(60);

/// The sequence number before this one.
fn before(seq: Seq) -> Seq {
    Seq(seq.0.wrapping_sub(1))
}

/// What all copies of a flow have in common.
struct FlowBuilder<'a> {
    flow: &'a Flow,
    tcp: Tcp,
    strategy: &'a str,
    composition: Composition,
    options: &'a BuildOptions<'a>,
}

impl<'a> FlowBuilder<'a> {
    fn new(
        scenario: &'a Scenario,
        index: usize,
        flow: &'a Flow,
        options: &'a BuildOptions<'a>,
    ) -> Result<Self, ScenarioError> {
        let tcp = flow.tcp.or(&scenario.tcp);
        let strategy = options.strategy.or(flow.strategy.as_deref()).unwrap_or("newreno");
        let at = steps!["flow", index, "strategy"];
        check_strategy(strategy).map_err(|message| ScenarioError::at(&at, message))?;
        // A timer that the strategy names replaces it.
        let timer = match tcp.timer {
            None | Some(TimerModel::Rfc6298) => "rfc6298-timer",
            Some(TimerModel::Linux) => "linux-timer",
            Some(TimerModel::Bsd) => "bsd-timer",
        };
        let composition = Composition::parse(strategy).and_then(|composition| composition.or(timer));
        let composition = composition.map_err(|e| ScenarioError::at(&at, e.to_string()))?;
        if tcp.handshake == Some(true) && composition.build().detect.told() != Told::Never {
            let message =
                format!("`{strategy}` is told of losses, which goes with established connections only: no `handshake`");
            return Err(ScenarioError::at(&at, message));
        }
        Ok(FlowBuilder { flow, tcp, strategy, composition, options })
    }

    fn mss(&self) -> u32 {
        self.tcp.mss.map_or(1460, |Size(n)| n as u32)
    }

    fn rwnd(&self) -> u64 {
        self.tcp.rwnd.unwrap_or(Amount::Bytes(1 << 20)).bytes(self.mss()).min(1 << 30)
    }

    /// The smallest shift with which 16 bits cover the buffer, unless one is set.
    fn wscale(&self) -> u8 {
        let smallest = (0..14).find(|shift| self.rwnd() >> shift <= 65_535).unwrap_or(14);
        self.tcp.window_scale.unwrap_or(smallest)
    }

    /// The random numbers for `what` of the flow of this name.
    fn rng(&self, what: &str, name: &str) -> Rng {
        Rng::new(self.options.seed, &format!("scenario/{what}/{name}"))
    }

    /// When each copy starts, random spread aside. `first` is the name of the first one.
    fn starts(&self, first: &str) -> impl Iterator<Item = Time> {
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

    fn flow(&self, copy: u32, id: FlowId, start: Time, names: &Names) -> (FlowConfig, BuiltFlow) {
        let flow = self.flow;
        let name = names.flows[id.0 as usize].clone();
        let draw = |what: &str, span: Span| self.rng(what, &name).up_to(span);
        let start = start + draw("start", flow.start_spread.0);
        let (slow, fast) = (draw("tick", Span::from_millis(500)), draw("fast tick", Span::from_millis(200)));
        let (sender, receiver) = self.endpoints(slow, fast);
        let (mss, tcp) = (self.mss(), &self.tcp);
        let built = BuiltFlow {
            id,
            name: name.clone(),
            strategy: self.strategy.to_string(),
            mss,
            isn: sender.isn,
            start,
            sack: sender.sack,
            timestamps: sender.timestamps,
            wscale: sender.wscale,
            rwnd: sender.initial_rwnd,
        };
        let config = FlowConfig {
            source: self.source(&name),
            name,
            from: node(names, &flow.from, copy),
            to: node(names, &flow.to, copy),
            ends: self.ends(sender, receiver),
            start,
            stop: flow.stop.map(|stop| Time::ZERO + stop.0),
            mss,
            header: tcp.header.unwrap_or(40),
            ack_size: tcp.ack_size.unwrap_or(40),
            count_options: tcp.count_options.unwrap_or(true),
        };
        (config, built)
    }

    fn ends(&self, sender: SenderConfig, receiver: ReceiverConfig) -> Ends {
        let strategy = || self.composition.build();
        if self.tcp.handshake != Some(true) {
            return Ends::Established { sender: Sender::new(sender, strategy()), receiver: Receiver::new(receiver) };
        }
        // The MSS of the scenario is what a segment carries, that of a SYN leaves the room for options out (RFC 6691).
        let options = Segment { timestamps: sender.timestamps.then(Timestamps::default), ..Segment::default() };
        let mss = (sender.mss + options.option_len()).min(u32::from(u16::MAX)) as u16;
        let (theirs, wscale) = (sender.remote_seq, sender.wscale);
        let config = ConnectionConfig {
            iss: before(sender.isn),
            local_mss: mss,
            path_mss: mss,
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
        let mut server = ConnectionConfig { iss: before(theirs), wscale: Some(wscale), ..config.clone() };
        server.sender.events = false;
        Ends::Whole(Box::new(Whole { client: (config, strategy()), server: (server, strategy()) }))
    }

    /// With the phases of the coarse timers at either end.
    fn endpoints(&self, tick_phase: Span, fast_tick_phase: Span) -> (SenderConfig, ReceiverConfig) {
        let (mss, tcp) = (self.mss(), &self.tcp);
        let strategy = self.composition.build();
        let bytes = |amount: Amount| amount.bytes(mss);
        let isn = Seq(tcp.isn.unwrap_or(1));
        let sack = tcp.sack.unwrap_or(strategy.uses_sack);
        let timestamps = tcp.timestamps.unwrap_or(false);
        let sender = SenderConfig {
            isn,
            remote_seq: Seq(1),
            mss,
            initial_window: tcp.initial_window.unwrap_or(10),
            initial_ssthresh: tcp.initial_ssthresh.map(bytes),
            initial_rwnd: self.rwnd(),
            max_cwnd: tcp.max_cwnd.map(bytes),
            wscale: self.wscale(),
            sack,
            timestamps,
            nagle: tcp.nagle.unwrap_or(false),
            max_burst: tcp.max_burst,
            handshake_rtt: None,
            initial_rto: None,
            events: self.options.events,
            tick_phase,
            min_rto: tcp.min_rto.map(|d| d.0),
            max_rto: tcp.max_rto.map_or(Span::from_secs(60), |d| d.0),
            idle_restart: tcp.idle_restart.unwrap_or(true),
        };
        let receiver = ReceiverConfig {
            isn,
            local_seq: Seq(1),
            mss,
            delayed_ack: match tcp.delayed_ack {
                None => ackclock_tcp::DelayedAck::After(Span::from_millis(200)),
                Some(DelayedAck::Off) => ackclock_tcp::DelayedAck::Off,
                Some(DelayedAck::After(d)) => ackclock_tcp::DelayedAck::After(d.0),
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

    /// `name` is that of the copy.
    fn source(&self, name: &str) -> crate::Source {
        let mss = self.mss();
        match &self.flow.source {
            Source::Bulk => crate::Source::Bulk,
            Source::Bytes(Size(n)) => crate::Source::Fixed(*n),
            Source::Segments(n) => crate::Source::Fixed(n.saturating_mul(mss.into())),
            Source::Draw(distribution) => crate::Source::Fixed(distribution.build().draw(&mut self.rng("size", name))),
            Source::OnOff(s) => {
                let dwell = if s.exponential { Dwell::Exponential } else { Dwell::Constant };
                let write = s.write.map_or(mss, |w| w.bytes(mss).min(u32::MAX.into()) as u32);
                crate::Source::OnOff(crate::OnOff { on: dwell(s.on.0), off: dwell(s.off.0), rate: s.rate.0, write })
            }
            Source::Web(s) => crate::Source::Web(crate::Web {
                responses: s.responses,
                exactly: s.exactly,
                size: s.size.build(),
                think: s.think.0,
            }),
            Source::Writes(writes) => {
                crate::Source::Stalls(writes.iter().map(|w| (w.at.0, w.amount.bytes(mss))).collect())
            }
        }
    }
}
