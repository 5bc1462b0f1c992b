"""Queues and traces against the models of `queue_models.py`, packet by packet.

`ackclock run --queues` says when each packet came to a queue, how long it waited, and whether it
was dropped. A model gets the arrivals and says the same. All of it has to be equal, to the
nanosecond: times are whole nanoseconds in both, and `math.isqrt` rounds CoDel's control law down
exactly.
PIE drops at random, so its model is told which packets were dropped (see `Pie`).

Each model is also run with one rule or constant that is wrong, and then has to disagree.
"""

import csv
import pathlib
import random
import subprocess
import tempfile

import ours
from queue_models import MS, SECOND, CoDel, FqCoDel, Packet, Pie, mahimahi, serve

MBIT = 1_000_000
# As many standard deviations PIE's drops may be off.
MOST_OFF = 4
# How long a run over a trace lasts.
END = 2000 * MS

# Arrivals never coincide: they come by a link of their own.
ACCESS = '[[link]]\nfrom = "s"\nto = "m"\nrate = "1gbit"\ndelay = "5ms"\n'
RATED = '[[link]]\nfrom = "m"\nto = "d"\ndelay = "15ms"\nrate = "{}mbit"\nqueue = {{ {} }}\n'
# What leaves a trace's link comes to the next one at the same time.
TRACED = ('[[link]]\nfrom = "m"\nto = "e"\nduplex = false\ndelay = "0"\ntrace = "link.trace"\n'
          'queue = {{ droptail = {{ packets = {} }} }}\n'
          '[[link]]\nfrom = "e"\nto = "d"\nduplex = false\ndelay = "0"\nrate = "100gbit"\n')


def nanoseconds(text):
    """Decimal seconds, exactly."""
    whole, _, part = text.partition(".")
    return int(whole) * SECOND + int(part.ljust(9, "0"))


