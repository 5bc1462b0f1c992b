//! Settings of TCP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scenario::units::{Amount, Duration, Size};
use crate::scenario::values::DelayedAck;

/// TCP settings beside the strategy. What is left out has the default given with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Tcp {
    /// Payload bytes of a full segment, 1 to 65,495, with `timestamps` to 65,483; 1460.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mss: Option<Size>,
    /// Initial congestion window in segments, 1 to 10. If left out: 10, but at most the larger
    /// of 14,600 bytes and two segments (RFC 6928 section 2), unless the window law has another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10))]
    pub initial_window: Option<u32>,
    /// Initial slow start threshold; unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<Amount>,
    /// The receiver's buffer, at most 1 GiB; 1 MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rwnd: Option<Amount>,
    /// Where the growth of the congestion window ends; recovery may inflate it further. None.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cwnd: Option<Amount>,
    /// `off`, or how long an ACK may wait for a second segment (at most 500 ms, RFC 5681), or
    /// `bsd`, until the next tick of a timer of 200 ms with a random phase for each flow, or
    /// `linux`, as Linux: each segment is acknowledged at once at the start, after a pause and
    /// where it has PSH, others after 40 ms at least, or `ns2:` and how long, as ns-2: a duplicate
    /// of the newest segment in order may wait too; 200 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<DelayedAck>,
    /// How many full segments a delayed ACK covers, the last of which may be short, 1 to 1000: more
    /// than 2 for stretch ACKs, as receivers send that merge segments (LRO, GRO). Not with
    /// `delayed_ack = "off"`, `"linux"` or `"ns2:..."`; 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub ack_every: Option<u32>,
    /// Whether SACK is negotiated; if left out it is when the strategy needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sack: Option<bool>,
    /// Whether the receiver reports duplicates (D-SACK, RFC 2883); `true`, where SACK is
    /// negotiated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dsack: Option<bool>,
    /// Whether timestamps are negotiated (RFC 7323); `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// Whether ECN is negotiated (RFC 3168): queues with `ecn` mark data instead of dropping it,
    /// and the sender lowers its window for a mark; `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Whether the receiver echoes each mark, as the strategy `dctcp` needs it (RFC 8257 section
    /// 3.2), and not until the sender answers. Only with `ecn`; `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dctcp_echo: Option<bool>,
    /// Whether the receiver echoes the timestamp of what arrives out of order too, against RFC
    /// 7323 section 4.3; `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo_out_of_order: Option<bool>,
    /// Nagle's algorithm (RFC 9293 section 3.7.4). With the window laws of Linux, only a short
    /// segment that is outstanding holds a short one back; `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nagle: Option<bool>,
    /// Most new segments that one ACK (RFC 6582 section 3.2), one write or one timer may release,
    /// at least 1; no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_burst: Option<u32>,
    /// The retransmission timer, unless the strategy names one; `rfc6298`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer: Option<TimerModel>,
    /// Lower bound of the retransmission timeout, at most `max_rto`, or 60 s where that is not
    /// given; the timer's own. The timers of Linux add it to the smoothed round trip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Duration>,
    /// Upper bound of the retransmission timeout, back-off included, at least 1 s; the timer's own:
    /// 60 s (RFC 6298 section 2.5), 64 s for BSD's, 120 s for those of Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rto: Option<Duration>,
    /// Whether the window restarts from the initial one after an idle time (RFC 5681 section 4.1);
    /// `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_restart: Option<bool>,
    /// Whether flows open and close: SYN, SYN/ACK and FIN both ways over the same links, from when
    /// the application first writes. The retransmission timer then begins with the round trip
    /// of the handshake, and the window with what the SYN/ACK can tell, 65,535 bytes at most.
    /// Not with an oracle; `mss` at least 28. `false`: flows begin as established connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake: Option<bool>,
    /// What a flow that begins as an established connection knows of its round trip: `path`, what
    /// a handshake would have measured with nothing else under way, or `none`, until data is
    /// acknowledged. Not with `handshake`, which measures it; `path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_rtt: Option<FirstRtt>,
    /// Sequence number of the first data byte; 1, so that the SYN of a capture has number 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isn: Option<u32>,
    /// The receiver's window scale shift, 0 to 14 (RFC 7323); the smallest that covers `rwnd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 14))]
    pub window_scale: Option<u8>,
    /// Bytes of the headers of a data segment; 40.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<u32>,
    /// Bytes of an ACK without options; 40.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_size: Option<u32>,
    /// Whether TCP options add to the size of packets; `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count_options: Option<bool>,
}

/// The first sample of the round trip of a flow that begins as an established connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FirstRtt {
    /// The way of a SYN there and of a SYN/ACK back over idle links: propagation and transmission,
    /// without spikes, jitter and queues (RFC 6298 section 2.2).
    #[default]
    Path,
    /// None: the timeout is that of RFC 6298 section 2.1 at first, as in ns-2.
    None,
}

/// A model of the retransmission timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TimerModel {
    /// RFC 6298: at least 1 s.
    #[default]
    Rfc6298,
    /// Linux: a variance term of at least 200 ms.
    Linux,
    /// BSD: ticks of 500 ms with a random phase for each flow.
    Bsd,
}

impl TimerModel {
    /// The mechanism of this name is the timer.
    pub fn mechanism(self) -> &'static str {
        match self {
            TimerModel::Rfc6298 => "rfc6298-timer",
            TimerModel::Linux => "linux-timer-alone",
            TimerModel::Bsd => "bsd-timer",
        }
    }
}

impl Tcp {
    /// These settings, and where they leave something open, those of `base`.
    pub fn or(&self, base: &Tcp) -> Tcp {
        let own = self.clone();
        Tcp {
            mss: own.mss.or(base.mss),
            initial_window: own.initial_window.or(base.initial_window),
            initial_ssthresh: own.initial_ssthresh.or(base.initial_ssthresh),
            rwnd: own.rwnd.or(base.rwnd),
            max_cwnd: own.max_cwnd.or(base.max_cwnd),
            delayed_ack: own.delayed_ack.or(base.delayed_ack),
            ack_every: own.ack_every.or(base.ack_every),
            sack: own.sack.or(base.sack),
            dsack: own.dsack.or(base.dsack),
            timestamps: own.timestamps.or(base.timestamps),
            ecn: own.ecn.or(base.ecn),
            dctcp_echo: own.dctcp_echo.or(base.dctcp_echo),
            echo_out_of_order: own.echo_out_of_order.or(base.echo_out_of_order),
            nagle: own.nagle.or(base.nagle),
            max_burst: own.max_burst.or(base.max_burst),
            timer: own.timer.or(base.timer),
            min_rto: own.min_rto.or(base.min_rto),
            max_rto: own.max_rto.or(base.max_rto),
            idle_restart: own.idle_restart.or(base.idle_restart),
            handshake: own.handshake.or(base.handshake),
            first_rtt: own.first_rtt.or(base.first_rtt),
            isn: own.isn.or(base.isn),
            window_scale: own.window_scale.or(base.window_scale),
            header: own.header.or(base.header),
            ack_size: own.ack_size.or(base.ack_size),
            count_options: own.count_options.or(base.count_options),
        }
    }
}
