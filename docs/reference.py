#!/usr/bin/env python3
"""Writes the reference pages of the guide, docs/src/reference/, from what the command prints.

- Scenario keys from `ackclock schema`.
- Strategies and mechanisms from `ackclock strategies --format json`.
- Options and exit codes from `--help`.
- JSON keys from what the commands print. Their meanings are in docs/keys.toml: a key without a
  meaning is an error, and so is a meaning without a key.

    docs/reference.py [--check]

`--check` writes nothing, and fails if a page is not what would be written. It also checks that
docs/src/words.md has every word of the engine's events.
"""
import fnmatch
import functools
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "src" / "reference"
BINARY = pathlib.Path(os.environ.get("ACKCLOCK", ROOT / "target" / "release" / "ackclock"))
CAPTURE = ROOT / "tests" / "kernel.pcap.gz"
GLOSSARY = ROOT / "crates" / "ackclock-tcp" / "src" / "event.rs"
NOTE = "<!-- Written by `make reference`; do not edit. -->\n\n"


def ackclock(*arguments, status=0):
    """What the command prints."""
    ended = subprocess.run([BINARY, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True,
                           env=dict(os.environ, COLUMNS="100"))
    if ended.returncode != status:
        sys.exit(f"ackclock {' '.join(map(str, arguments))}: {ended.returncode}\n{ended.stderr}")
    return ended.stdout


def cell(text):
    """Text for a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def opening(title, text):
    """How a page begins."""
    return f"{NOTE}# {title}\n\n{paragraph(text)}"


def paragraph(text):
    return textwrap.fill(" ".join(text.split()), 100, break_on_hyphens=False) + "\n\n"


def table(heading, rows):
    """A Markdown table."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "".join(f"| {' | '.join(map(cell, line))} |\n" for line in lines)


# Scenario keys.

def scenario_page():
    schema = json.loads(ackclock("schema"))
    definitions = schema["$defs"]

    def is_table(definition):
        return "properties" in definition or "oneOf" in definition

    def kind(value):
        """What a value may be, in words."""
        if "$ref" in value:
            name = value["$ref"].rsplit("/", 1)[1]
            return f"[{name}](#{name.lower()})"
        for several in ("anyOf", "oneOf"):
            if several in value:
                names = [kind(v) for v in value[several] if v.get("type") != "null"]
                return " or ".join(dict.fromkeys(names))
        if "enum" in value or "const" in value:
            return " or ".join(f"`\"{v}\"`" for v in value.get("enum", [value.get("const")]))
        types = value.get("type", [])
        types = [t for t in ([types] if isinstance(types, str) else types) if t != "null"]
        if types == ["array"]:
            return f"list of {kind(value['items'])}" if "items" in value else "list"
        return " or ".join("table" if t == "object" else t for t in types)

    def properties(definition):
        required = definition.get("required", [])
        rows = []
        for name, value in definition.get("properties", {}).items():
            default = "required" if name in required else ""
            if value.get("default") is not None:
                default = f"`{json.dumps(value['default'])}`"
            meaning = value.get("description") or definitions.get(
                value.get("$ref", "").rsplit("/", 1)[-1], {}).get("description", "")
            rows.append([f"`{name}`", kind(value), default, meaning])
        return table(["key", "value", "default", "meaning"], rows) if rows else ""

    def describe(definition):
        text = cell(definition.get("description", "")) + "\n\n"
        text += properties(definition)
        for choice in definition.get("oneOf", []):
            if "properties" in choice:
                name, value = next(iter(choice["properties"].items()))
                what = kind(value)
                text += f"- `{name}`" + (f": {what}" if what else "")
            else:
                text += f"- {kind(choice)}"
            meaning = cell(choice.get("description", ""))
            text += f". {meaning}\n" if meaning else "\n"
        if "examples" in definition:
            examples = ", ".join(f"`{json.dumps(e)}`" for e in definition["examples"])
            text += f"Examples: {examples}.\n"
        return text

    text = opening("Scenario keys", """A scenario is a TOML file. These are its tables and keys,
        from the JSON Schema that `ackclock schema` prints. An unknown key is an error.""")
    text += "## The file\n\n" + describe(schema)
    tables = [n for n in definitions if is_table(definitions[n])]
    values = [n for n in definitions if n not in tables]
    for heading, names in (("Tables", tables), ("Values", values)):
        text += f"\n## {heading}\n"
        for name in names:
            text += f"\n### {name}\n\n{describe(definitions[name])}"
    return text


# Strategies and mechanisms.

def strategies_page():
    lists = json.loads(ackclock("strategies", "--format", "json"))
    mechanisms = {m["name"]: m for m in lists["mechanisms"]}

    def sourced(row):
        """Its source, the sentence of it (in quotation marks if verbatim), and the file."""
        text = row["source"]
        if row.get("sentence"):
            text += f": {row['sentence']}"
        return f"{text}; `{row['file']}`" if row.get("file") else text

    def does(row):
        """What it does, with and without SACK."""
        other = row["without_sack"]
        if other is None:
            return row["summary"]
        return f"{row['summary']}. Without SACK: {'off' if other == 'off' else f'`{other}`'}"

    text = opening("Strategies and mechanisms", """A *strategy* is a composition of *mechanisms*, at
        most one on most axes. These are the names that `--strategy` takes, from the registry of the
        engine. `ackclock strategies` prints them. On an axis that no mechanism of a strategy is
        on it is as Reno: `cubic` is Reno with CUBIC's window, and `sack+cubic` has SACK, too. The
        chapter [Compare strategies](../compare.md#names-and-compositions) says how names
        compose.""")
    text += "## Presets\n\n"
    rows = [[f"`{p['name']}`", " ".join(f"`{m}`" for m in p["mechanisms"]), p["source"]]
            for p in lists["presets"]]
    text += table(["preset", "mechanisms", "source"], rows)
    text += "\n## Mechanisms\n"
    for axis in dict.fromkeys(m["axis"] for m in lists["mechanisms"]):
        text += f"\n### The axis `{axis}`\n\n"
        rows = []
        for m in mechanisms.values():
            if m["axis"] != axis:
                continue
            used = [f"`{p['name']}`" for p in lists["presets"] if m["name"] in p["mechanisms"]]
            rows.append([f"`{m['name']}`", does(m), sourced(m), " ".join(used)])
        text += table(["mechanism", "what it does", "source", "presets"], rows)
    return text


# The command.

def command_page():
    text = opening("The command", "What `ackclock COMMAND --help` prints.")
    # The same section ends the help of every command: the page of exit codes has it.
    cut = re.compile(r"\n\nExit codes:\n.*", re.S)
    names = re.search(r"Commands:\n(.*?)\n\n", ackclock("--help"), re.S).group(1)
    for name in re.findall(r"^  (\w+) ", names, re.M):
        if name != "help":
            printed = cut.sub("", ackclock(name, "--help")).rstrip()
            text += f"## {name}\n\n```text\n{printed}\n```\n\n"
    return text.rstrip() + "\n"


def exit_codes_page():
    section = re.search(r"Exit codes:\n(.*)", ackclock("--help"), re.S).group(1)
    codes = re.findall(r"^  (\d+)  (.*(?:\n  [^ \d].*)*)", section, re.M)
    text = opening("Exit codes", """
        Every command ends with one of these; its `--help` has those that it can end with. Commands
        that run until they are told to end do so with 0 on Ctrl-C: `serve`, `proxy`, `gateway`,
        `impair`, `recv` without a count, and `explain --interface`.
        """)
    return text + table(["code", "meaning"], [[f"`{code}`", meaning] for code, meaning in codes])


# JSON keys.

class Keys:
    """The keys of JSON documents by their paths, in order, with the types that they were seen to
    have. An element of a list is `[]`, and a name that is data and not a key is `NAME`."""

    def __init__(self, named=()):
        self.types = {}
        self.names = {path: {} for path in named}

    def add(self, value, path=""):
        if path:
            kind = {dict: "object", list: "list", str: "string", bool: "boolean",
                    type(None): None}.get(type(value), "number")
            seen = self.types.setdefault(path, [])
            if kind and kind not in seen:
                seen.append(kind)
        if isinstance(value, dict):
            for key, inner in value.items():
                if path in self.names:
                    self.names[path][key] = True
                    key = "NAME"
                self.add(inner, f"{path}.{key}" if path else key)
        elif isinstance(value, list):
            for inner in value:
                if isinstance(inner, dict):
                    self.add(inner, f"{path}[]")
                elif isinstance(inner, list) and any(isinstance(i, dict) for i in inner):
                    self.add(inner, f"{path}[]")

    def place(self, path):
        """Sorts keys as they come, and those of an object right below it."""
        ends = [i for i, c in enumerate(path) if c in ".["] + [len(path)]
        order = list(self.types)
        return [order.index(path[:end]) for end in ends if path[:end] in self.types]

    def tables(self, meanings, what):
        """A table of the keys of each object, below its path as a heading."""
        objects = {}
        for path, types, meaning in self.rows(meanings, what):
            parent, _, key = path.rpartition(".")
            objects.setdefault(parent, []).append([f"`{key}`", types, meaning])
        parts = []
        for parent, rows in objects.items():
            part = f"### `{parent}`\n\n" if parent else ""
            part += table(["key", "value", "meaning"], rows)
            if parent in self.names:
                names = ", ".join(f"`{name}`" for name in self.names[parent])
                part += "\n" + paragraph(f"The names: {names}.").rstrip() + "\n"
            parts.append(part)
        return "\n".join(parts)

    def rows(self, meanings, what):
        """A row for each key; ends the program if keys and meanings do not agree."""
        rows, used, wrong = [], set(), []
        for path in sorted(self.types, key=self.place):
            if path.endswith("[]"):
                continue
            types = self.types[path]
            wild = (p for p in meanings
                    if "*" in p and fnmatch.fnmatchcase(path, p.replace("[]", "[[]]")))
            pattern = path if path in meanings else next(wild, None)
            if pattern is None:
                wrong.append(f"no meaning of {path}")
                continue
            used.add(pattern)
            meaning = meanings[pattern]
            if isinstance(meaning, dict):
                if set(types) >= set(meaning["type"].split(" or ")):
                    wrong.append(f"{path} is seen, so that its type need not be given")
                types, meaning = [meaning["type"]], meaning["meaning"]
            if meaning:
                rows.append([path, " or ".join(types), meaning])
        for path, meaning in meanings.items():
            if path not in used and isinstance(meaning, dict):
                rows.append([path, meaning["type"], meaning["meaning"]])
            elif path not in used and (meaning or self.types):
                wrong.append(f"no key {path}")
        if wrong:
            sys.exit(f"docs/keys.toml, {what}: " + "; ".join(wrong))
        return rows


def printed(*arguments, named=(), status=0):
    """The keys of the JSON that the command prints; of a list, those of its objects."""
    keys = Keys(named)
    document = json.loads(ackclock(*arguments, "--format", "json", status=status))
    for each in document if isinstance(document, list) else [document]:
        keys.add(each)
    return keys


def lines(*arguments):
    """The objects that the command writes to the file that is its last argument, a line each."""
    ackclock(*arguments)
    return [json.loads(line) for line in arguments[-1].read_text().splitlines()]


def run_keys():
    keys = Keys(("recovery[].measures", "vs_oracle[].measures", "vs_oracle[].bounds[].measures",
                 "flows[].cell", "runs[].cell", "strategies[].cell", "recovery[].cell",
                 "vs_oracle[].cell"))
    grid = ("run", "scenarios/first.toml", "--strategy", "newreno", "--runs", "2",
            "--set", "tcp.mss=1000,1448", "--format", "json", "--stats")
    keys.add(json.loads(ackclock(*grid, "--recovery", "--vs-oracle")))
    keys.add(json.loads(ackclock(*grid, "--over", "mean,p99")))
    return keys


def queue_keys(scratch):
    keys = Keys()
    for line in lines("compare", "--strategy", "newreno", "--queue", "5", "--format", "json",
                      "--queues", scratch / "queues.jsonl"):
        keys.add(line)
    return keys


def event_keys(scratch):
    """The keys of all events, and by kind what the events of that kind have beside these."""
    events = []
    for name, strategy in (("wireless", "newreno"), ("wireless", "linux"),
                           ("mobile", "sack+f-rto")):
        events += lines("run", f"scenarios/{name}.toml", "--runs", "1", "--strategy", strategy,
                        "--events", scratch / "events.jsonl")
    common = [k for k in events[0] if all(k in event for event in events)]
    shared, kinds = Keys(), {}
    for event in events:
        shared.add({k: v for k, v in event.items() if k in common})
        kinds.setdefault(event["event"], Keys()).add(
            {k: v for k, v in event.items() if k not in common})
    return shared, kinds


def explained_keys(scratch):
    keys = Keys(("captures[].ignored", "overall.retransmissions_by_kind",
                 "overall.timeouts_by_class", "overall.timeouts_by_state"))
    capture = scratch / "web.pcapng"
    ackclock("run", "scenarios/web.toml", "--strategy", "newreno", "--runs", "1", "--pcap", capture)
    damaged = scratch / "damaged.pcap"
    damaged.write_bytes(gzip.decompress(CAPTURE.read_bytes())[:20_000])
    for path, status in ((CAPTURE, 0), (capture, 0), (damaged, 2)):
        keys.add(json.loads(ackclock("explain", path, "--format", "json", status=status)))
    return keys


def compared_keys(scratch):
    """Of captures with connections in common, and of others."""
    keys, other = Keys(), scratch / "other.pcapng"
    ackclock("run", "scenarios/web.toml", "--strategy", "newreno", "--runs", "1", "--pcap", other)
    for second in (CAPTURE, other):
        document = ackclock("explain", CAPTURE, second, "--compare", "--format", "json")
        keys.add(json.loads(document))
    return keys


def experiment_keys():
    keys = Keys()
    for arguments in (("experiment", "examples/experiment.toml"),
                      ("papers", "run", "lin-kung/figure-5")):
        keys.add(json.loads(ackclock(*arguments, "--quick", "--format", "json"))[0])
    return keys


def json_page():
    meanings = tomllib.loads((ROOT / "docs" / "keys.toml").read_text())
    text = opening("JSON keys", """These are the keys of what `--format json` prints, and of the
        files of JSON lines. A heading such as `a[].b` stands for the object `b` in each object of
        the list `a`. `NAME` stands for a name that is data. The [words](../words.md) say what the
        values of `cause`, `class` and the like mean. The page [On the wire](../wire.md) has
        the keys of the access log, and [Impair](../impair.md) those of its API.""")

    def section(title, about, name, keys):
        nonlocal text
        text += f"\n## {title}\n\n" + (paragraph(about) if about else "")
        own = functools.reduce(dict.__getitem__, name.split("."), meanings)
        text += keys.tables(own, name)

    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        text = text.removesuffix("\n")
        section("`run`, `compare` and `send`", """Without `--stats`, `--recovery` and `--vs-oracle`
            the document is the list `flows` alone, with `--over` the list `runs` alone.""",
                "run", run_keys())

        shared, kinds = event_keys(scratch)
        section("Events", """`--events` writes one object for each event, a line each. These keys
            come first, in every line.""", "events.common", shared)
        own = meanings["events"]["kinds"]
        for kind in sorted(set(kinds) - set(own)):
            sys.exit(f"docs/keys.toml, events.kinds: no event {kind}")
        text += "\nThen come the keys of this kind of event.\n"
        for kind, entry in own.items():
            entry = dict(entry)
            text += f"\n### `{kind}`\n\n{entry.pop('event')}\n\n"
            text += kinds.get(kind, Keys()).tables(entry, f"events.kinds.{kind}")

        section("Queues", """`run`, `compare` and `gateway` with `--queues` write one object for
            each packet that comes to a queue, a line each.""", "queues", queue_keys(scratch))
        section("`exhaust`", """A list of these objects, one for what comes after the window. A
            *case* is a text such as `21:2,22`, as for `--case`.""", "exhaust",
                printed("exhaust", "--strategy", "sack", "--window", "3", "--disturbed"))
        section("`worst`", "", "worst", printed("worst", "--strategy", "newreno", "--climbs", "1"))
        section("`strategies`", "", "strategies", printed("strategies"))
        section("`strategies NAME`", "", "strategy", printed("strategies", "rack"))
        section("`papers run` and `experiment`", """A list of these objects, one for each
            experiment. The [format](../papers-format.md) of experiments says what is measured, and
            how claims are judged.""", "papers", experiment_keys())
        section("`explain`", """Times since 1970 have nine decimals. Counts of a connection are
            those of both directions together.""", "explain", explained_keys(scratch))
        section("`explain --compare`", "The other keys of a total are those of a connection.",
                "compare", compared_keys(scratch))
        section("`explain --by`", "The other keys of a group are those of a connection.",
                "groups", printed("explain", CAPTURE, "--by", "host"))
        vectors = ROOT / "crates" / "ackclock-replay" / "vectors" / "linux-6.18" / "tails.jsonl"
        section("`replay`", "The guide's page of [vectors](../vectors.md) says what is counted.",
                "replay", printed("replay", vectors, "--strategy", "newreno"))

    # What runs as root only: `cargo test -p ackclock` holds these against what is printed.
    section("`recv`", "A list of these objects, one for each connection.", "recv", Keys())
    section("`gateway`", "", "gateway", Keys())
    section("`gateway --drops`", """One object for each packet that a link dropped, a line each.
        Keys that the packet has no value for are left out.""", "drops", Keys())
    section("`lab`", """The [format](../labs-format.md) of labs says what is measured, and how aims
        are judged.""", "lab", Keys())
    return text


def missing_words():
    """The words of the engine's events that neither the page of words nor that of JSON keys has."""
    words = re.findall(r'=> "([a-z_]+)"', GLOSSARY.read_text())
    pages = (ROOT / "docs" / "src" / "words.md").read_text() + (PAGES / "json.md").read_text()
    return [word for word in dict.fromkeys(words) if f"`{word}`" not in pages]


def main():
    pages = {"scenario.md": scenario_page, "strategies.md": strategies_page, "json.md": json_page,
             "command.md": command_page, "exit-codes.md": exit_codes_page}
    check = "--check" in sys.argv[1:]
    wrong = []
    for name, make in pages.items():
        path, text = PAGES / name, make()
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            wrong.append(f"docs/src/reference/{name} is out of date: make reference")
    wrong += [f"docs/src/words.md has no `{word}`" for word in missing_words()]
    print("\n".join(wrong) or f"reference: {len(pages)} pages {'checked' if check else 'written'}")
    sys.exit(1 if wrong else 0)


main()
