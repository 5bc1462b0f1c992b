//! Writes a table, events, captures and pictures of one lossy transfer under several strategies into a directory:
//!
//! `cargo run -p ackclock-report --example lossy -- DIRECTORY [SEGMENTS] [STRATEGY,...]`
//!
//! The network is the least that loses: a bottleneck of 800 kbit/s with a queue of 20 packets, 100 ms away, that drops
//! the first transmissions of segments 28, 30 and 32 and the second one of segment 30.

use std::collections::VecDeque;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use ackclock_report::{
    CaptureFormat, CaptureWriter, EventWriter, FlowSummary, Handshake, Panel, Picture, summary_table,
};
use ackclock_tcp::{
    Cause, Composition, DelayedAck, Event, EventKind, Receiver, ReceiverConfig, Segment, Sender, SenderConfig, Seq,
    Span, Time,
};

const MSS: u32 = 1000;
const DROPS: [(u64, u32); 4] = [(28, 1), (30, 1), (32, 1), (30, 2)];
const QUEUE: usize = 20;
const DELAY: Span = Span::from_millis(100);

/// A data segment in the network: when it leaves the bottleneck or arrives, and its position.
type Data = (Time, Segment, u64);

#[derive(Default)]
struct Run {
    events: Vec<Event>,
    packets: Vec<(Time, Segment, Option<(Cause, u32)>)>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let directory = args.next().ok_or("which directory?")?;
    let directory = Path::new(&directory);
    let segments: u64 = args.next().map_or(Ok(100), |n| n.parse())?;
    let strategies = args.next().unwrap_or_else(|| "tahoe,reno,newreno,sack".into());
    std::fs::create_dir_all(directory)?;

    let mut flows = Vec::new();
    for (flow, strategy) in (0..).zip(strategies.split(',')) {
        let (run, summary) = transfer(flow, strategy, segments * u64::from(MSS))?;
        flows.push((strategy, run, summary));
    }
    let summaries: Vec<FlowSummary> = flows.iter().map(|(_, _, summary)| summary.clone()).collect();
    print!("{}", summary_table(&summaries));

    let mut events = EventWriter::new(BufWriter::new(File::create(directory.join("lossy.jsonl"))?));
    for ((strategy, run, _), flow) in flows.iter().zip(0..) {
        for event in &run.events {
            events.record(flow, strategy, event)?;
        }
    }
    events.finish()?;
    for name in ["lossy.pcapng", "lossy.pcap"] {
        capture(&directory.join(name), &flows)?;
    }
    let panels: Vec<Panel> = flows
        .iter()
        .map(|(name, run, summary)| Panel { name, mss: MSS, events: &run.events, summary: Some(summary) })
        .collect();
    let parameters = [("bottleneck", "800kbit 100ms"), ("queue", "20 packets"), ("MSS", "1000 bytes")]
        .map(|(name, value)| (name.to_string(), value.to_string()));
    let title = "Four losses, one of them a retransmission";
    let picture = Picture { title, parameters: &parameters, panels: &panels };
    std::fs::write(directory.join("lossy.html"), picture.to_html())?;
    std::fs::write(directory.join("lossy.svg"), picture.to_svg())?;
    Ok(())
}

fn capture(path: &Path, flows: &[(&str, Run, FlowSummary)]) -> Result<(), Box<dyn Error>> {
    let mut capture = CaptureWriter::new(BufWriter::new(File::create(path)?), CaptureFormat::for_path(path))?;
    let mut packets = Vec::new();
    for ((_, run, _), flow) in flows.iter().zip(0..) {
        capture.connection(flow, Handshake { mss: MSS, receiver_wscale: 7, rwnd: 64_000, ..Handshake::default() });
        packets.extend(run.packets.iter().map(|packet| (flow, packet)));
    }
    packets.sort_by_key(|(_, (at, ..))| *at);
    for (flow, (at, segment, sent)) in packets {
        match sent {
            Some((cause, transmission)) => capture.sent(flow, *at, segment, *cause, *transmission)?,
            None => capture.received(flow, *at, segment)?,
        }
    }
    capture.finish()?;
    Ok(())
}

