"""Replays ns-2's own test suites, and holds what comes out against `suites.txt`."""

import suite
import translate

KEPT = suite.HERE / "suites.txt"
DIFFERS, LEFT_OUT = "differs", "left out"


def kept():
    """What `suites.txt` says: {(suite, test): (`differs` or `left out`, why)}."""
    found = {}
    for line in KEPT.read_text().splitlines():
        if line and not line.startswith("#"):
            verdict, of, test, why = (part.strip() for part in line.split(":", 3))
            found[of, test] = (verdict, why)
    return found


def check(name, command):
    """Replays one test. Returns what came out, in the words of `suites.txt`, and details."""
    try:
        run = suite.Run(*name)
        if suite.as_shipped(run, *name) is False:
            return LEFT_OUT, "ns-2 no longer makes the reference trace"
        found = translate.Scenario(run).difference(command)
    except (suite.SuiteError, translate.Inexpressible) as error:
        return LEFT_OUT, str(error)
    return (DIFFERS, found) if found else ("agrees", "")


def selected(only, left_out):
    """The tests to replay: those that can be expressed, or those that were left out."""
    known = kept()
    return [name for name in suite.names()
            if only in title(name) and (known.get(name, ("",))[0] == LEFT_OUT) == left_out]


def title(name):
    """As `run.py --only` selects it."""
    return f"suite {name[0]}: {name[1]}"


def table(names, results):
    """Prints what differs, and how many agree. Returns how many are not as `suites.txt` says."""
    known, counts, unexpected = kept(), {}, 0
    for name, (verdict, details) in zip(names, results):
        counts[verdict] = counts.get(verdict, 0) + 1
        expected, why = known.get(name, ("agrees", ""))
        fine = verdict == expected and (verdict != LEFT_OUT or details == why)
        unexpected += not fine
        if not fine:
            print(f"{title(name)}: {verdict.upper()} {details}, but {KEPT.name} says "
                  f"{expected} {why}".rstrip(), flush=True)
        elif verdict == DIFFERS:
            print(f"{title(name)}: {details} ({why})", flush=True)
    total = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    print(f"\n{len(names)} tests of ns-2's own suites: {total}, {unexpected} unexpected")
    return unexpected
