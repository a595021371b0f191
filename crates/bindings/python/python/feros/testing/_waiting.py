"""Waits of a test. They end when the condition holds, a thread fails, or the time is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from feros.testing._errors import NotInTime

T = TypeVar("T")

TIMEOUT = 30.0
"""The longest wait in seconds, if the test does not pass another timeout."""

_LOOK_INTERVAL = 0.02
"""The seconds between two looks if no thread notifies."""


class Waiting:
    """Lets the threads of a harness wake its test, and pass it their exceptions."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._failures: list[BaseException] = []

    def notify(self) -> None:
        """Lets waits look again."""
        with self.changed:
            self.changed.notify_all()

    def fail(self, error: BaseException) -> None:
        """Notes an exception of another thread, which the next wait raises."""
        with self.changed:
            self._failures.append(error)
            self.changed.notify_all()

    def raise_failure(self) -> None:
        """Raises the first exception that no wait has raised yet."""
        with self.changed:
            failure = self._failures.pop(0) if self._failures else None
        if failure is not None:
            raise failure

    def until(
        self, look: Callable[[], T | None], timeout: float, missing: Callable[[], str]
    ) -> T:
        """Calls `look` until it returns something; raises `NotInTime` with the text of `missing`
        after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while True:
            self.raise_failure()
            found = look()
            if found is not None:
                return found
            left = deadline - time.monotonic()
            if left <= 0:
                raise NotInTime(f"{missing()} (waited {timeout:g} s)")
            with self.changed:
                self.changed.wait(min(left, _LOOK_INTERVAL))