/// One transfer of `bytes`. Times in the queues below ascend, so the next thing to happen is at the front of one.
fn transfer(flow: u32, strategy: &str, bytes: u64) -> Result<(Run, FlowSummary), Box<dyn Error>> {
    let config = SenderConfig {
        isn: Seq(1),
        remote_seq: Seq(1),
        mss: MSS,
        initial_window: 1,
        initial_rwnd: 64_000,
        timestamps: flow % 2 == 1,
        events: true,
        ..SenderConfig::default()
    };
    let receiver = ReceiverConfig {
        isn: Seq(1),
        local_seq: Seq(1),
        mss: MSS,
        buffer: 64_000,
        delayed_ack: DelayedAck::Off,
        timestamps: flow % 2 == 1,
        ..ReceiverConfig::default()
    };
    let mut sender = Sender::new(config, Composition::parse(strategy)?.build());
    let mut receiver = Receiver::new(receiver);
    let mut run = Run::default();
    let (mut queue, mut flight, mut acks) = (VecDeque::<Data>::new(), VecDeque::<Data>::new(), VecDeque::new());
    let (mut now, mut idle_from, mut drops, mut spurious) = (Time::ZERO, Time::ZERO, 0, 0);
    sender.write(now, bytes);
    sender.close(now);
    loop {
        let mut lost = Vec::new();
        while let Some(sent) = sender.poll_transmit(now) {
            run.packets.push((now, sent.segment, Some((sent.cause, sent.transmission))));
            let listed = DROPS.contains(&(sent.position / u64::from(MSS), sent.transmission));
            if listed || queue.len() >= QUEUE {
                let why = if listed { "list" } else { "queue" };
                lost.push(EventKind::Dropped { seq: sent.position, len: sent.segment.len, link: 0, why });
                continue;
            }
            idle_from = idle_from.max(now) + Span::from_micros(10).times(sent.segment.len.into());
            queue.push_back((idle_from, sent.segment, sent.position));
        }
        while let Some(event) = sender.poll_event() {
            run.events.push(event);
        }
        let last = *run.events.last().ok_or("a sender that does nothing")?;
        drops += lost.len() as u64;
        run.events.extend(lost.into_iter().map(|kind| Event { kind, ..last }));
        if sender.is_idle() {
            break;
        }
        let front = |q: &VecDeque<Data>| q.front().map_or(Time::NEVER, |d| d.0);
        let ack = acks.front().map_or(Time::NEVER, |(at, _): &(Time, Segment)| *at);
        now = front(&queue).min(front(&flight)).min(ack).min(sender.next_deadline());
        if front(&queue) == now {
            flight.extend(queue.pop_front().map(|(at, segment, position)| (at + DELAY, segment, position)));
        } else if front(&flight) == now {
            if let Some((_, segment, position)) = flight.pop_front() {
                let before = receiver.rcv_nxt();
                receiver.on_segment(now, &segment);
                let needless = position + u64::from(segment.len) <= before;
                spurious += u64::from(needless);
                let kind = EventKind::Arrived { seq: position, len: segment.len, needless };
                run.events.push(Event { at: now, kind, ..last });
                while let Some(segment) = receiver.poll_transmit(now) {
                    acks.push_back((now + DELAY, segment));
                }
            }
        } else if ack == now {
            if let Some((_, segment)) = acks.pop_front() {
                run.packets.push((now, segment, None));
                sender.on_segment(now, &segment);
            }
        } else {
            sender.on_deadline(now);
        }
    }
    let stats = sender.stats();
    let [timeouts_non_trigger, timeouts_multiple_losses, timeouts_lost_retransmission] = stats.timeouts_by_class;
    let summary = FlowSummary {
        strategy: strategy.into(),
        seed: 1,
        flow,
        bytes_acked: sender.acked(),
        segments_sent: stats.segments_sent,
        retransmissions: stats.retransmissions,
        fast_retransmissions: stats.fast_retransmissions,
        timeouts: stats.timeouts,
        timeouts_non_trigger,
        timeouts_multiple_losses,
        timeouts_lost_retransmission,
        recoveries: stats.recoveries,
        drops,
        spurious_retransmissions: spurious,
        goodput_bps: sender.acked() as f64 * 8.0 / now.secs_f64(),
        completion_s: Some(now.secs_f64()),
    };
    Ok((run, summary))
}
