#!/usr/bin/env python3
"""`ackclock impair` beside kernels that send through `ackclock gateway`.

In each cell a server sends --transfers times --kilobytes to a client, each time over a new
connection, over the same link: from kernel to kernel through the gateway, between two network
namespaces, and through the proxy. Both take turns, with another seed each time. Printed is the time
from `connect` to the last byte: quantiles of the proxy's in units of the kernels', with 95 %
intervals of the bootstrap, and the kernels' own.

The goodput is that of --gigabytes through a proxy without loss, with no link and with one of 1 ms.

The 99th percentile takes more transfers: --transfers 5000 --quantiles 99. Needs root.
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "clients" / "python"))
from ackclock_impair import Impair  # noqa: E402

ACKCLOCK = os.environ.get("ACKCLOCK", str(ROOT / "target" / "release" / "ackclock"))
# Name, rate, one-way delay, and losses of data segments, in each direction.
CELLS = (
    ("no loss", "20mbit", "20ms", ""),
    ("1 % loss", "20mbit", "20ms", '{ bernoulli = { p = "1%" } }'),
    ("5 % loss", "10mbit", "10ms", '{ bernoulli = { p = "5%" } }'),
    ("bursts of 4, 2 %", "20mbit", "20ms",
     '{ gilbert_elliott = { p = "0.51%", r = "25%", direction = "data" } }'),
)
SCENARIO = """
duration = "1s"
[[link]]
from = "client"
to = "server"
rate = "{rate}"
delay = "{delay}"
queue = {{ droptail = {{ packets = 200 }} }}
loss = [{loss}]
"""


def serve(host, size):
    """Sends so many bytes to each client after its first byte, by CUBIC. Prints the port."""
    listener = socket.create_server((host, 0), backlog=64)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    print(listener.getsockname()[1], flush=True)
    data = bytes(size)

    def answer(client):
        with client, contextlib.suppress(OSError):
            client.recv(1)
            client.sendall(data)

    while True:
        threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()


def fetch(host, port, size, times):
    """Prints how many seconds each of so many transfers took."""
    buffer, seconds = bytearray(1 << 20), []
    for _ in range(times):
        begin, received = time.monotonic(), 0
        with socket.create_connection((host, port), timeout=300) as client:
            client.sendall(b"x")
            while n := client.recv_into(buffer):
                received += n
        seconds.append(time.monotonic() - begin)
        if received != size:
            sys.exit(f"{received} bytes of {size}")
    print(json.dumps(seconds))


def self(*arguments, inside=()):
    """The command that runs this script, perhaps in a namespace."""
    return [*inside, sys.executable, __file__, *map(str, arguments)]


@contextlib.contextmanager
def running(command, **options):
    """A process that runs until the block ends."""
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def sh(command):
    subprocess.run(command.split(), check=True)


@contextlib.contextmanager
def namespaces():
    """Two namespaces whose kernels remember nothing of connections before."""
    names = [f"impair-{os.getpid()}-{role}" for role in ("client", "server")]
    try:
        for name in names:
            sh(f"ip netns add {name}")
            sh(f"ip netns exec {name} sysctl -qw net.ipv4.tcp_no_metrics_save=1")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL)


def through_the_gateway(scenario, size, times, seed):
    """Seconds of transfers between kernels."""
    with namespaces() as (client, server), tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(scenario)
        file.flush()
        gateway = [ACKCLOCK, "gateway", file.name, "--seed", str(seed),
                   "--attach", f"client=10.80.0.1/16@{client}",
                   "--attach", f"server=10.80.1.1/16@{server}"]
        inside = {name: ["ip", "netns", "exec", name] for name in (client, server)}
        with running(gateway, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            for _ in range(100):
                up = subprocess.run([*inside[server], "ip", "addr", "show"], capture_output=True)
                if b"10.80.1.1" in up.stdout:
                    break
                time.sleep(0.05)
            listen = self("--serve", "10.80.1.1", size, inside=inside[server])
            with running(listen, stdout=subprocess.PIPE, text=True) as listening:
                port = int(listening.stdout.readline())
                command = self("--fetch", "10.80.1.1", port, size, times, inside=inside[client])
                return json.loads(subprocess.check_output(command))


def through_the_proxy(conditions, size, times, seed):
    """Seconds of transfers through `ackclock impair`."""
    listen = self("--serve", "127.0.0.1", size)
    with Impair.start("--seed", str(seed), command=[ACKCLOCK, "impair"]) as impair, \
            running(listen, stdout=subprocess.PIPE, text=True) as server:
        upstream = f"127.0.0.1:{int(server.stdout.readline())}"
        host, port = impair.create("bench", upstream, conditions=conditions).address
        return json.loads(subprocess.check_output(self("--fetch", host, port, size, times)))


def quantile(values, percent):
    """Between the two values that are next to it (type 7 of Hyndman & Fan 1996)."""
    values = sorted(values)
    at = (len(values) - 1) * percent / 100
    low = int(at)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (at - low)


def ratio(ours, theirs, percent, resamples=2000):
    """The ratio of two quantiles, with its 95 % interval."""
    draw = random.Random(1)
    drawn = sorted(quantile(draw.choices(ours, k=len(ours)), percent)
                   / quantile(draw.choices(theirs, k=len(theirs)), percent)
                   for _ in range(resamples))
    return (quantile(ours, percent) / quantile(theirs, percent),
            quantile(drawn, 2.5), quantile(drawn, 97.5))


def main():
    arguments = argparse.ArgumentParser(description=__doc__,
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--transfers", type=int, default=500)
    arguments.add_argument("--kilobytes", type=int, default=200)
    arguments.add_argument("--gigabytes", type=float, default=1)
    arguments.add_argument("--quantiles", type=float, nargs="*", default=[10, 50, 90])
    arguments.add_argument("--rounds", type=int, default=5, help="turns that both sides take")
    arguments.add_argument("--cells", type=int, nargs="*", default=list(range(len(CELLS))),
                           help="numbers of cells, from 0")
    options = arguments.parse_args()
    print("load average:", " ".join(f"{load:.1f}" for load in os.getloadavg()))
    size = int(options.gigabytes * 1e9)
    for name, conditions in (("no condition", []), ("1 ms each way", [{"delay": "1ms"}])):
        if size:
            seconds, = through_the_proxy(conditions, size, 1, 1)
            print(f"goodput, {name}: {size * 8 / seconds / 1e9:.2f} Gbit/s (bar: 1)", flush=True)
    size, each = options.kilobytes * 1000, -(-options.transfers // options.rounds)
    for name, rate, delay, loss in (CELLS[number] for number in options.cells):
        scenario = SCENARIO.format(rate=rate, delay=delay, loss=loss)
        ours, theirs = [], []
        for seed in range(1, options.rounds + 1):
            theirs += through_the_gateway(scenario, size, each, seed)
            ours += through_the_proxy([{"scenario": scenario}], size, each, seed)
        print(f"{name}, {rate}, {delay} each way: {len(ours)} transfers of {options.kilobytes} kB")
        for percent in options.quantiles:
            value, low, high = ratio(ours, theirs, percent)
            kernel = quantile(theirs, percent) * 1000
            print(f"  {percent:g} %: {value:.3f} [{low:.3f}, {high:.3f}] of {kernel:.1f} ms",
                  flush=True)


if sys.argv[1:2] == ["--serve"]:
    serve(sys.argv[2], int(sys.argv[3]))
elif sys.argv[1:2] == ["--fetch"]:
    fetch(sys.argv[2], *map(int, sys.argv[3:6]))
else:
    main()
