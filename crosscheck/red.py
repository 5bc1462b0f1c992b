"""RED against ns-2, packet by packet, where chance plays no part.

The thresholds are a hair apart and `max_p` is 1. So each packet that finds the average above them
is dropped, and no other one, but for the rules that spread drops. What remains is the average, its
decay over idle times, and those rules. ns-2 gets the arrivals that `ackclock run --queues` wrote.

The access link delays each packet at random, so that none comes just as another one leaves. There
the last bit of a floating-point number decides in ns-2 what is first.
"""

import itertools
import tempfile

import ns2
import queues

HERE = ns2.HERE
CASE = "queues: RED"
HAIR = 1e-9
# Nanoseconds: ns-2 rounds the times of its trace to microseconds.
WAITS_WITHIN = 1100
# Settings of ns-2 that are changed, each of which some load has to show.
WRONG = {
    "q_weight_": lambda weight: weight * 1.001,
    "mean_pktsize_": lambda size: size + 5,
    "thresh_": lambda packets: packets - 0.01,
    "wait_": lambda wait: 1 - wait,
    "bytes_": lambda in_bytes: 1 - in_bytes,
    "queue_in_bytes_": lambda in_bytes: 1 - in_bytes,
    "limit": lambda packets: packets - 1,
}


def ours_as(settings):
    """The queue in a scenario."""
    def value(it):
        return str(it).lower() if isinstance(it, bool) else repr(it)

    keys = {"max": settings["min"] + HAIR, "max_p": 1.0, **settings}
    return "red = { " + ", ".join(f"{key} = {value(it)}" for key, it in keys.items()) + " }"


def ns2_as(settings):
    """The same settings in ns-2. `use_mark_p_` is its default."""
    return {"thresh_": settings["min"], "maxthresh_": settings["min"] + HAIR, "linterm_": 1,
            "use_mark_p_": 1, "q_weight_": settings.get("weight", -1), "limit": settings["limit"],
            "gentle_": int(settings["gentle"]), "wait_": int(settings["wait"]),
            "bytes_": int(settings["byte_mode"]), "mean_pktsize_": settings["mean_packet_size"],
            "queue_in_bytes_": int(settings["queue_in_bytes"])}


def run_ns2(packets, settings):
    """How long each packet waits in ns-2, in nanoseconds, or None if it is dropped."""
    with tempfile.NamedTemporaryFile("w") as file:
        for packet in packets:
            file.write(f"{packet.came // queues.SECOND}.{packet.came % queues.SECOND:09} "
                       f"{packet.size}\n")
        file.flush()
        process = ns2.start([HERE / "red.tcl", file.name,
                             *(f"{key}={it}" for key, it in settings.items())])
    came, waits = {}, {}
    for event, time, *_, number in map(str.split, process.stdout.splitlines()):
        if event == "+":
            came[number] = float(time)
        elif event == "-":
            waits[number] = round((float(time) - came[number]) * queues.SECOND)
        elif event == "d":
            waits[number] = None
    if process.returncode != 0 or len(came) != len(packets):
        raise ns2.NsError(f"ns failed: {process.stderr.strip()}")
    return [waits[number] for number in came]


def difference(packets, waits):
    """The first packet that fares otherwise in ns-2, in words, or None."""
    for number, (packet, wait) in enumerate(zip(packets, waits)):
        (until, dropped), came = packet.seen, packet.came
        if bool(dropped) != (wait is None):
            return (f"packet {number} at {came / queues.SECOND} s: "
                    f"{dropped or 'not dropped'}, ns-2 {'not ' * (wait is not None)}dropped")
        if wait is not None and abs(until - came - wait) > WAITS_WITHIN:
            return f"packet {number} waits {until - came} ns, ns-2 {wait}"
    return None


def loads():
    """Settings and sources of each comparison."""
    modes = itertools.product((0.002, 0.03, 0.4, None), (False, True), (False, True), (False, True))
    for seed, (weight, wait, in_bytes, byte_mode) in enumerate(modes):
        settings = {"limit": 25 if seed % 3 else 60, "min": {0.002: 1.3, 0.4: 9.3}.get(weight, 5.3),
                    "gentle": seed % 5 == 0, "wait": wait, "queue_in_bytes": in_bytes,
                    "byte_mode": byte_mode, "mean_packet_size": (500, 1000, 333)[seed % 3]}
        if weight:
            settings["weight"] = weight
        sources = queues.bursts(seed, 15, 40, span=2500)
        if seed % 2:
            sources += queues.flow(0, "newreno", 1460)
        yield settings, sources


def run(command, settings, sources):
    """The packets at the queue, and the first difference."""
    access = queues.ACCESS + 'jitter = "50us"\n'
    link = queues.RATED.format(8, ours_as(settings))
    packets = queues.record(command, f'duration = "3s"\n{access}{link}{sources}')["m", "d"]
    packets = [packet for packet in packets if not packet.waits]
    return packets, difference(packets, run_ns2(packets, ns2_as(settings)))


def check(command, pool, names):
    """Compares if RED is one of `names`; returns how many outcomes are unexpected."""
    if CASE not in names:
        return 0
    selected = list(loads())
    ran = list(pool.map(lambda load: run(command, *load), selected))
    unexpected = 0
    for (settings, _), (_, found) in zip(selected, ran):
        if found:
            unexpected += 1
            print(f"{CASE}, {settings}: {found}!", flush=True)
    for key, change in WRONG.items():
        wrong = ((packets, {**ns2_as(settings), key: change(ns2_as(settings)[key])})
                 for (settings, _), (packets, _) in zip(selected, ran))
        if not any(difference(packets, run_ns2(packets, settings)) for packets, settings in wrong):
            unexpected += 1
            print(f"{CASE}: no load shows that {key} is wrong!", flush=True)
    packets = [packet for recorded, _ in ran for packet in recorded]
    drops = sum(packet.seen[1] != "" for packet in packets)
    print(f"{CASE:<16} {len(selected)} loads, {len(packets):>7} packets, {drops:>6} drops; "
          f"{len(WRONG)} wrong settings differ", flush=True)
    return unexpected
