//! The canonical compositions by name.

use super::Preset;

/// The canonical compositions. Further mechanisms are appended with `+`, and replace the one on the same axis
/// (probes and undo mechanisms add up; `hystart`, `er`, `er-1`, `er-2`, `dyn-dupthresh` and `rto-restart` keep the one named
/// before them and add to it). Where a preset has the name of a mechanism, it stands for the preset in first place only:
/// `prr` is RFC 6675 with PRR, `newreno+prr` is NewReno with PRR.
pub static PRESETS: &[Preset] = &[
    Preset { name: "tahoe", mechanisms: &["go-back-n", "bugfix"], source: "Fall & Floyd 1996 section 2" },
    Preset { name: "reno", mechanisms: &["head", "inflate-to-ssthresh"], source: "RFC 5681 section 3.2" },
    Preset { name: "newreno", mechanisms: &["partial-ack", "inflate", "bugfix"], source: "RFC 6582" },
    Preset {
        name: "newreno-bugfix",
        mechanisms: &["partial-ack", "inflate", "bugfix"],
        source: "Gurtov & Floyd 2004 section I; RFC 6582",
    },
    Preset {
        name: "newreno-nobugfix",
        mechanisms: &["partial-ack", "inflate", "no-bugfix"],
        source: "Gurtov & Floyd 2004 section II",
    },
    Preset {
        name: "newreno-ack",
        mechanisms: &["partial-ack", "inflate", "ack-heuristic", "eifel"],
        source: "Gurtov & Floyd 2004 section III.A; RFC 3522",
    },
    Preset {
        name: "newreno-ts",
        mechanisms: &["partial-ack", "inflate", "ts-heuristic", "eifel"],
        source: "Gurtov & Floyd 2004 section III.B; RFC 3522",
    },
    Preset { name: "sack", mechanisms: &["is-lost", "recovery-point", "next-seg", "pipe"], source: "RFC 6675" },
    Preset {
        name: "rfc3517",
        mechanisms: &["is-lost-3517", "recovery-point", "next-seg-3517", "pipe"],
        source: "RFC 3517",
    },
    Preset {
        name: "fack",
        mechanisms: &["fack", "recovery-point", "next-seg-3517", "pipe"],
        source: "Mathis & Mahdavi 1996; RFC 3517",
    },
    Preset { name: "prr", mechanisms: &["is-lost", "recovery-point", "next-seg", "prr"], source: "RFC 9937; RFC 6675" },
    Preset {
        name: "rate-halving",
        mechanisms: &["fack-linux", "recovery-point", "next-seg-3517", "rate-halving"],
        source: "Dukkipati et al. 2011 section 3.2",
    },
    Preset {
        name: "sack-ff96",
        mechanisms: &["dupack", "recovery-point", "ff96-holes", "ff96-pipe"],
        source: "Fall & Floyd 1996 section 3.4",
    },
    // NetBSD 1.2 restarts the timer on every ACK of new data, and lets duplicates begin a recovery at any time.
    Preset {
        name: "newreno-ls",
        mechanisms: &["slow-but-steady", "loss-sensitive", "no-bugfix"],
        source: "Lin & Kung 1998 section 5.1",
    },
    Preset {
        name: "sack-ls",
        mechanisms: &["dupack", "ff96-holes", "loss-sensitive", "no-bugfix"],
        source: "Lin & Kung 1998 section 5.2",
    },
    Preset {
        name: "net-reno",
        mechanisms: &[
            "order-guard",
            "loss-sensitive",
            "no-bugfix",
            "smallwnd",
            "marks-ts",
            "response-1",
            "b2b",
            "resend",
        ],
        source: "Lin & Kung 1998",
    },
    Preset {
        name: "net-reno-sack",
        mechanisms: &[
            "dupack",
            "ff96-holes",
            "loss-sensitive",
            "no-bugfix",
            "smallwnd",
            "marks-sack",
            "response-1",
            "b2b",
            "resend",
        ],
        source: "Lin & Kung 1998",
    },
    Preset {
        name: "newreno-lrx-1",
        mechanisms: &["partial-ack", "inflate-to-ssthresh", "bugfix", "lrx", "response-1"],
        source: "Miyake & Inamura 2005 section 3.2 option I",
    },
    Preset {
        name: "newreno-lrx-2",
        mechanisms: &["partial-ack", "inflate-to-ssthresh", "bugfix", "lrx", "response-2"],
        source: "Miyake & Inamura 2005 section 3.2 option II",
    },
    Preset {
        name: "newreno-lrx-3",
        mechanisms: &["partial-ack", "inflate-to-ssthresh", "bugfix", "lrx", "response-3"],
        source: "Miyake & Inamura 2005 section 3.2 option III",
    },
    Preset {
        name: "reno-lrx",
        mechanisms: &["head", "inflate-to-ssthresh", "bugfix", "lrx", "response-1"],
        source: "Miyake & Inamura 2005 section 4.2",
    },
    Preset {
        name: "sack-lrx",
        mechanisms: &["dupack", "recovery-point", "ff96-holes", "ff96-pipe", "lrx-sack", "response-1"],
        source: "Miyake & Inamura 2005 figure 9",
    },
    // Section 9.3 recommends the PRR of RFC 6937. In figure 1 the SACK of one segment releases two, as with its slow start bound;
    // RFC 9937's PRR would release one.
    Preset {
        name: "rack-tlp",
        mechanisms: &["rack", "recovery-point", "lost-first", "prr-ssrb", "tlp"],
        source: "RFC 8985; RFC 6937",
    },
    // The baseline of the paper's experiments, table 4 and section 3.2. Of a lost retransmission it says that recovery takes a
    // round trip longer, and nothing of the windows.
    Preset {
        name: "linux-2.6",
        mechanisms: &[
            "fack-linux",
            "dyn-dupthresh",
            "recovery-point",
            "lrx-linux",
            "response-1",
            "lost-first-rule-3",
            "rate-halving-to-ssthresh",
            "lt",
            "f-rto",
            "eifel",
            "dsack-undo",
            "cubic",
            "linux-timer",
        ],
        source: "Dukkipati et al. 2011 section 3.2 and table 4",
    },
    // What Linux 6 does by default, as far as there are mechanisms for it. It differs from these in: HyStart with ACK trains,
    // and not HyStart++; PRR with cwnd before recovery in place of RecoverFS; pacing and small queues, which are not here.
    Preset {
        name: "linux",
        mechanisms: &[
            "rack",
            "recovery-point",
            "response-1",
            "lost-first",
            "prr",
            "lt",
            "tlp",
            "f-rto",
            "eifel",
            "dsack-undo",
            "cubic",
            "hystart",
            "linux-timer",
        ],
        source: "Linux 6; RFC 8985, 9937, 5682, 3522, 3708, 9438, 9406",
    },
    // `linux` with what shortens the tail of a transfer: over a path that loses packets at random, the slowest transfers are those
    // whose last segment is lost.
    Preset {
        name: "last-mile",
        mechanisms: &[
            "rack",
            "recovery-point",
            "response-1",
            "lost-first",
            "prr",
            "lt",
            "tlp-fin",
            "f-rto",
            "eifel",
            "dsack-undo",
            "cubic",
            "hystart",
            "linux-timer",
            "rto-restart",
        ],
        source: "RFC 8985, 9937, 3042, 5682, 3522, 3708, 9438, 9406, 7765",
    },
    Preset {
        name: "dac",
        mechanisms: &["partial-ack", "inflate-to-ssthresh", "bugfix", "lrx", "response-dac"],
        source: "Miyake & Inamura 2005 section 2, on Kim & Lee 2004",
    },
    Preset {
        name: "dac-revised",
        mechanisms: &["partial-ack", "inflate-to-ssthresh", "bugfix", "lrx", "response-dac-revised"],
        source: "Miyake & Inamura 2005 section 2, on Kim et al. 2004",
    },
    // Nothing but a simulated network can tell: these two cannot be deployed.
    Preset { name: "oracle", mechanisms: &["told", "lost-first", "conserve"], source: "own: a bound, not a protocol" },
    Preset {
        name: "oracle-drop",
        mechanisms: &["told-at-once", "lost-first", "conserve"],
        source: "own: a bound, not a protocol",
    },
    Preset {
        name: "ns2-tahoe",
        mechanisms: &["go-back-n", "bugfix", "ns2-window", "ns2-timer"],
        source: "ns-2.35 Agent/TCP",
    },
    Preset {
        name: "ns2-reno",
        mechanisms: &["head", "ns2-inflate", "ns2-window", "ns2-timer"],
        source: "ns-2.35 Agent/TCP/Reno",
    },
    Preset {
        name: "ns2-newreno",
        mechanisms: &["partial-ack", "ns2-inflate-limited", "bugfix", "ns2-window", "ns2-timer"],
        source: "ns-2.35 Agent/TCP/Newreno",
    },
    Preset {
        name: "ns2-sack",
        mechanisms: &["dupack", "recovery-point", "ff96-holes", "ns2-pipe", "ns2-window", "ns2-timer"],
        source: "ns-2.35 Agent/TCP/Sack1",
    },
];
