#!/usr/bin/env python3
"""Writes the reference pages of the guide, docs/src/reference/, from what the command prints.

- Scenario keys from `ackclock schema`.
- Strategies and mechanisms from `ackclock strategies --format json`.
- Options and exit codes from `--help`.
- JSON keys from the JSON of runs and captures. Their meanings are in docs/keys.toml: a key without
  a meaning is an error, and so is a meaning without a key.

    docs/reference.py [--check]

`--check` writes nothing, and fails if a page is not what would be written. It also checks that
docs/src/words.md has every word of the engine's events.
"""
import fnmatch
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
        engine. `ackclock strategies` prints them. The chapter [Compare strategies](../compare.md)
        says how names compose.""")
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
    text = opening("Exit codes", "Every command ends with one of these.")
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
                elif isinstance(inner, list) and inner and isinstance(inner[0], dict):
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
                if types:
                    wrong.append(f"{path} is seen, so that its type need not be given")
                types, meaning = [meaning["type"]], meaning["meaning"]
            if meaning:
                rows.append([path, " or ".join(types), meaning])
        for path, meaning in meanings.items():
            if path not in used and isinstance(meaning, dict):
                rows.append([path, meaning["type"], meaning["meaning"]])
            elif path not in used:
                wrong.append(f"no key {path}")
        if wrong:
            sys.exit(f"docs/keys.toml, {what}: " + "; ".join(wrong))
        return rows


def json_page():
    meanings = tomllib.loads((ROOT / "docs" / "keys.toml").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)

        run = Keys(named=("recovery[].measures", "vs_oracle[].measures",
                          "vs_oracle[].bounds[].measures"))
        run.add(json.loads(ackclock("run", "scenarios/first.toml", "--strategy", "newreno",
                                    "--runs", "2", "--format", "json", "--stats", "--recovery",
                                    "--vs-oracle")))

        kinds = {}
        lines = []
        for name, strategy in (("wireless", "newreno"), ("wireless", "linux"),
                               ("mobile", "sack+f-rto")):
            events = scratch / "events.jsonl"
            ackclock("run", f"scenarios/{name}.toml", "--runs", "1", "--strategy", strategy,
                     "--events", events)
            lines += map(json.loads, events.read_text().splitlines())
        common = [k for k in lines[0] if all(k in line for line in lines)]
        shared = Keys()
        for line in lines:
            shared.add({k: v for k, v in line.items() if k in common})
            kinds.setdefault(line["event"], Keys()).add(
                {k: v for k, v in line.items() if k not in common})

        explained = Keys(named=("captures[].ignored", "overall.retransmissions_by_kind",
                                "overall.timeouts_by_class", "overall.timeouts_by_state"))
        capture = scratch / "web.pcapng"
        ackclock("run", "scenarios/web.toml", "--strategy", "newreno", "--runs", "1",
                 "--pcap", capture)
        damaged = scratch / "damaged.pcap"
        damaged.write_bytes(gzip.decompress(CAPTURE.read_bytes())[:20_000])
        for path, status in ((CAPTURE, 0), (capture, 0), (damaged, 2)):
            explained.add(json.loads(ackclock("explain", path, "--format", "json", status=status)))

        compared = Keys()
        compared.add(json.loads(ackclock("explain", CAPTURE, CAPTURE, "--compare",
                                         "--format", "json")))

        groups = Keys()
        groups.add(json.loads(ackclock("explain", CAPTURE, "--by", "host", "--format", "json")))

        replayed = Keys()
        vectors = ROOT / "crates" / "ackclock-replay" / "vectors" / "linux-6.18" / "tails.jsonl"
        replayed.add(json.loads(ackclock("replay", vectors, "--strategy", "newreno",
                                         "--format", "json")))

    text = opening("JSON keys", """A heading such as `a[].b` stands for the object `b` in each
        object of the list `a`. `NAME` stands for a name that is data. The [words](../words.md) say
        what the values of `cause`, `class` and the like mean.""")
    text += "## `run`, `compare` and `send`\n\n"
    text += paragraph("""With `--format json`. Without `--stats`, `--recovery` and `--vs-oracle` the
        document is the list `flows` alone.""")
    text += run.tables(meanings["run"], "run") + "\n## Events\n\n"
    text += paragraph("""`--events` writes one object for each event, a line each. These keys come
        first, in every line.""")
    text += shared.tables(meanings["events"]["common"], "events.common")
    own = meanings["events"]["kinds"]
    for kind in sorted(set(kinds) - set(own)):
        sys.exit(f"docs/keys.toml, events.kinds: no event {kind}")
    text += "\nThen come the keys of this kind of event.\n"
    for kind, entry in own.items():
        entry = dict(entry)
        text += f"\n### `{kind}`\n\n{entry.pop('event')}\n\n"
        text += kinds.get(kind, Keys()).tables(entry, f"events.kinds.{kind}")
    text += "\n## `explain`\n\n"
    text += paragraph("""With `--format json`. Times since 1970 have nine decimals. Counts of a
        connection are those of both directions together.""")
    text += explained.tables(meanings["explain"], "explain")
    text += "\n## `explain --compare`\n\n"
    text += paragraph("""With `--format json`. The other keys of a total are those of a connection.""")
    text += compared.tables(meanings["compare"], "compare")
    text += "\n## `explain --by`\n\n"
    text += paragraph("""With `--format json`. The other keys of a group are those of a
        connection.""")
    text += groups.tables(meanings["groups"], "groups")
    text += "\n## `replay`\n\n" + paragraph("""With `--format json`. The guide's page of
        [vectors](../vectors.md) says what is counted.""")
    return text + replayed.tables(meanings["replay"], "replay")


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
