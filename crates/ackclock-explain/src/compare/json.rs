//! A comparison as JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::between::Way;
use super::change::{Change, Ratio};
use super::{Both, Comparison, Shared};
use crate::explained::Explained;
use crate::json::{CaptureJson, SummaryJson};

#[derive(Serialize)]
struct ComparisonJson<'a> {
    captures: Vec<CaptureJson<'a>>,
    totals: [SummaryJson; 2],
    same: bool,
    both: Option<BothJson>,
    unheard_syns: [u64; 2],
    change: Option<ChangeJson>,
}

#[derive(Serialize)]
struct ChangeJson {
    took_s: [f64; 2],
    ratio: f64,
    ratio_low: f64,
    ratio_high: f64,
}

#[derive(Serialize)]
struct BothJson {
    near_client: Option<usize>,
    there_and_back_s: Option<f64>,
    clock_ahead_s: Option<f64>,
    left_out: u64,
    unanswered: u64,
    alone: [u64; 2],
    from_clients: WayJson,
    from_servers: WayJson,
    connections: Vec<SharedJson>,
}

#[derive(Serialize)]
struct SharedJson {
    client: String,
    server: String,
    numbers: [Option<usize>; 2],
    from_client: WayJson,
    from_server: WayJson,
}

#[derive(Serialize)]
struct WayJson {
    bytes: u64,
    lost_between: u64,
    syns_lost_between: u64,
    again_behind: u64,
    not_before: u64,
    not_compared: u64,
    segments: u64,
    out_of_order: u64,
    delay_median_s: Option<f64>,
    delay_p99_s: Option<f64>,
}

impl WayJson {
    fn of(way: &Way) -> WayJson {
        let above_shortest = |percent| way.above_shortest(percent).map(seconds);
        WayJson {
            bytes: way.sent,
            lost_between: way.lost,
            syns_lost_between: way.syns_lost,
            again_behind: way.again,
            not_before: way.unseen,
            not_compared: way.not_compared,
            segments: way.segments,
            out_of_order: way.reordered,
            delay_median_s: above_shortest(50.0),
            delay_p99_s: above_shortest(99.0),
        }
    }
}

impl BothJson {
    fn of(both: &Both) -> BothJson {
        let clocks = both.clocks();
        let [client, server] = &both.ways;
        let connection = |shared: &Shared| {
            let [client, server] = &shared.ways;
            SharedJson {
                client: shared.client.to_string(),
                server: shared.server.to_string(),
                numbers: shared.numbers,
                from_client: WayJson::of(client),
                from_server: WayJson::of(server),
            }
        };
        BothJson {
            near_client: both.near_client,
            there_and_back_s: clocks.map(|(there_and_back, _)| there_and_back as f64 / 1e9),
            clock_ahead_s: clocks.map(|(_, ahead)| seconds(ahead)),
            left_out: both.left_out,
            unanswered: both.unanswered,
            alone: both.alone,
            from_clients: WayJson::of(client),
            from_servers: WayJson::of(server),
            connections: both.connections.iter().map(connection).collect(),
        }
    }
}

fn seconds(nanos: i64) -> f64 {
    nanos as f64 / 1e9
}

/// Writes a comparison as one JSON object: `captures`, `totals`, `both`, which is `null` if no
/// connection is in both captures, and `change`, which is `null` if one is.
///
/// # Errors
/// What writing returns.
pub fn write_compared(
    explained: &Explained,
    comparison: &Comparison,
    mut out: impl Write,
) -> io::Result<()> {
    let [first, second] = &comparison.totals;
    let document = ComparisonJson {
        captures: explained.captures.iter().map(CaptureJson::of).collect(),
        totals: [SummaryJson::of(first), SummaryJson::of(second)],
        same: comparison.same,
        both: comparison.both.as_ref().map(BothJson::of),
        unheard_syns: comparison.unheard,
        change: comparison.change.map(|Change { took, ratio: Ratio { mean, low, high } }| {
            let took_s = took.map(|span| span.secs_f64());
            ChangeJson { took_s, ratio: mean, ratio_low: low, ratio_high: high }
        }),
    };
    serde_json::to_writer(&mut out, &document)?;
    out.write_all(b"\n")?;
    out.flush()
}
