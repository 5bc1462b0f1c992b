#!/usr/bin/env python3
"""Attacks `ackclock serve` and `ackclock proxy` in a network namespace, while an honest client
fetches a file.

    tests/hostile.py [--only NAME] [--queues N]

Fails if the client does not get each file right within two minutes, if the process ever held more
memory than its budget, or if an attack has left no trace in the metrics. Needs root, Debian's
`iproute2` and `util-linux`; without root it says that it was skipped. The namespace is gone with
the script. It takes a few minutes.
"""

import argparse
import array
import contextlib
import http.client
import http.server
import multiprocessing
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OURS, KERNEL, HONEST = "10.77.0.2", "10.77.0.1", "10.99.0.1"
METRICS = "127.0.0.1:9100"
BUDGET = 64 << 20
LIMITS = ["--max-connections", "200", "--max-per-source", "100", "--idle", "5s"]
FILE, BIG = random.Random(1).randbytes(1_000_000), random.Random(2).randbytes(6_000_000)
PATIENCE = 120
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


def checksum(data: bytes) -> int:
    words = array.array("H", data + b"\0" * (len(data) % 2))
    total = sum(words)
    total = (total & 0xFFFF) + (total >> 16)
    return socket.htons(~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)


def packet(source: str, port: int, flags: int, seq: int, ack: int = 0, data: bytes = b"",
           options: bytes = b"") -> bytes:
    """A segment to port 80 of our stack."""
    ends = socket.inet_aton(source) + socket.inet_aton(OURS)
    offset = (5 + len(options) // 4) << 4
    tcp = bytearray(struct.pack(">HHIIBBHHH", port, 80, seq, ack, offset, flags, 65535, 0,
                                0) + options + data)
    tcp[16:18] = struct.pack(">H", checksum(ends + struct.pack(">HH", 6, len(tcp)) + tcp))
    ip = bytearray(struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0) + ends)
    ip[10:12] = struct.pack(">H", checksum(ip))
    return bytes(ip + tcp)


