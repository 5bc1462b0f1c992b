"""Random scenarios, and the events of each as the command writes them."""

import random
import subprocess
import tempfile
from pathlib import Path

STRATEGIES = (
    "tahoe reno newreno sack rfc3517 fack prr rate-halving sack-ff96 newreno-ack newreno-ts "
    "net-reno net-reno-sack newreno-lrx-1 newreno-lrx-3 reno-lrx sack-lrx rack-tlp linux-2.6 linux "
    "last-mile dac ns2-newreno ns2-sack oracle newreno+lt sack+lt newreno+lrxt+b2b sack+er "
    "reno+smallwnd newreno-ls+order-guard prr+f-rto newreno+cubic"
).split()


def scenario(r: random.Random, strategy: str) -> str:
    """One with a bottleneck, everything that may happen on it, and up to three flows."""
    segments = r.choice([5, 20, 60, 150, 300])
    tcp = [f"mss = {r.choice([536, 1000, 1460])}", f'rwnd = "{r.choice([4, 12, 64, 200])}seg"',
           f'delayed_ack = "{r.choice(["off", "40ms", "200ms", "bsd", "linux"])}"']
    if strategy.split("+")[0] != "oracle" and r.random() < 0.3:
        tcp.append("handshake = true")
    for key in ("timestamps", "sack", "nagle"):
        if r.random() < 0.25:
            tcp.append(f"{key} = {r.choice(['true', 'false'])}")
    queue = r.choice([f"droptail = {{ packets = {r.choice([3, 8, 30])} }}",
                      "red = { limit = 30, min = 4, max = 12 }",
                      "fred = { limit = 30, min = 4, max = 8 }"])
    link = [f'rate = "{r.choice([64, 384, 800, 2000, 20000])}kbit"',
            f'delay = "{r.choice([1, 7, 30, 100, 250])}ms"', f"queue = {{ {queue} }}"]
    for chance, line in (
        (0.2, 'jitter = "3ms"'), (0.2, "duplicate = 0.02"), (0.2, "corrupt = 0.01"),
        (0.2, 'reorder = { p = 0.03, delay = "12ms" }'),
        (0.2, 'spikes = [{ at = "1s", for = "500ms", delay = "800ms" }]'),
    ):
        if r.random() < chance:
            link.append(line)
    drop = sorted({r.randrange(segments) for _ in range(r.randrange(4))})
    again = ", ".join(f'"{k}:1"' for k in drop[:1])
    losses = [f"{{ drop = {{ segments = {drop}, retransmissions = [{again}] }} }}"]
    if r.random() < 0.4:
        p, direction = r.choice([0.01, 0.05]), r.choice(["data", "ack", "both"])
        losses.append(f'{{ bernoulli = {{ p = {p}, direction = "{direction}" }} }}')
    if r.random() < 0.2:
        losses.append("{ gilbert_elliott = { p = 0.02, r = 0.4 } }")
    link.append(f"loss = [{', '.join(losses)}]")
    fates = [f'[[link.fate]]\nack = {r.randrange(1, 20)}\nlose = true',
             f'[[link.fate]]\nsegment = {r.randrange(segments)}\nlate = "{r.randrange(1, 90)}ms"']
    flows = [f'[[flow]]\nfrom = "a"\nto = "b"\nsource = {{ segments = {segments} }}\nstart = '
             f'"{i * 300}ms"' for i in range(r.choice([1, 1, 1, 3]))]
    return "\n".join([f'duration = "60s"\nseed = {r.randrange(1, 1000)}', "[tcp]", *tcp, "[[link]]",
                      'from = "a"', 'to = "b"', *link, *r.sample(fates, r.randrange(3)),
                      *flows]) + "\n"


def cases(ackclock: Path, count: int) -> list[tuple[str, str, bytes]]:
    """Scenarios with a strategy, and what the command writes. Those that cannot run are drawn
    anew."""
    found, r = [], random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "events.jsonl"
        while len(found) < count:
            strategy = r.choice(STRATEGIES)
            text = scenario(r, strategy)
            run = subprocess.run([ackclock, "run", "-", "--strategy", strategy, "--events", lines],
                                 input=text, text=True, capture_output=True)
            if run.returncode == 0:
                found.append((text, strategy, lines.read_bytes()))
            elif run.returncode != 2:
                raise RuntimeError(f"{strategy}: {run.stderr}\n{text}")
    return found
