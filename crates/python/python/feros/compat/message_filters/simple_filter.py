"""What all filters have in common: whom they tell."""

from itertools import count
from typing import Any, Callable, Dict, Tuple


class SimpleFilter:
    """Tells those that registered, in the order in which they did."""

    def __init__(self) -> None:
        self.callbacks: Dict[int, Tuple[Callable[..., Any], Tuple[Any, ...]]] = {}
        self._numbers = count()

    def registerCallback(self, cb: Callable[..., Any], *args: Any) -> int:
        """Calls `cb(*messages, *args)` with what comes; the number is for `unregisterCallback`."""
        number = next(self._numbers)
        self.callbacks[number] = (cb, args)
        return number

    def unregisterCallback(self, conn: int) -> None:
        """Calls it no more."""
        self.callbacks.pop(conn, None)

    def signalMessage(self, *msg: Any) -> None:
        """Tells all of them."""
        for callback, args in list(self.callbacks.values()):
            callback(*msg, *args)