class Device:
    """Puts packets of any kind into the device, as if they came from a network behind it."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0003))
        self.socket.bind(("ackclock0", 0x0003))

    def send(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # The device is full, or down.
            self.socket.sendto(data, ("ackclock0", 0x0800))


def stranger(rng: random.Random) -> str:
    """An address of those that are kept for tests (RFC 2544)."""
    return f"198.{rng.choice((18, 19))}.{rng.randrange(256)}.{rng.randrange(1, 255)}"


def syn_flood() -> str:
    device, rng = Device(), random.Random(3)
    mss = bytes((2, 4, 5, 180))
    for _ in range(200_000):
        device.send(packet(stranger(rng), rng.randrange(1024, 65536), SYN, rng.getrandbits(32),
                           options=mss))
    return "200,000 SYNs"


def malformed() -> str:
    """Segments with bytes changed at random, cut short, or with options of any length."""
    device, rng = Device(), random.Random(4)
    for _ in range(100_000):
        flags = rng.choice((SYN, ACK, ACK | PSH, SYN | ACK, FIN | ACK, RST, 0, 63))
        options = rng.randbytes(4 * rng.randrange(11))
        data = bytearray(packet(KERNEL, rng.randrange(65536), flags, rng.getrandbits(32),
                                rng.getrandbits(32), rng.randbytes(rng.randrange(100)), options))
        for _ in range(rng.randrange(4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        device.send(bytes(data[: rng.randrange(1, len(data) + 1)] if rng.random() < 0.3 else data))
    return "100,000 packets"


def connect(source: str, receive: int = 0) -> socket.socket | None:
    client = socket.socket()
    if receive:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    client.bind((source, 0))
    client.settimeout(2)
    try:
        client.connect((OURS, 80))
    except OSError:
        return None
    return client


def not_reading(_clients: list = []) -> str:
    """They ask for much and read nothing."""
    for i in range(300):
        client = connect(f"10.98.0.{1 + i % 4}", receive=4096)
        if client:
            with contextlib.suppress(OSError):
                client.sendall(b"GET /big HTTP/1.0\r\n\r\n")
            _clients.append(client)
    time.sleep(2)
    return f"{len(_clients)} clients"


def silent(_clients: list = []) -> str:
    """All from one address; they say nothing."""
    _clients += filter(None, (connect(KERNEL) for _ in range(400)))
    return "400 clients"


def slow(_clients: list = []) -> str:
    """A byte of a request each half second, from so many that they fill what connections there
    are."""
    _clients += filter(None, (connect(f"10.98.0.{1 + i % 4}") for i in range(250)))
    for byte in b"GET /big HTTP/1.1\r\nX":
        for client in _clients:
            with contextlib.suppress(OSError):
                client.send(bytes((byte,)))
        time.sleep(0.5)
    return f"{len(_clients)} clients"


def vanishing() -> str:
    """Each from an address of its own: it connects, asks for much, and is never heard of again."""
    device, rng = Device(), random.Random(5)
    device.socket.settimeout(0.05)
    asked = set()
    for _ in range(600):
        device.send(packet(stranger(rng), rng.randrange(1024, 65536), SYN, 0,
                           options=bytes((2, 4, 5, 180))))
        # Others are sent much meanwhile: without an end to it, this would look at all of that.
        until = time.monotonic() + 0.05
        with contextlib.suppress(TimeoutError):
            while time.monotonic() < until:
                data = device.socket.recv(65536)
                if (len(data) < 40 or data[9] != 6 or data[33] & (SYN | ACK) != SYN | ACK
                        or data[16] != 198):
                    continue
                them, port = socket.inet_ntoa(data[16:20]), struct.unpack(">H", data[22:24])[0]
                seq = struct.unpack(">I", data[24:28])[0]
                if (them, port) not in asked:
                    asked.add((them, port))
                    device.send(packet(them, port, ACK | PSH, 1, seq + 1 & 0xFFFFFFFF,
                                       b"GET /big HTTP/1.0\r\n\r\n"))
                    break
    return f"{len(asked)} clients"


def resetting() -> str:
    for _ in range(10_000):
        client = connect(KERNEL)
        if client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
    return "10,000 clients"


def read_slowly(client: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while client.recv(65536):
            time.sleep(0.02)


def pulled() -> str:
    """The device goes down and comes up again, while somebody reads slowly."""
    for _ in range(5):
        client = connect(KERNEL, receive=65536)
        if client:
            client.sendall(b"GET /big HTTP/1.0\r\n\r\n")
            threading.Thread(target=read_slowly, args=(client,), daemon=True).start()
        time.sleep(0.5)
        subprocess.run(["ip", "link", "set", "ackclock0", "down"], check=True)
        time.sleep(0.5)
        subprocess.run(["ip", "link", "set", "ackclock0", "up"], check=True)
    return "5 times"


# What an attack is, and the metric that shows it: by how much it rises at least.
ATTACKS = {
    "syn-flood": (syn_flood, "ackclock_syn_cookies_total", 1000),
    "malformed": (malformed, "ackclock_malformed_packets_total", 1000),
    "not-reading": (not_reading, "ackclock_buffer_bytes", 8 << 20),
    "silent": (silent, "ackclock_connections_refused_total", 100),
    "slow": (slow, "ackclock_connections_total", 100),
    "vanishing": (vanishing, "ackclock_connections_total", 300),
    # Many are gone before they are taken, and are counted all the same.
    "resetting": (resetting, "ackclock_connections_total", 500),
    "pulled": (pulled, "ackclock_device_refusals_total", 1),
}


def metrics() -> dict[str, float]:
    """By name, the labels summed up."""
    found: dict[str, float] = {}
    with urllib.request.urlopen(f"http://{METRICS}/metrics", timeout=30) as response:
        for line in response.read().decode().splitlines():
            if not line.startswith("#"):
                sample, value = line.rsplit(" ", 1)
                name = sample.split("{")[0]
                found[name] = found.get(name, 0) + float(value)
    return found


def fetch() -> float:
    """An honest client: it tries until it has the file. Returns how long that took."""
    begin = time.monotonic()
    while True:
        connection = http.client.HTTPConnection(OURS, 80, timeout=PATIENCE,
                                                source_address=(HONEST, 0))
        try:
            connection.request("GET", "/file")
            body = connection.getresponse().read()
            assert body == FILE, f"{len(body)} bytes, not those of the file"
            return time.monotonic() - begin
        except (OSError, http.client.HTTPException) as error:
            assert time.monotonic() - begin < PATIENCE, f"no file in {PATIENCE} s: {error}"
        finally:
            connection.close()


def peak(process: subprocess.Popen) -> int:
    """The most memory that it ever held (proc(5))."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def attack(process: subprocess.Popen, name: str) -> str:
    """Attacks, and fetches meanwhile. Returns what there is to say of it."""
    function, metric, least = ATTACKS[name]
    ours, theirs = multiprocessing.Pipe()

    def run() -> None:
        theirs.send(function())
        theirs.recv()  # What it has open stays so until then.

    attacker = multiprocessing.Process(target=run, daemon=True)
    before = highest = metrics()[metric]
    attacker.start()
    times, done, after = [], None, 3
    while after > 0:
        times.append(fetch())
        highest = max(highest, metrics()[metric])
        if done is None and ours.poll():
            done = ours.recv()
        after -= done is not None
        assert attacker.is_alive(), "the attacker failed"
    ours.send(None)
    attacker.join()
    held = peak(process)
    assert process.poll() is None, "it ended"
    assert held < BUDGET, f"it held {held} bytes of {BUDGET}"
    assert highest - before >= least, f"{metric} rose by {highest - before}, not by {least}"
    return (f"{done}; {len(times)} files, the slowest in {max(times):.1f} s; {metric} "
            f"+{highest - before:.0f}; held at most {held / (1 << 20):.0f} MiB")


