//! The canonical compositions by name.

/// The canonical compositions: name, mechanisms, source. A name that stands here for the first time
/// means a mechanism.
pub(super) fn presets() -> [(&'static str, &'static str, &'static str); 36] {
    [
        ("tahoe", "go-back-n+bugfix", "Fall & Floyd 1996 section 2"),
        ("reno", "head+inflate-to-ssthresh", "RFC 5681 section 3.2"),
        ("newreno", "partial-ack+inflate+bugfix", "RFC 6582"),
        ("newreno-bugfix", "partial-ack+inflate+bugfix", "Gurtov & Floyd 2004 section I; RFC 6582"),
        ("newreno-nobugfix", "partial-ack+inflate+no-bugfix", "Gurtov & Floyd 2004 section II"),
        (
            "newreno-ack",
            "partial-ack+inflate+ack-heuristic+eifel",
            "Gurtov & Floyd 2004 section III.A; RFC 3522",
        ),
        (
            "newreno-ts",
            "partial-ack+inflate+ts-heuristic+eifel",
            "Gurtov & Floyd 2004 section III.B; RFC 3522",
        ),
        ("sack", "is-lost+recovery-point+next-seg+pipe", "RFC 6675"),
        ("rfc3517", "is-lost-3517+recovery-point+next-seg-3517+pipe", "RFC 3517"),
        ("fack", "fack+recovery-point+next-seg-3517+pipe", "Mathis & Mahdavi 1996; RFC 3517"),
        ("prr", "is-lost+recovery-point+next-seg+prr", "RFC 9937; RFC 6675"),
        (
            "rate-halving",
            "fack-linux+recovery-point+next-seg-3517+rate-halving",
            "Dukkipati et al. 2011 section 3.2",
        ),
        (
            "sack-ff96",
            "dupack+recovery-point+ff96-holes+ff96-pipe",
            "Fall & Floyd 1996 section 3.4",
        ),
        // NetBSD 1.2 restarts the timer on every ACK of new data, and lets duplicates begin a
        // recovery at any time.
        ("newreno-ls", "slow-but-steady+loss-sensitive+no-bugfix", "Lin & Kung 1998 section 5.1"),
        ("sack-ls", "dupack+ff96-holes+loss-sensitive+no-bugfix", "Lin & Kung 1998 section 5.2"),
        (
            "net-reno",
            "order-guard+loss-sensitive+no-bugfix+smallwnd+marks-ts+response-1+b2b\
             +resend",
            "Lin & Kung 1998",
        ),
        (
            "net-reno-sack",
            "dupack+ff96-holes+loss-sensitive+no-bugfix+smallwnd+marks-sack\
             +response-1+b2b+resend",
            "Lin & Kung 1998",
        ),
        (
            "newreno-lrx-1",
            "partial-ack+inflate-to-ssthresh+bugfix+lrx+response-1",
            "Miyake & Inamura 2005 section 3.2 option I",
        ),
        (
            "newreno-lrx-2",
            "partial-ack+inflate-to-ssthresh+bugfix+lrx+response-2",
            "Miyake & Inamura 2005 section 3.2 option II",
        ),
        (
            "newreno-lrx-3",
            "partial-ack+inflate-to-ssthresh+bugfix+lrx+response-3",
            "Miyake & Inamura 2005 section 3.2 option III",
        ),
        (
            "reno-lrx",
            "head+inflate-to-ssthresh+bugfix+lrx+response-1",
            "Miyake & Inamura 2005 section 4.2",
        ),
        (
            "sack-lrx",
            "dupack+recovery-point+ff96-holes+ff96-pipe+lrx-sack+response-1",
            "Miyake & Inamura 2005 figure 9",
        ),
        // Section 9.3 recommends the PRR of RFC 6937. In figure 1 the SACK of one segment releases
        // two, as with its slow start bound; RFC 9937's PRR would release one.
        ("rack-tlp", "rack+recovery-point+lost-first+prr-ssrb+tlp", "RFC 8985; RFC 6937"),
        // The baseline of the paper's experiments, table 4 and section 3.2. Of a lost
        // retransmission it says that recovery takes a round trip longer, and nothing of the
        // windows.
        (
            "linux-2.6",
            "fack-linux+dyn-dupthresh+recovery-point+lrx-linux+response-1\
             +lost-first-rule-3+rate-halving-to-ssthresh+lt+f-rto+eifel+dsack-undo\
             +cubic+linux-timer-alone",
            "Dukkipati et al. 2011 section 3.2 and table 4",
        ),
        // What Linux 6.18 does by default, as it was seen to and as its functions say. Not here are
        // pacing, small queues and segmentation offload.
        (
            "linux",
            "linux-rack+linux-alert+response-1+linux-lost-first+linux-prr+linux-tlp+linux-undo\
             +linux-f-rto+linux-cubic+linux-timer",
            "Linux 6.18",
        ),
        // The same with BBR, which paces and has no PRR.
        (
            "bbr",
            "linux-rack+linux-alert+response-1+linux-lost-first+by-window+linux-tlp+linux-undo\
             +linux-f-rto+bbr-window+linux-pacing+linux-timer",
            "Linux 6.18 tcp_bbr.c; Cardwell et al. 2016",
        ),
        (
            "bbr3",
            "linux-rack+linux-alert+response-1+linux-lost-first+by-window+linux-tlp+linux-undo\
             +linux-f-rto+bbr3-window+linux-pacing+linux-timer",
            "draft-ietf-ccwg-bbr-06; Linux 6.18",
        ),
        // `linux` with what shortens the slowest transfers over a path that loses packets at
        // random: those whose last segment is lost, whose retransmission is lost, and whose window
        // was lowered early.
        (
            "last-mile",
            "linux-rack+linux-alert+response-1+linux-lost-first+linux-prr+linux-tlp-fin+linux-undo\
             +linux-f-rto+linux-cubic+linux-timer+rto-restart+recovery-probe+tolerant-start",
            "Linux 6.18; RFC 7765; RFC 9002; draft-ietf-ccwg-bbr-06",
        ),
        (
            "dac",
            "partial-ack+inflate-to-ssthresh+bugfix+lrx+response-dac",
            "Miyake & Inamura 2005 section 2, on Kim & Lee 2004",
        ),
        (
            "dac-revised",
            "partial-ack+inflate-to-ssthresh+bugfix+lrx+response-dac-revised",
            "Miyake & Inamura 2005 section 2, on Kim et al. 2004",
        ),
        // Only a simulated network can notify a sender: these two cannot be deployed.
        ("oracle", "notified+lost-first+conserve+lower-once", "own: a bound, not a protocol"),
        (
            "oracle-drop",
            "notified-at-once+lost-first+conserve+lower-once",
            "own: a bound, not a protocol",
        ),
        ("ns2-tahoe", "ns2-dupack+go-back-n+bugfix+ns2-window+ns2-timer", "ns-2.35 Agent/TCP"),
        ("ns2-reno", "head+ns2-inflate+ns2-release+ns2-window+ns2-timer", "ns-2.35 Agent/TCP/Reno"),
        (
            "ns2-newreno",
            "partial-ack+ns2-inflate-limited+ns2-release-two+bugfix+ns2-window+ns2-timer",
            "ns-2.35 Agent/TCP/Newreno",
        ),
        (
            "ns2-sack",
            "ns2-dupack-sack+ns2-recovery-point+ff96-holes+ns2-pipe+ns2-release-sack+ns2-window+ns2-timer",
            "ns-2.35 Agent/TCP/Sack1",
        ),
    ]
}
