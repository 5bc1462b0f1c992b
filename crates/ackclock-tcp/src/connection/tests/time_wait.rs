//! TIME-WAIT: how long it lasts, and what may end it sooner (RFC 9293 sections 3.6.1 and 3.10.7.4,
//! RFC 6191).

use super::*;

fn time_wait(x: &mut Script) {
    x.shutdown();
    x.sent.clear();
    x.gets("FA 301 a2");
    x.sent.clear();
    x.in_state(TimeWait).deadline(60_000);
}

fn in_time_wait(config: ConnectionConfig, script: impl Fn(&mut Script)) {
    run_established(config, |x| {
        time_wait(x);
        script(x);
    });
}

/// "Acknowledge it, and restart the 2 MSL timeout."
#[test]
fn a_fin_restarts_it() {
    in_time_wait(config(), |x| {
        x.at(10_000).gets("FA 301 a2").sends("A 2 a302 w9999").in_state(TimeWait);
        x.fire(70_000).sends("").in_state(Closed);
    });
}

/// Nothing else does.
#[test]
fn other_segments_do_not_restart_it() {
    in_time_wait(config(), |x| {
        for segment in [
            "A 301 a2",
            "PA 301+1 a2",
            "A 302 a2",
            "PA 302+1 a2",
            "FA 300 a2",
            "FA 303 a2",
            "R 303",
            "SA 302 a2",
        ] {
            x.at(10_000).gets(segment).in_state(TimeWait).deadline(60_000);
            x.sent.clear();
        }
    });
}

/// Without timestamps: a sequence number beyond the last one seen.
#[test]
fn a_syn_with_a_higher_sequence_number_ends_it() {
    in_time_wait(config(), |x| {
        x.gets("S 301").sends("A 2 a302 w9999").in_state(TimeWait);
        x.gets("S 2147483950").sends("A 2 a302 w9999").in_state(TimeWait);
        x.gets("S 302").sends("").in_state(Closed);
    });
    in_time_wait(config(), |x| {
        x.gets("SA 400 a2").sends("A 2 a302 w9999").in_state(TimeWait);
        x.gets("S 2147483949").sends("").in_state(Closed);
    });
}

/// RFC 6191 section 2, each case. The last timestamp was 1000.
#[test]
fn a_syn_with_a_higher_timestamp_ends_it() {
    let stamped = ConnectionConfig { timestamps: true, ..config() };
    let reopens = |config: &ConnectionConfig, syn: &str| {
        let reopened = core::cell::Cell::new(None);
        run(config.clone(), |x| {
            x.connect();
            x.sent.clear();
            x.gets(if config.timestamps { "SA 300 a1 ts1000/0" } else { "SA 300 a1" });
            x.sent.clear();
            x.shutdown();
            x.sent.clear();
            x.gets(if config.timestamps { "FA 301 a2 ts1000/0" } else { "FA 301 a2" });
            x.sent.clear();
            x.in_state(TimeWait).gets(syn);
            let closed = x.c.state() == Closed;
            assert_eq!(x.sent.is_empty(), closed);
            x.sent.clear();
            assert!(reopened.replace(Some(closed)).is_none_or(|before| before == closed));
        });
        reopened.get() == Some(true)
    };
    for (syn, expected) in [
        ("S 5 ts1001/0", true),
        ("S 302 ts1000/0", true),
        ("S 301 ts1000/0", false),
        ("S 500 ts999/0", false),
        // 2^31 away is as well behind as ahead.
        ("S 500 ts2147484647/0", true),
        ("S 500 ts2147484648/0", false),
        ("S 302", true),
        ("S 301", false),
    ] {
        assert_eq!(reopens(&stamped, syn), expected, "{syn}");
    }
    // Timestamps only on the new connection cannot be had if ours offers none.
    assert!(!reopens(&config(), "S 5 ts5/0"));
}

/// Where only the earlier connection had no timestamps.
#[test]
fn a_syn_with_timestamps_ends_one_without() {
    run(ConnectionConfig { timestamps: true, ..config() }, |x| {
        x.connect();
        x.sent.clear();
        x.gets("SA 300 a1");
        x.sent.clear();
        time_wait(x);
        x.gets("S 5 ts1/0").sends("").in_state(Closed);
    });
}

#[test]
fn a_reset_ends_it_and_data_is_no_news() {
    in_time_wait(config(), |x| {
        x.gets("PA 302+10 a2").sends("").keeps_nothing().in_state(TimeWait);
        x.gets("R 302").sends("").in_state(Closed).no_deadline();
    });
}