class Backend(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class BackendServer(http.server.ThreadingHTTPServer):
    request_queue_size = 1024  # With five, most clients would wait for their backend.


@contextlib.contextmanager
def backend(folder: Path):
    server = BackendServer(("127.0.0.1", 8080), lambda *a: Backend(*a, directory=str(folder)))
    server.daemon_threads, server.handle_error = True, lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield
    server.shutdown()


def attack_all(ackclock: Path, only: str | None, queues: int) -> int:
    subprocess.run("ip link set lo up; ip addr add 10.99.0.1/32 dev lo; ip addr add 10.98.0.0/24 "
                   "dev lo", shell=True, check=True)
    failed = 0
    with tempfile.TemporaryDirectory() as name, backend(Path(name)):
        folder = Path(name)
        (folder / "file").write_bytes(FILE)
        (folder / "big").write_bytes(BIG)
        os.chmod(folder, 0o755)
        common = ["--tun", "ackclock0", "--memory", f"{BUDGET >> 20}mb", "--metrics", METRICS,
                  "--queues", str(queues), *LIMITS]
        for command in (["serve", name], ["proxy", "--listen", f"{OURS}:80", "--to",
                                          "127.0.0.1:8080", "--half-closed-idle", "5s"]):
            process = subprocess.Popen([ackclock, *command, *common], stderr=subprocess.PIPE,
                                       stdout=subprocess.DEVNULL, text=True)
            line = process.stderr.readline()
            assert line.startswith(("serving ", "forwarding ")), line
            threading.Thread(target=process.stderr.read, daemon=True).start()
            for attacked in [only] if only else ATTACKS:
                try:
                    print(f"{command[0]} {attacked}: {attack(process, attacked)}", flush=True)
                except (AssertionError, OSError, EOFError) as error:
                    failed += 1
                    print(f"{command[0]} {attacked}: FAILED: {error}", flush=True)
                if process.poll() is not None:
                    break
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=ATTACKS)
    parser.add_argument("--queues", type=int, default=1, help="of the device")
    parser.add_argument("--ackclock", type=Path, default=ROOT / "target/release/ackclock")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
        print("skipped: needs root and /dev/net/tun", file=sys.stderr)
        return 0
    if not args.inside:
        return subprocess.run(["unshare", "--net", sys.executable, *sys.argv,
                               "--inside"]).returncode
    return min(attack_all(args.ackclock, args.only, args.queues), 1)


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    sys.exit(main())
