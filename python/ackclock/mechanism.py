"""Mechanisms of your own: subclass the class of an axis, and `register` it.

A mechanism sees copies of two values, the `State` of the sender and what one `Ack` says. It returns
a decision; only the sender changes windows, timers and the scoreboard. Each connection gets an
object of its own. An exception in it ends the run with its traceback.

The guide's chapter on mechanisms says what each axis decides. Positions and sizes are bytes, times
are seconds. What a class does not define is as the class of the axis says.
"""

from __future__ import annotations

import inspect
from typing import Any

from . import _native
from ._answers import (
    Emulated,
    Filler,
    Lost,
    Next,
    Notices,
    OnAck,
    ProbeNow,
    Tick,
    Timed,
    Verdict,
    Windows,
)
from ._axes import (
    AXES,
    Ambiguity,
    Detect,
    DetectRetransmission,
    Fill,
    Probe,
    Regulate,
    Response,
    Select,
    Undo,
)
from ._base import Mechanism
from ._laws import Pacing, Segmentation, Timer, Window
from ._native import Ack, Law, Notice, Outgoing, Segment, State

__all__ = [
    "AXES",
    "Ack",
    "Ambiguity",
    "Detect",
    "DetectRetransmission",
    "Emulated",
    "Fill",
    "Filler",
    "Law",
    "Lost",
    "Mechanism",
    "Next",
    "Notice",
    "Notices",
    "OnAck",
    "Outgoing",
    "Pacing",
    "Probe",
    "ProbeNow",
    "Regulate",
    "Response",
    "Segment",
    "Segmentation",
    "Select",
    "State",
    "Tick",
    "Timed",
    "Timer",
    "Undo",
    "Verdict",
    "Window",
    "Windows",
    "register",
]


def register(
    name: str,
    mechanism: type[Mechanism],
    *,
    needs_sack: bool = False,
    without_sack: str | None = None,
) -> None:
    """Registers a mechanism: from then on `newreno+NAME` is a strategy in this process.

    `needs_sack` has connections negotiate SACK for it. Where SACK was not negotiated, the mechanism
    called `without_sack` takes its place, or it stays. A class that was registered under the name
    before is replaced.
    """
    bases = inspect.getmro(mechanism) if inspect.isclass(mechanism) else ()
    axis = next((axis for axis in AXES if axis in bases), None)
    if axis is None:
        raise TypeError(f"{mechanism!r} is no subclass of an axis such as Detect")
    defined = {key for key in vars(axis) if _defines(mechanism, axis, key)}
    missing = [method for method in axis.required if method not in defined]
    if missing:
        raise TypeError(f"{mechanism.__qualname__} has to define {', '.join(missing)}")
    for key in dir(mechanism):
        if key.startswith("on_") and key not in vars(axis):
            method = f"{mechanism.__qualname__}.{key}"
            raise TypeError(f"{method} is never called: {axis.__name__} has none")
    summary = (mechanism.__doc__ or "").strip().partition("\n")[0]
    _native.register(axis.axis, name, mechanism, defined, summary, needs_sack, without_sack)


def _defines(mechanism: type[Any], axis: type[Any], key: str) -> bool:
    method = getattr(axis, key)
    return callable(method) and getattr(mechanism, key) is not method
