"""What the classes of all axes share."""

from __future__ import annotations

from typing import ClassVar


class Mechanism:
    """What the classes of all axes share."""

    #: The axis, by the name of the guide.
    axis: ClassVar[str] = ""
    #: The methods that a mechanism of the axis has to define.
    required: ClassVar[tuple[str, ...]] = ()
