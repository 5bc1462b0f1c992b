#!/usr/bin/env python3
"""Runs every command of README.md: lines that begin with `$ ` in a console block.

Commands run in order in one scratch copy of the checkout, with the release build on the path. A block that follows
the line `<!-- not run: REASON -->` is left out, and said so.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
text = (root / "README.md").read_text()
blocks = re.findall(r"(<!-- not run: (.*?) -->\s*)?```console\n(.*?)```", text, re.S)
env = dict(os.environ, PATH=f"{root / 'target/release'}:{os.environ['PATH']}")
passed = failed = skipped = 0
with tempfile.TemporaryDirectory() as scratch:
    for name in ("scenarios", "crates", "tests"):
        if (root / name).exists():
            os.symlink(root / name, pathlib.Path(scratch) / name)
    for marked, reason, block in blocks:
        for line in block.splitlines():
            if not line.startswith("$ "):
                continue
            command = line[2:]
            if marked:
                print(f"not run ({reason}): {command}")
                skipped += 1
                continue
            run = subprocess.run(["bash", "-ec", command], cwd=scratch, env=env, capture_output=True, text=True)
            if run.returncode == 0:
                passed += 1
            else:
                failed += 1
                print(f"FAILED with {run.returncode}: {command}\n{run.stdout}{run.stderr}")
print(f"readme: {passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed or not passed else 0)
