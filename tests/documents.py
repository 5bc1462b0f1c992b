#!/usr/bin/env python3
"""Checks README.md, the other documents and the guide in docs/src.

- Every link and every include leads to a file or a heading. SUMMARY.md lists every page of the
  guide.
  README.md has at most 200 lines.
- Every command of README.md and the guide runs: the lines that begin with `$ ` in a console block.
  Lines below a command are its output, which has to be the same; a line `...` stands for any lines.

Each document has a scratch copy of the checkout, in which its commands run in order. On the path is
the command that ACKCLOCK in the environment names, by default that of a release. A block that
follows `<!-- not run: REASON -->` is left out. One that follows `<!-- root: REASON -->` is one
script in a network namespace of its own. Its lines below commands have to be among what it prints.
Without root it is left out.

    tests/documents.py [--update | --links] [DOCUMENT...]

`--update` writes the outputs as they are now. `--links` runs nothing.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "src"
BINARY = pathlib.Path(os.environ.get("ACKCLOCK", ROOT / "target" / "release" / "ackclock"))
BLOCK = re.compile(r"(?:<!-- (not run|root): (.*?) -->\s*)?```console\n(.*?)```", re.S)
COPIED = ("scenarios", "crates", "tests", "examples", "clients")


def documents():
    """Every page that is written or generated in this checkout."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT,
                            capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


def anchors(page):
    """The ids that mdBook and GitHub give the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        found.add(name if name not in found else f"{name}-1")
    return found


def faults():
    """Links that lead nowhere, pages that SUMMARY.md does not list, and a README.md that is
    long."""
    broken = []
    for page in documents():
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
        text = re.sub(r"`[^`\n]*`", "", text)
        for path in re.findall(r"\{\{#include ([^}:]+)", page.read_text()):
            if not (page.parent / path).exists():
                broken.append(f"{page.relative_to(ROOT)}: no file {path}")
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            to = (page.parent / path).resolve() if path else page
            if not to.exists():
                broken.append(f"{page.relative_to(ROOT)}: no file {target}")
            elif anchor and anchor not in anchors(to):
                broken.append(f"{page.relative_to(ROOT)}: no heading {target}")
            elif GUIDE in page.parents and GUIDE not in to.parents:
                broken.append(f"{page.relative_to(ROOT)}: {target} is outside the guide")
    if len((ROOT / "README.md").read_text().splitlines()) > 200:
        broken.append("README.md has more than 200 lines")
    listed = set(re.findall(r"\]\(([^)]+\.md)\)", (GUIDE / "SUMMARY.md").read_text()))
    for page in GUIDE.rglob("*.md"):
        name = str(page.relative_to(GUIDE))
        if name != "SUMMARY.md" and name not in listed:
            broken.append(f"docs/src/SUMMARY.md: {name} is missing")
    return broken


def commands(block):
    """Each command of a console block with the lines below it."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return found


def matches(shown, lines):
    """Whether the shown lines are these lines, where `...` stands for any lines."""
    pattern = "".join("(?:.*\n)*" if s == "..." else re.escape(s) + "\n" for s in shown)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None


def updated(shown, lines):
    """The lines as they are now. With `...`, each piece between two of them keeps its first line
    and its length."""
    if "..." not in shown:
        return lines
    now, at = [], 0
    for i, line in enumerate(shown):
        if line == "...":
            now.append(line)
        elif i == 0 or shown[i - 1] == "...":
            if i > 0 and line not in lines[at:]:
                return shown
            at = lines.index(line, at) if i > 0 else 0
            now.append(lines[at])
        else:
            at += 1
            now += lines[at:at + 1]
    return now


def run(page, update):
    """Runs the commands of one document: how many passed and were left out, and the failures."""
    text = page.read_text()
    env = dict(os.environ, PATH=f"{BINARY.parent.resolve()}:{os.environ['PATH']}")
    passed, skipped, failures = 0, 0, []
    with tempfile.TemporaryDirectory() as scratch:
        for name in COPIED:
            if (ROOT / name).exists():
                os.symlink(ROOT / name, pathlib.Path(scratch) / name)

        def shell(command, script):
            return subprocess.run([*command, script], cwd=scratch, env=env, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True)

        for mark, _, block in BLOCK.findall(text):
            found = commands(block)
            root = os.geteuid() == 0 and os.path.exists("/dev/net/tun")
            if mark == "not run" or mark == "root" and not root:
                skipped += len(found)
                continue
            if mark == "root":
                # Names of namespaces end with the block too, even if it fails.
                clean = ("mkdir -p /run/netns; mount -t tmpfs none /run/netns; ip link set lo up; "
                         "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT")
                script = "\n".join([clean, *(command for command, _ in found)])
                ended = shell(["unshare", "--net", "--mount", "bash", "-ec"], script)
                printed = ended.stdout + ended.stderr
                # Programs side by side: one that writes a letter at a time may have begun the line.
                missing = [line for _, shown in found for line in shown
                           if f"{line}\n" not in printed]
                if ended.returncode == 0 and not missing:
                    passed += len(found)
                else:
                    failures.append(f"{ended.returncode}: {script}\n{printed}missing: {missing}")
                continue
            for command, shown in found:
                ended = shell(["bash", "-ec"], command)
                lines = [line.rstrip() for line in ended.stdout.splitlines()]
                if ended.returncode != 0:
                    failures.append(f"{ended.returncode}: {command}\n{ended.stdout}{ended.stderr}")
                elif shown and update:
                    before = "\n".join([f"$ {command}", *shown])
                    text = text.replace(before, "\n".join([f"$ {command}", *updated(shown, lines)]))
                elif shown and not matches(shown, lines):
                    failures.append(f"another output: {command}\n{ended.stdout}")
                else:
                    passed += 1
    if update:
        page.write_text(text)
    return page, passed, skipped, failures


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--update", action="store_true")
    arguments.add_argument("--links", action="store_true")
    arguments.add_argument("documents", nargs="*", type=pathlib.Path)
    options = arguments.parse_args()

    failed = faults()
    for line in failed:
        print(line)
    if options.links:
        sys.exit(1 if failed else 0)
    every = [ROOT / "README.md", *sorted(GUIDE.rglob("*.md"))]
    pages = [page.resolve() for page in options.documents] or every
    passed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for page, good, left, failures in pool.map(lambda page: run(page, options.update), pages):
            passed += good
            skipped += left
            failed += failures
            for failure in failures:
                print(f"FAILED {page.relative_to(ROOT)}: {failure}")
    print(f"documents: {passed} commands passed, {len(failed)} failures, {skipped} not run")
    sys.exit(1 if failed or not (passed or options.update) else 0)


main()
