"""Where ns-2 departs from the RFCs, and which case shows it.

`ackclock` follows the RFCs. Its mechanisms named here do as ns-2 does: with those that EXPECTED
names for a case, the two agree in that case, and with fewer they do not (`run.py --attribute` finds
them anew).
"""

WHY = {
    "ns2-window": (
        "A loss halves min(cwnd, rwnd) in whole segments (slowdown() in tcp.cc: ssthresh_ is an "
        "integer). RFC 5681 equation 4: max(FlightSize / 2, 2*SMSS), in bytes. It shows with an "
        "odd window (15 segments: 7 instead of 7.5); and RFC 5681 holds ssthresh when the same "
        "segment times out again, where ns-2 sets 2."
    ),
    "ns2-inflate": (
        "The ACK that ends recovery also grows cwnd (opencwnd() after dupwnd_ = 0). RFC 5681 "
        "section 3.2 step 6: cwnd is set to ssthresh, no more."
    ),
    "ns2-inflate-limited": (
        "As ns2-inflate, for NewReno (RFC 6582 section 3.2 step 3, full acknowledgments)."
    ),
    "ns2-timer": (
        "The third duplicate ACK restarts the retransmission timer (reset_rtx_timer()). RFC 6298 "
        "section 5 restarts it on new acknowledgments only, so that a lost fast retransmission "
        "times out about a round trip earlier. RFC 6675 section 6 allows ns-2's way. And an ACK of "
        "the segment that ns-2 times is a sample and ends the back-off, also where it covers a "
        "retransmission too; ackclock's other timers take none, as RFC 6298 section 3 leaves open."
    ),
    "ns2-lt": (
        "Limited transmit sends the packet at t_seqno_, which after a timeout (or in Tahoe's slow "
        "start) is an old one (send_one() in tcp.cc); RFC 3042: \"previously unsent data\". With "
        "SACK it counts duplicates, so that an ACK that advances and carries a new block sends "
        "nothing; RFC 6675 section 5 goes by the pipe."
    ),
    "ff96-holes": (
        "SACK: any hole below the highest SACKed packet is retransmitted, as Fall & Floyd (1996) "
        "had it; RFC 6675 NextSeg rule 1 wants it lost (DupThresh SACKed segments above it), else "
        "new data goes first. And after a timeout ns-2 forgets SACK blocks on each ACK and "
        "retransmits what has arrived; RFC 6675 section 5.1 says that a sender SHOULD use them."
    ),
    "ns2-pipe": (
        "SACK: pipe is a counter, one less for each ACK, two for a partial one (Fall & Floyd "
        "1996); RFC 6675 recomputes it from what is SACKed and lost, so that it falls earlier when "
        "several segments are lost."
    ),
    "dupack": (
        "SACK: an ACK that advances and carries a new SACK block is no duplicate in ns-2; RFC 6675 "
        "section 2 counts it. It takes delayed ACKs to see this."
    ),
}

# Cases that agree only with the whole agent of ns-2, and which of its mechanisms the others lack.
AGENT = {
    "sack+lt: drop 14,26,28 delack": "ns2-lt",
    "tahoe: drop 14,24,26,28 delack": "ns2-timer",
    "tahoe+lt: drop 14,24,26,28": "ns2-lt",
    "tahoe+lt: drop 15,26,28,30": "ns2-lt",
    "reno+lt: drop 14 rexmit 14:1": "ns2-lt",
    "newreno+lt: drop 14 rexmit 14:1": "ns2-lt",
}

