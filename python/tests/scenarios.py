"""Scenarios of several tests."""

from typing import Any

# A path with random losses, so that seeds matter.
LOSSY: dict[str, Any] = {
    "duration": "20s",
    "link": [
        {
            "from": "a",
            "to": "b",
            "rate": "2mbit",
            "delay": "20ms",
            "loss": [{"bernoulli": {"p": 0.02}}],
        }
    ],
    "flow": [{"from": "a", "to": "b", "source": {"segments": 200}}],
}
