"""The command `ackclock`."""

import signal
import sys

from . import _native, _sweep


def main() -> int:
    """Runs the command with the arguments of this process."""
    arguments = sys.argv[1:]
    if arguments[:2] == ["help", "sweep"]:
        arguments = ["sweep", "--help"]
    if arguments[:1] == ["sweep"]:
        return _sweep.main(arguments[1:])
    # The command deals with Ctrl-C as it does without Python.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = _native.main(["ackclock", *arguments])
    if arguments in (["help"], ["-h"], ["--help"]):
        print(f"\nOf the Python package:\n  sweep  {_sweep.ABOUT}")
    return code


if __name__ == "__main__":
    sys.exit(main())