def record(command, scenario, trace=()):
    """The packets of each link, by its ends, in the order in which they came."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory)
        (path / "load.toml").write_text(scenario)
        (path / "link.trace").write_text("".join(f"{at}\n" for at in trace))
        full = [command, "run", path / "load.toml", "--queues", path / "queues.csv"]
        process = subprocess.run(full, capture_output=True, text=True, timeout=120)
        if process.returncode != 0:
            raise ours.OursError(f"{process.stderr.strip()} in\n{scenario}")
        links = {}
        with open(path / "queues.csv", newline="") as file:
            for row in csv.DictReader(file):
                came = nanoseconds(row["t"])
                packet = Packet(came, int(row["size"]),
                                (came + nanoseconds(row["waited"]), row["dropped"]),
                                row["waits"] == "true")
                links.setdefault((row["from"], row["to"]), []).append(packet)
    return {ends: sorted(packets, key=lambda packet: packet.came)
            for ends, packets in links.items()}


def flow(start, strategy, mss):
    """A TCP connection that always has data. It is known by its MSS."""
    return (f'[[flow]]\nfrom = "s"\nto = "d"\nstart = "{start}ms"\nstrategy = "{strategy}"\n'
            f"tcp = {{ mss = {mss} }}\n")


def cbr(kbit, size, start, stop):
    """Datagrams at a constant rate, from `start` to `stop` in microseconds."""
    return (f'[[cbr]]\nfrom = "s"\nto = "d"\nrate = "{kbit}kbit"\npacket_size = {size}\n'
            f'start = "{start}us"\nstop = "{stop}us"\n')


def bursts(seed, count, most, sizes=(40, 1500), span=9000):
    """Bursts of up to `most` ms that begin within `span` ms, at 12 to 30 Mb/s.

    Each has a size of its own, drawn from the range `sizes`.
    """
    drawn = random.Random(seed)
    made = ""
    for size in drawn.sample(range(sizes[0], sizes[1] + 1), count):
        start = drawn.randrange(span * 1000)
        stop = start + drawn.randrange(1000, most * 1000)
        made += cbr(drawn.randrange(12_000, 30_000), size, start, stop)
    return made


def three(scale):
    """Three streams of 12, 3 and 8 Mb/s, of 1000, 300 and 700 bytes."""
    return "".join(cbr(kbit, size, start, stop * scale) for kbit, size, start, stop in
                   ((12_000, 1000, 0, 1_000_000), (3000, 300, 100_000, 2_000_000),
                    (8000, 700, 50_000, 900_000)))


TCP = flow(0, "linux", 1460) + flow(500, "linux", 1459)
TEN = "".join(flow(300 * i, "newreno", 1450 - 7 * i) for i in range(10))
REPEATED = "".join(cbr(40_000, 1000, i * 3_000_000, i * 3_000_000 + 400_000) for i in range(5))
# So many queues that no two flows share one.
APART = "flows = 65_536"
FAST = {"target": 10 * MS, "interval": 50 * MS}

# Each: a name, Mb/s, the queue, sources, seconds, the model and its settings.
LOADS = [
    ("two of TCP", 20, "codel = {}", TCP, 10, CoDel, {}),
    ("ten of TCP", 10, 'codel = { target = "10ms", interval = "50ms" }', TEN, 10, CoDel, FAST),
    ("overload", 10, "codel = { limit = 100 }", three(2), 4, CoDel, {"limit": 100}),
    ("bursts", 10, "codel = { mtu = 600 }", bursts(1, 25, 300), 11, CoDel, {"mtu": 600}),
    ("small packets", 10, 'codel = { interval = "10ms" }', bursts(2, 40, 60, (40, 140)), 10, CoDel,
     {"interval": 10 * MS}),
    ("slow", 1, "codel = {}", TCP, 20, CoDel, {}),
    ("TCP and a stream", 20, "fq_codel = {}", TCP + cbr(1000, 200, 0, 5_000_000), 8, FqCoDel, {}),
    ("ten of TCP", 10, f'fq_codel = {{ {APART}, quantum = 300, target = "10ms", '
     'interval = "50ms" }', TEN, 10, FqCoDel, {"quantum": 300, **FAST}),
    ("100 packets", 10, "fq_codel = { limit = 100 }", three(2), 4, FqCoDel, {"limit": 100}),
    ("50,000 bytes", 10, "fq_codel = { memory = 50_000, quantum = 4000 }", three(2), 4, FqCoDel,
     {"memory": 50_000, "quantum": 4000}),
    ("bursts", 10, f"fq_codel = {{ {APART}, limit = 200 }}", bursts(3, 25, 300), 11, FqCoDel,
     {"limit": 200}),
    ("ten of TCP", 10, "pie = {}", TEN, 20, Pie, {}),
    ("stream", 10, "pie = {}", cbr(12_000, 1000, 0, 10_000_000), 12, Pie, {}),
    ("again and again", 10, "pie = { limit = 10_000 }", REPEATED, 15, Pie, {"limit": 10_000}),
    ("spread", 10, "pie = { derandomize = true }", cbr(12_000, 1000, 0, 10_000_000), 12, Pie,
     {"derandomize": True}),
    ("other settings", 10, 'pie = { target = "5ms", update = "30ms", alpha = 0.5, beta = 2.0, '
     'max_burst = "1s", mean_packet_size = 4000 }', TEN, 20, Pie,
     {"target": 5 * MS, "update": 30 * MS, "alpha": 0.5, "beta": 2.0, "max_burst": SECOND,
      "mean": 4000}),
]
# Each: a trace, sources, and how many packets the queue holds.
TRACES = [
    ((1, 2, 2, 9), cbr(3000, 500, 0, 900_000), 100_000),
    ((5,), cbr(3000, 1500, 0, 900_000) + cbr(1000, 40, 0, 900_000), 50),
    ((0, 0, 1, 7, 7, 7), cbr(5000, 1499, 0, 900_000) + cbr(1000, 40, 0, 900_000), 20),
    ((100,), cbr(3000, 9000, 0, 900_000), 100_000),
]
for _seed in range(8):
    _drawn = random.Random(_seed)
    _trace = tuple(sorted(_drawn.choices(range(40), k=_drawn.randint(1, 40)))) + (40,)
    TRACES.append((_trace, bursts(_seed, 8, 300, (40, 3000), 900), 10 ** _drawn.randint(1, 4)))

# Each model with one thing wrong: only what some load has to show.
WRONG = {
    CoDel: ({"target": 5 * MS + 5000}, {"mtu": 1499}, {"carried": 12}, {"carried": 24}),
    FqCoDel: ({"quantum": 1513}, {"batch": 63}, {"share": 3}, {"counts": False},
              {"last_of_all": False}, {"turn": False}),
    Pie: ({"target": 16 * MS}, {"max_burst": 165 * MS}, {"decay": 1.0}, {"alpha": 0.126},
          {"beta": 1.26}),
    mahimahi: ({"header": 3}, {"keeps": False}),
}
CASES = {"queues: CoDel": CoDel, "queues: FQ-CoDel": FqCoDel, "queues: PIE": Pie,
         "queues: traces": mahimahi}


def differs(packets):
    """The first packet of which record and model differ, in words, or None."""
    for packet in packets:
        if not packet.agrees():
            return f"{packet.came / SECOND} s: {packet.seen}, the model {packet.found}"
    return None


def of_queue(rate, model, settings, packets):
    """What a discipline does otherwise than its model, in words, or None."""
    queue = model(**settings)
    serve(packets, queue, rate * MBIT)
    found = differs(packets)
    if model is Pie and not found:
        if queue.wrong:
            found = f"{queue.wrong} packets dropped, or not, where the other is certain"
        elif abs(queue.off()) > MOST_OFF:
            found = f"{queue.drops} drops, the model {queue.expected:.1f}"
    return found


def of_trace(trace, limit, settings, links):
    """What a trace's link does otherwise than the model, in words, or None."""
    packets, after = links["m", "e"], links["e", "d"]
    left = mahimahi(packets, trace, limit, **settings)
    left = [packet for packet in left if packet[0] <= END]
    arrived = [(packet.came, packet.size) for packet in after]
    if left != arrived:
        return f"{len(arrived)} packets leave, in the model {len(left)}, or at other times"
    return differs(packets)


