"""Runs `network.tcl` in ns-2 and reads what its sender did."""

import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent

# Settings of ns-2 that change behaviour, as every case starts from them. What each does, and how ns-2's own default
# differs, is in README.md.
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
    "tcpTick_": 0.0001,
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


def run_once(settings, lost):
    """One run that loses the packets at these positions of the arrival order. Returns ([(time, packet)], completion)."""
    arguments = [f"{key}={value}" for key, value in settings.items()]
    if lost:
        arguments.append("drop=" + ",".join(map(str, lost)))
    process = subprocess.run(["ns", HERE / "network.tcl", *arguments], capture_output=True, text=True, timeout=60)
    sent, completion = [], None
    for line in process.stdout.splitlines():
        fields = line.split()
        if fields[0] == "+" and fields[4] == "tcp":
            sent.append((float(fields[1]), int(fields[10])))
        elif fields[0] == "done":
            completion = float(fields[1])
        elif fields[0] not in ("+", "-", "d", "r", "unfinished"):
            raise NsError(f"unexpected output of ns: {line}")
    if process.returncode != 0 or not sent:
        raise NsError(f"ns failed: {process.stderr.strip()}")
    return sent, completion


def run(settings, drops):
    """Runs with each (packet, transmission) of `drops` lost, transmission 1 being the first.

    ns-2 can lose the n-th packet of a link, not the n-th transmission of a packet, so each loss is found in turn in a run
    that already has the earlier ones: a loss changes nothing before itself.
    """
    lost, missing = [], set(drops)
    while True:
        sent, completion = run_once(settings, lost)
        if not missing:
            return sent, completion
        seen, found = {}, None
        for position, (_, packet) in enumerate(sent):
            seen[packet] = seen.get(packet, 0) + 1
            if (packet, seen[packet]) in missing:
                found = (packet, seen[packet])
                break
        if found is None:
            raise NsError(f"never sent, so never lost: {sorted(missing)}")
        lost.append(position)
        missing.remove(found)
