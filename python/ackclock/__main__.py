"""The command `ackclock`."""

import signal
import sys

from . import _native, _sweep


def main() -> int:
    """Runs the command with the arguments of this process."""
    if sys.argv[1:2] == ["sweep"]:
        return _sweep.main(sys.argv[2:])
    # The command deals with Ctrl-C as it does without Python.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["ackclock", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
