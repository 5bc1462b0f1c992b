//! The kernel's own account: trace points of its TCP (Linux `Documentation/trace/`), each
//! retransmission with the functions that led to it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::Duration;

use ackclock_tcp::Time;
use rustix::time::{ClockId, clock_gettime};

const TRACEFS: &str = "/sys/kernel/tracing";

/// What a trace point says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A segment, or several that lie together in one buffer, has been retransmitted.
    Retransmit(Caller),
    /// The state of the sender (`TCP_CA_Open` and so on) has been set.
    State(u8),
}

/// Who called for a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// `tcp_retransmit_timer`, or of a SYN/ACK `reqsk_timer_handler`.
    Timer,
    /// `tcp_send_loss_probe`.
    LossProbe,
    /// What is marked lost is retransmitted.
    Queue,
    /// A SYN/ACK answers a SYN that came again.
    Syn,
    /// The functions are missing: it happens now and then.
    Unknown,
}

/// One line of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Nanoseconds since 1970, to a microsecond.
    pub at: Time,
    /// The sender's address and port, and its peer's.
    pub ends: [String; 2],
    pub what: What,
}

/// An instance of the trace of our own, gone when this is dropped.
pub(super) struct Tracing(PathBuf);

impl Tracing {
    /// Begins; `name` has to be of nobody else.
    ///
    /// # Errors
    /// Where tracefs is not there or not for us, with the place where it has to be mounted.
    pub fn begin(name: &str) -> io::Result<Tracing> {
        let tracing = Tracing(
            Path::new(TRACEFS).join(format!("instances/ackclock-{}-{name}", process::id())),
        );
        fs::create_dir(&tracing.0).map_err(|error| {
            io::Error::new(error.kind(), format!("tracefs has to be mounted on {TRACEFS}: {error}"))
        })?;
        for (file, value) in [
            ("trace_clock", "mono"),
            ("buffer_size_kb", "4096"),
            ("events/tcp/tcp_retransmit_skb/trigger", "stacktrace"),
            ("events/tcp/tcp_retransmit_synack/trigger", "stacktrace"),
            ("events/tcp/tcp_retransmit_skb/enable", "1"),
            ("events/tcp/tcp_retransmit_synack/enable", "1"),
            ("events/tcp/tcp_cong_state_set/enable", "1"),
        ] {
            fs::write(tracing.0.join(file), value)?;
        }
        Ok(tracing)
    }

    /// All that was traced so far, as the kernel prints it.
    pub fn text(&self) -> io::Result<String> {
        fs::read_to_string(self.0.join("trace"))
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        // Without its trigger and events it can go.
        for event in ["tcp_retransmit_skb", "tcp_retransmit_synack"] {
            let _ = fs::write(self.0.join(format!("events/tcp/{event}/trigger")), "!stacktrace");
        }
        let _ = fs::write(self.0.join("events/enable"), "0");
        // It may be in use for a moment longer.
        for _ in 0..20 {
            match fs::remove_dir(&self.0) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    thread::sleep(Duration::from_millis(50))
                }
                _ => return,
            }
        }
    }
}

/// Nanoseconds from the clock of the trace to that of captures.
fn real_minus_monotonic() -> u64 {
    let now = |clock| {
        let now = clock_gettime(clock);
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    };
    // The readings may be apart if something else gets the processor in between.
    let reading = || {
        let (before, real, after) =
            (now(ClockId::Monotonic), now(ClockId::Realtime), now(ClockId::Monotonic));
        (after - before, real - (before + after) / 2)
    };
    (0..10).map(|_| reading()).min().map_or(0, |(_, offset)| offset)
}

/// What the trace says of senders at `address`. An event is a line `task-pid [cpu] flags
/// seconds.micros: name: key=value ...`; the functions that led to it follow as lines ` => name`
/// below one `<stack trace>` of the same CPU.
pub(super) fn parse(text: &str, address: &str) -> Vec<Line> {
    let offset = real_minus_monotonic();
    let mut events: Vec<(&str, Option<Line>)> = Vec::new();
    let mut stack_of: Option<usize> = None;
    for line in text.lines() {
        if let Some(function) = line.trim_start().strip_prefix("=> ") {
            let caller = match function.trim() {
                "tcp_retransmit_timer" | "reqsk_timer_handler" => Caller::Timer,
                "tcp_send_loss_probe" => Caller::LossProbe,
                name if name.starts_with("tcp_xmit_retransmit_queue") => Caller::Queue,
                _ => continue,
            };
            if let Some((_, Some(Line { what: What::Retransmit(by), .. }))) =
                stack_of.and_then(|i| events.get_mut(i))
            {
                *by = caller;
            }
            continue;
        }
        let Some((cpu, rest)) = line.split_once('[').and_then(|(_, rest)| rest.split_once(']'))
        else {
            continue;
        };
        if rest.contains("<stack trace>") {
            stack_of = events.iter().rposition(|(of, _)| *of == cpu);
            continue;
        }
        stack_of = None;
        events.push((cpu, event(rest, address, offset)));
    }
    let mut found: Vec<Line> = events.into_iter().filter_map(|(_, line)| line).collect();
    found.sort_by_key(|line| line.at);
    found
}

fn event(rest: &str, address: &str, offset: u64) -> Option<Line> {
    let mut words = rest.split_whitespace();
    let seconds = words.find(|word| word.ends_with(':') && word.contains('.'))?;
    let (seconds, micros) = seconds.trim_end_matches(':').split_once('.')?;
    let nanos = seconds.parse::<u64>().ok()? * 1_000_000_000 + micros.parse::<u64>().ok()? * 1000;
    let name = words.next()?;
    let fields: Vec<(&str, &str)> = words.filter_map(|word| word.split_once('=')).collect();
    let field = |name: &str| fields.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    let v6 = field("family")? == "AF_INET6";
    let [from, to] = if v6 { ["saddrv6", "daddrv6"] } else { ["saddr", "daddr"] };
    if field(from)? != address {
        return None;
    }
    let what = match name {
        // One that could not be sent comes again.
        "tcp_retransmit_skb:" if field("err").is_none_or(|err| err == "0") => {
            What::Retransmit(Caller::Unknown)
        }
        "tcp_retransmit_synack:" => What::Retransmit(Caller::Syn),
        "tcp_cong_state_set:" => What::State(field("cong_state")?.parse().ok()?),
        _ => return None,
    };
    let end = |address: &str, port: &str| match v6 {
        true => format!("[{address}]:{port}"),
        false => format!("{address}:{port}"),
    };
    let ends = [end(field(from)?, field("sport")?), end(field(to)?, field("dport")?)];
    Some(Line { at: Time(nanos + offset), ends, what })
}

#[cfg(test)]
mod tests;
