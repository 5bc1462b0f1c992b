"""Runs `ackclock` and reads what its sender did."""

import json
import pathlib
import subprocess
import tempfile

MSS = 1000


class OursError(Exception):
    """The command failed or printed something unexpected."""


def run(command, arguments):
    """Runs one strategy by `ackclock compare`. Returns ([(time, segment)], completion), as
    `ns2.run` does."""
    return run_all(command, arguments)[:2]


def run_all(command, arguments):
    """The same, when segments arrived at the receiver, and when an ACK came just as the timer
    expired."""
    with tempfile.TemporaryDirectory() as directory:
        events = pathlib.Path(directory) / "events.jsonl"
        full = [command, "compare", *arguments, "--mss", str(MSS), "--events", str(events),
                "--format", "json"]
        try:
            process = subprocess.run(full, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            raise OursError(f"{' '.join(full)}: did not end in 60 s") from None
        if process.returncode != 0:
            raise OursError(f"{' '.join(full)}: {process.stderr.strip()}")
        flows = json.loads(process.stdout)
        sent, arrived = [], []
        acked, timed_out = set(), set()
        for line in events.read_text().splitlines():
            event = json.loads(line)
            if event["event"] == "sent":
                if event["seq"] % MSS or event["len"] != MSS:
                    raise OursError(f"not a whole segment: {line}")
                sent.append((event["t"], event["seq"] // MSS))
            elif event["event"] == "arrived":
                arrived.append(event["t"])
            elif event["event"] == "acked":
                acked.add(event["t"])
            elif event["event"] == "timed_out":
                timed_out.add(event["t"])
    if len(flows) != 1:
        raise OursError(f"{len(flows)} flows instead of one")
    return sent, flows[0]["completion_s"], arrived, acked & timed_out