EXPECTED = {
    "tahoe: drop 14": "ns2-window",
    "tahoe: drop 14 delack": "ns2-window",
    "tahoe+lt: drop 14": "ns2-window",
    "tahoe+lt: drop 14 delack": "ns2-window",
    "reno: drop 14 delack": "ns2-inflate",
    "reno+lt: drop 14": "ns2-inflate",
    "reno+lt: drop 14 delack": "ns2-inflate",
    "newreno: drop 14": "ns2-inflate-limited+ns2-window",
    "newreno: drop 14 delack": "ns2-inflate-limited+ns2-window",
    "newreno+lt: drop 14": "ns2-inflate-limited+ns2-window",
    "newreno+lt: drop 14 delack": "ns2-inflate-limited+ns2-window",
    "tahoe: drop 14,28": "ns2-window",
    "tahoe: drop 14,28 delack": "ns2-window",
    "tahoe+lt: drop 14,28": "ns2-window",
    "reno: drop 14,28": "ns2-inflate",
    "reno: drop 14,28 delack": "ns2-inflate",
    "reno+lt: drop 14,28 delack": "ns2-inflate",
    "newreno: drop 14,28": "ns2-window",
    "newreno: drop 14,28 delack": "ns2-window",
    "newreno+lt: drop 14,28": "ns2-window",
    "newreno+lt: drop 14,28 delack": "ns2-inflate-limited+ns2-window",
    "sack: drop 14,28": "ff96-holes+ns2-pipe",
    "sack: drop 14,28 delack": "ns2-pipe+dupack",
    "sack+lt: drop 14,28": "ff96-holes+ns2-pipe",
    "sack+lt: drop 14,28 delack": "ns2-pipe",
    "tahoe: drop 14,26,28": "ns2-window",
    "tahoe+lt: drop 14,26,28": "ns2-window",
    "reno: drop 14,26,28": "ns2-window",
    "reno: drop 14,26,28 delack": "ns2-inflate",
    "reno+lt: drop 14,26,28": "ns2-window",
    "newreno: drop 14,26,28": "ns2-window",
    "newreno: drop 14,26,28 delack": "ns2-window",
    "newreno+lt: drop 14,26,28": "ns2-inflate-limited+ns2-window",
    "newreno+lt: drop 14,26,28 delack": "ns2-window",
    "sack: drop 14,26,28": "ff96-holes+ns2-pipe",
    "sack: drop 14,26,28 delack": "ff96-holes",
    "sack+lt: drop 14,26,28": "ff96-holes",
    "tahoe: drop 14,24,26,28": "ns2-window",
    "reno: drop 14,24,26,28": "ns2-window",
    "reno+lt: drop 14,24,26,28": "ns2-window",
    "newreno: drop 14,24,26,28": "ns2-window",
    "newreno: drop 14,24,26,28 delack": "ns2-window",
    "newreno+lt: drop 14,24,26,28": "ns2-window",
    "newreno+lt: drop 14,24,26,28 delack": "ns2-inflate-limited+ns2-window",
    "sack: drop 14,24,26,28": "ff96-holes+ns2-pipe",
    "sack: drop 14,24,26,28 delack": "ff96-holes",
    "sack+lt: drop 14,24,26,28": "ff96-holes",
    "sack+lt: drop 14,24,26,28 delack": "ff96-holes+ns2-pipe",
    "reno: drop 15": "ns2-inflate",
    "reno+lt: drop 15": "ns2-inflate",
    "newreno: drop 15": "ns2-inflate-limited",
    "newreno+lt: drop 15": "ns2-inflate-limited",
    "reno: drop 15,30": "ns2-inflate",
    "newreno: drop 15,30": "ns2-inflate-limited",
    "sack: drop 15,30": "ff96-holes+ns2-pipe",
    "sack+lt: drop 15,30": "ff96-holes",
    "reno: drop 15,28,30": "ns2-window",
    "reno+lt: drop 15,28,30": "ns2-window",
    "sack: drop 15,28,30": "ff96-holes+ns2-pipe",
    "sack+lt: drop 15,28,30": "ff96-holes",
    "reno: drop 15,26,28,30": "ns2-window",
    "reno+lt: drop 15,26,28,30": "ns2-window",
    "sack: drop 15,26,28,30": "ff96-holes+ns2-pipe",
    "sack+lt: drop 15,26,28,30": "ff96-holes",
    "tahoe: drop 14 rexmit 14:1": "ns2-timer",
    "tahoe+lt: drop 14 rexmit 14:1": "ns2-timer",
    "tahoe: drop 14,28 rexmit 14:1": "ns2-timer",
    "tahoe: drop 14,28 burst 4": "ns2-window",
    "tahoe: drop 14 burst 3 delack": "ns2-window",
    "tahoe: drop none n 150 queue 8": "ns2-window",
    "reno: drop 14 rexmit 14:1": "ns2-inflate+ns2-timer",
    "reno: drop 14,28 rexmit 14:1": "ns2-inflate+ns2-timer",
    "reno: drop 14,28 rexmit 28:1": "ns2-window+ns2-timer",
    "reno: drop 14 iw 4": "ns2-inflate+ns2-window",
    "reno: drop 14,28 iw 10": "ns2-inflate+ns2-window",
    "reno+lt: drop 5 n 60": "ns2-inflate+ns2-window",
    "reno: drop 14,28 burst 4": "ns2-inflate",
    "reno: drop 14 burst 3 delack": "ns2-inflate",
    "reno: drop none n 150 queue 8": "ns2-inflate+ns2-window",
    "newreno: drop 14 rexmit 14:1": "ns2-window+ns2-timer",
    "newreno: drop 14,28 rexmit 14:1": "ns2-window+ns2-timer",
    "newreno: drop 14,28 rexmit 28:1": "ns2-window",
    "newreno: drop 14 iw 4": "ns2-inflate-limited+ns2-window",
    "newreno+lt: drop 5 n 60": "ns2-inflate-limited+ns2-window",
    "newreno: drop 14,28 burst 4": "ns2-window",
    "newreno: drop 14 burst 3 delack": "ns2-inflate-limited+ns2-window",
    "newreno: drop none n 150 queue 8": "ns2-window",
    "sack: drop 14 rexmit 14:1": "ns2-window+ns2-timer",
    "sack+lt: drop 14 rexmit 14:1": "ns2-window+ns2-timer",
    "sack: drop 14,28 rexmit 14:1": "ff96-holes+ns2-pipe+ns2-window+ns2-timer",
    "sack: drop 14,28 rexmit 28:1": "ff96-holes+ns2-pipe+ns2-window",
    "sack: drop 14,28 iw 10": "ff96-holes",
    "sack: drop 14,28 burst 4": "ff96-holes+ns2-pipe",
    "sack: drop none n 150 queue 8": "ff96-holes+ns2-pipe",
    "reno+bugfix: drop 14,28": "ns2-window",
    "tahoe+no-bugfix: drop 14,28": "ns2-window",
    "newreno+slow-but-steady: drop 14,28": "ns2-window",
    "reno+bugfix: drop 14,26,28": "ns2-window",
    "tahoe+no-bugfix: drop 14,26,28": "ns2-window",
    "newreno+slow-but-steady: drop 14,26,28": "ns2-window",
    "reno+bugfix: drop 14,24,26,28": "ns2-window",
    "tahoe+no-bugfix: drop 14,24,26,28": "ns2-window",
    "newreno+slow-but-steady: drop 14,24,26,28": "ns2-window",
    "newreno+no-bugfix: drop 15-30 rexmit 20:1 timestamps": "ns2-inflate-limited+ns2-window",
    "newreno+ack-heuristic: drop 15-30 rexmit 20:1 timestamps": "ns2-inflate-limited+ns2-window",
    "newreno+ts-heuristic: drop 15-30 rexmit 20:1 timestamps": "ns2-inflate-limited+ns2-window",
    "newreno: drop 15-21,25 rexmit 15:1 timestamps": "ns2-timer",
    "newreno+no-bugfix: drop 15-21,25 rexmit 15:1 timestamps": "ns2-inflate-limited+ns2-timer",
    "newreno+ack-heuristic: drop 15-21,25 rexmit 15:1 timestamps": "ns2-timer",
    "newreno+ts-heuristic: drop 15-21,25 rexmit 15:1 timestamps": "ns2-timer",
    "newreno: drop 15-21,27 rexmit 15:1 timestamps": "ns2-timer",
    "newreno+no-bugfix: drop 15-21,27 rexmit 15:1 timestamps": "ns2-inflate-limited+ns2-timer",
    "newreno+ack-heuristic: drop 15-21,27 rexmit 15:1 timestamps": "ns2-timer",
    "newreno+ts-heuristic: drop 15-21,27 rexmit 15:1 timestamps": "ns2-timer",
    "newreno: drop 15-28,31 rexmit 15:1 timestamps": "ns2-window",
    "newreno+no-bugfix: drop 15-28,31 rexmit 15:1 timestamps": "ns2-inflate-limited+ns2-window",
    "newreno+ack-heuristic: drop 15-28,31 rexmit 15:1 timestamps": "ns2-inflate-limited+ns2-window",
    "newreno+ts-heuristic: drop 15-28,31 rexmit 15:1 timestamps": "ns2-window",
    "newreno: drop 15-23,31 rexmit 15:1,19:1 timestamps": "ns2-timer",
    "newreno+no-bugfix: drop 15-23,31 rexmit 15:1,19:1 timestamps": "ns2-timer",
    "newreno+ack-heuristic: drop 15-23,31 rexmit 15:1,19:1 timestamps": "ns2-timer",
    "newreno+ts-heuristic: drop 15-23,31 rexmit 15:1,19:1 timestamps": "ns2-timer",
    "newreno+no-bugfix: drop 15-24,26 rexmit 24:1 timestamps": "ns2-inflate-limited",
    "newreno+ack-heuristic: drop 15-24,26 rexmit 24:1 timestamps": "ns2-inflate-limited",
}
