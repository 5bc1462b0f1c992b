#!/usr/bin/env python3
"""One table of what `make bench-live` measured: reads its three files in the folder given, writes
bench-live.json there."""
import json
import pathlib
import sys

out = pathlib.Path(sys.argv[1])
bulk = json.loads((out / "bench-bulk.json").read_text())
labs = {name: json.loads((out / f"lab-{name}.json").read_text()) for name in ("lossy", "short")}
rows = [("what", "ours", "beside it", "ratio", "aim", "")]


def add(what, ours, other, ratio, aim, reached):
    rows.append((what, ours, other, f"{ratio:.3f}", aim, "reached" if reached else "missed"))


def rate(name):
    return bulk[name]["gbit_per_s"]


for ours, other in (("tso", "relay-tso"), ("plain", "relay-plain"), ("plain", "smoltcp")):
    if ours in bulk and other in bulk:
        ratio = rate(ours) / rate(other)
        add(f"bulk, {ours} / {other} (Gbit/s)", f"{rate(ours):.2f}", f"{rate(other):.2f}", ratio,
            ">= 1", ratio >= 1)
if (cores := bulk.get("cores_at_50_mbit_per_s")) is not None:
    add("cores at 50 Mbit/s", f"{cores:.4f}", "0.02", cores / 0.02, "<= 1", cores <= 0.02)

# name of the lab, measure, its ratio, decimals, the aim, and whether a ratio reaches it
parts = (
    ("lossy", "goodput", "goodput-ratio", "kbit/s", ">= 0.95", lambda ratio: ratio >= 0.95),
    ("short", "p99", "p99-ratio", "p99, ms", "<= 0.75", lambda ratio: ratio <= 0.75),
)
for lab, measure, of, unit, aim, reaches in parts:
    for cell in labs[lab]["cells"]:
        kernels = {row["name"]: row["measures"] for row in cell["rows"] if row["strategy"] is None}
        for row in cell["rows"]:
            numbers = row["measures"]
            if of in numbers:
                shown = [f"{m[measure]:.0f}" for m in (numbers, kernels[row["against"]])]
                add(f"{lab}, {cell['name']}, {row['name']} ({unit})", *shown, numbers[of], aim,
                    reaches(numbers[of]))

widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
for row in rows:
    cells = [row[0].ljust(widths[0])] + [cell.rjust(width)
                                         for cell, width in zip(row[1:], widths[1:])]
    print("  ".join(cells).rstrip())
print()
for lab in labs.values():
    for aim in lab["aims"]:
        verdict = "reached" if aim["reached"] else f"reached in {aim['reached_in']} of {aim['of']}"
        print(f"{lab['lab']}: {aim['says']}: {verdict}")
table = [dict(zip(("what", "ours", "other", "ratio", "aim", "verdict"), row)) for row in rows[1:]]
(out / "bench-live.json").write_text(json.dumps({"table": table, "bulk": bulk, **labs},
                                                indent=1) + "\n")
