#!/usr/bin/env python3
"""Runs every command of README.md: lines that begin with `$ ` in a console block.

Commands run in order in one scratch copy of the checkout, with the release build on the path. A block that follows
the line `<!-- not run: REASON -->` is left out, and said so. One that follows `<!-- root: REASON -->` is one script in a network
namespace of its own, with nothing of it left afterwards; without root it is left out, too.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
text = (root / "README.md").read_text()
blocks = re.findall(r"(?:<!-- (not run|root): (.*?) -->\s*)?```console\n(.*?)```", text, re.S)
env = dict(os.environ, PATH=f"{root / 'target/release'}:{os.environ['PATH']}")
passed = failed = skipped = 0
with tempfile.TemporaryDirectory() as scratch:
    for name in ("scenarios", "crates", "tests"):
        if (root / name).exists():
            os.symlink(root / name, pathlib.Path(scratch) / name)
    for mark, reason, block in blocks:
        commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
        if mark == "root" and not (os.geteuid() == 0 and os.path.exists("/dev/net/tun")):
            mark, reason = "not run", "needs root and /dev/net/tun"
        if mark == "not run":
            skipped += len(commands)
            for command in commands:
                print(f"not run ({reason}): {command}")
            continue
        if mark == "root":
            clean = "ip link set lo up; trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"
            scripts = [(["unshare", "--net", "bash", "-ec"], "\n".join([clean, *commands]), len(commands))]
        else:
            scripts = [(["bash", "-ec"], command, 1) for command in commands]
        for shell, script, count in scripts:
            run = subprocess.run([*shell, script], cwd=scratch, env=env, capture_output=True, text=True)
            if run.returncode == 0:
                passed += count
            else:
                failed += count
                print(f"FAILED with {run.returncode}: {script}\n{run.stdout}{run.stderr}")
print(f"readme: {passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed or not passed else 0)
