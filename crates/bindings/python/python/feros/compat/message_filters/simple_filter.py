"""The base class of all filters, which holds the registered callbacks."""

from itertools import count
from typing import Any, Callable, Dict, Tuple


class SimpleFilter:
    """Calls the registered callbacks, in the order of their registration."""

    def __init__(self) -> None:
        self.callbacks: Dict[int, Tuple[Callable[..., Any], Tuple[Any, ...]]] = {}
        self._numbers = count()

    def registerCallback(self, cb: Callable[..., Any], *args: Any) -> int:
        """Calls `cb(*messages, *args)` for each result; returns a number for
        `unregisterCallback`."""
        number = next(self._numbers)
        self.callbacks[number] = (cb, args)
        return number

    def unregisterCallback(self, conn: int) -> None:
        """Stops calling a callback."""
        self.callbacks.pop(conn, None)

    def signalMessage(self, *msg: Any) -> None:
        """Calls all callbacks."""
        for callback, args in list(self.callbacks.values()):
            callback(*msg, *args)
