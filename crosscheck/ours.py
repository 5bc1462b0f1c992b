"""Runs `ackclock` and reads what its sender did."""

import json
import pathlib
import subprocess
import tempfile

MSS = 1000


class OursError(Exception):
    """The command failed or printed something unexpected."""


def execute(*arguments):
    """Runs the command; returns what it printed."""
    process = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    if process.returncode != 0:
        raise OursError(f"{' '.join(map(str, arguments))}: {process.stderr.strip()}")
    return process.stdout


def run(command, arguments, tcp=None):
    """Runs one strategy by `ackclock compare`. Returns ([(time, segment)], completion), as `ns2.run` does.

    `tcp` holds settings that `compare` has no option for: then its scenario is written to a file, with these added.
    """
    compare = [command, "compare", *arguments, "--mss", str(MSS)]
    with tempfile.TemporaryDirectory() as directory:
        events = pathlib.Path(directory) / "events.jsonl"
        record = ["--events", str(events), "--format", "json"]
        if tcp:
            scenario = pathlib.Path(directory) / "scenario.toml"
            extra = "".join(f"{key} = {value}\n" for key, value in tcp.items())
            scenario.write_text(execute(*compare, "--print-scenario").replace("[tcp]\n", "[tcp]\n" + extra, 1))
            flows = json.loads(execute(command, "run", str(scenario), *record))
        else:
            flows = json.loads(execute(*compare, *record))
        sent = []
        for line in events.read_text().splitlines():
            event = json.loads(line)
            if event["event"] == "sent":
                if event["seq"] % MSS or event["len"] != MSS:
                    raise OursError(f"not a whole segment: {line}")
                sent.append((event["t"], event["seq"] // MSS))
    if len(flows) != 1:
        raise OursError(f"{len(flows)} flows instead of one")
    return sent, flows[0]["completion_s"]