def run_load(command, rate, queue, sources, seconds, model, settings):
    """Records. Returns the packets, and what compares them with the model under other settings."""
    scenario = f'duration = "{seconds}s"\n{ACCESS}{RATED.format(rate, queue)}{sources}'
    packets = record(command, scenario)["m", "d"]
    return packets, lambda other: of_queue(rate, model, {**other, **settings}, packets)


def run_trace(command, trace, sources, limit):
    """The same for a trace."""
    scenario = f'duration = "{END // MS}ms"\n{ACCESS}{TRACED.format(limit)}{sources}'
    links = record(command, scenario, trace)
    return links["m", "e"], lambda other: of_trace(trace, limit, other, links)


def check(command, pool, names):
    """Compares those of `names` that have models; returns how many outcomes are unexpected."""
    unexpected = 0
    for name in filter(CASES.get, names):
        model = CASES[name]
        loads = [(load[0], run_load, load[1:]) for load in LOADS if load[-2] is model]
        if model is mahimahi:
            loads = [(f"trace {i}", run_trace, load) for i, load in enumerate(TRACES, 1)]
        ran = list(pool.map(lambda load: load[1](command, *load[2]), loads))
        packets = [packet for recorded, _ in ran for packet in recorded]
        drops = sum(packet.seen[1] != "" for packet in packets)
        for (load, *_), (_, difference) in zip(loads, ran):
            found = difference({})
            if found:
                print(f"{name}, {load}: {found}!", flush=True)
                unexpected += 1
        for wrong in WRONG[model]:
            if not any(difference(wrong) for _, difference in ran):
                print(f"{name}: no load shows that {wrong} is wrong!", flush=True)
                unexpected += 1
        print(f"{name:<16} {len(loads):>2} loads, {len(packets):>7} packets, {drops:>6} drops; "
              f"{len(WRONG[model])} wrong models differ", flush=True)
    return unexpected
