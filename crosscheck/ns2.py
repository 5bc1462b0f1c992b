"""Runs `network.tcl` in ns-2 and reads what its sender did."""

import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent

# Settings of ns-2 that change behaviour, as every case starts from them. What each does, and how
# ns-2's own default differs, is in README.md.
BASE = {
    "syn_": 0,
    "delay_growth_": 0,
    "overhead_": 0,
    "useHeaders_": 1,
    "tcpip_base_hdr_size_": 40,
    "packetSize_": 1000,
    "timestamps_": 0,
    "ecn_": 0,
    "numdupacks_": 3,
    "tcpTick_": 0.00002,
    "minrto_": 1,
    "maxrto_": 60,
    "rtxcur_init_": 1,
    "slow_start_restart_": 1,
    "bugfix_ss_": 1,
    "singledup_": 0,
    "maxburst_": 0,
    "window_": 64,
    "windowInit_": 1,
}


class NsError(Exception):
    """ns-2 failed or printed something unexpected."""


def start(arguments):
    """Runs ns-2, which takes a tenth of a second; very rarely it does not come back, and then it is
    run again."""
    for _ in range(3):
        try:
            return subprocess.run(["ns", *arguments], capture_output=True, text=True, timeout=20)
        except subprocess.TimeoutExpired:
            continue
    raise NsError("ns did not end")


def run(settings, drops):
    """Runs with each (packet, transmission) of `drops` lost, transmission 1 being the first.

    Returns ([(time, packet)], completion).
    """
    arguments = [f"{key}={value}" for key, value in settings.items()]
    if drops:
        arguments.append("drop=" + ",".join(f"{packet}:{number}" for packet, number in drops))
    process = start([HERE / "network.tcl", *arguments])
    sent, completion, count = [], None, {}
    for line in process.stdout.splitlines():
        fields = line.split()
        if fields[0] == "+" and fields[4] == "tcp":
            packet = int(fields[10])
            sent.append((float(fields[1]), packet))
            count[packet] = count.get(packet, 0) + 1
        elif fields[0] == "done":
            completion = float(fields[1])
        elif fields[0] not in ("+", "-", "d", "r", "unfinished"):
            raise NsError(f"unexpected output of ns: {line}")
    if process.returncode != 0 or not sent:
        raise NsError(f"ns failed: {process.stderr.strip()}")
    missing = sorted(drop for drop in drops if count.get(drop[0], 0) < drop[1])
    if missing:
        raise NsError(f"never sent, so never lost: {missing}")
    return sent, completion
