"""Ray as an executor."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any


class _RayExecutor(Executor):
    def __init__(self, address: str | None) -> None:
        # It may not be installed, and has no types.
        self._ray: Any = importlib.import_module("ray")
        # A connection that is there already is not ours to end.
        self._own = not self._ray.is_initialized()
        if self._own:
            self._ray.init(address, log_to_driver=False)
        # What a worker takes with it is submitted again by who waits for it.
        self._call = self._ray.remote(max_retries=0)(_call)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._call.remote(fn, args, kwargs).future()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if self._own:
            self._own = False
            self._ray.shutdown()


def _call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return fn(*args, **kwargs)


def ray_executor(address: str | None = None) -> Executor:
    """An executor for `sweep` and `explain_archive` that has the workers of a Ray cluster do the
    work: the one at this address (`auto`, `ray://HOST:PORT`), the one that this process uses
    already, or one on this machine. It takes `pip install ray`."""
    return _RayExecutor(address)
