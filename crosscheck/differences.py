"""Where the RFCs and ns-2 differ, and the setting of ackclock that does as ns-2 does."""

import collections.abc
import dataclasses


@dataclasses.dataclass(frozen=True)
class Difference:
    """One way in which ns-2 departs from the RFCs."""

    why: str
    strategy: collections.abc.Callable


DIFFERENCES = {}


def expected(case):
    """The key of the difference that this case shows, or None if both must agree."""
    return None
