"""What executors run: something that has data waiting, in a callback group, of a node."""

import weakref
from collections import deque
from threading import Lock
from typing import Any, Callable, Deque, Optional, Tuple

from ._native.errors import InvalidHandle

_MOST_WAITING = 1000
"""Of what keeps all: how much waits in Python. Beyond it the oldest goes, as when full."""


class Entity:
    """Keeps what came until an executor takes it.

    The extension hands data over on the thread that waits for an executor; callbacks of users run
    later, when waiting is over, so that they may spin themselves.
    """

    def __init__(self, callback_group: Any, depth: int = _MOST_WAITING) -> None:
        self.callback_group = callback_group
        self._waiting: Deque[Any] = deque(maxlen=max(depth, 1))
        self._waiting_lock = Lock()
        self._pushed_out = 0
        self._queued = False
        self._find_node: Callable[[], Any] = lambda: None
        self._destroyed = False
        self._executor_event = False

    def _attach(self, node: Any) -> None:
        self._find_node = weakref.ref(node)
        if self.callback_group is not None:
            self.callback_group.add_entity(self)

    def _arrived(self, data: Any) -> None:
        """Something came; from any thread."""
        if self._destroyed:
            return
        with self._waiting_lock:
            is_full = len(self._waiting) == self._waiting.maxlen
            self._waiting.append(data)
            if is_full:
                self._pushed_out += 1
            is_queued = self._queued
        if is_full:
            self._on_pushed_out()
        if not is_queued:
            self._announce()

    def _on_pushed_out(self) -> None:
        """The oldest that waited went, for what came last."""

    def _announce(self) -> None:
        """Tells the executor of the node, if there is one, that something waits."""
        node = self._find_node()
        executor = None if node is None else node._rclpy_executor()
        if executor is None:
            return
        with self._waiting_lock:
            if self._queued or not self._waiting:
                return
            self._queued = True
        executor._is_ready(self)

    def _withdraw(self) -> None:
        """The executor looks at it no more."""
        with self._waiting_lock:
            self._queued = False

    def _take(self) -> Optional[Tuple[Any]]:
        """The oldest that waits, in a tuple; `None` where nothing does."""
        with self._waiting_lock:
            return (self._waiting.popleft(),) if self._waiting else None

    def _take_queued(self) -> Optional[Tuple[Any, bool]]:
        """For an executor that took it out of its queue: the oldest that waits, and whether more
        does, for which it goes into that queue again; `None` where nothing waits."""
        with self._waiting_lock:
            if not self._waiting:
                self._queued = False
                return None
            data = self._waiting.popleft()
            self._queued = bool(self._waiting)
            return data, self._queued

    def _call_of(self, data: Any) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
        """What is to be called with data: a function or coroutine function, and its arguments."""
        raise NotImplementedError

    def _finish(self, data: Any, result: Any) -> None:
        """What is done with the result of the callback."""

    @property
    def handle(self) -> Any:
        """The entity itself, which stands for the C structure of stock.

        Raises `InvalidHandle` after its destruction.
        """
        if self._destroyed:
            raise InvalidHandle(f'cannot use {type(self).__name__} after its destruction')
        return self

    @property
    def pointer(self) -> int:
        """A number that tells it from others."""
        return id(self)

    def destroy_when_not_in_use(self) -> None:
        """Destroys it: callbacks that run end in peace."""
        self.destroy()

    def destroy(self) -> None:
        """Ends it. What waits is dropped."""
        self._destroyed = True
        self._native: Any = None
        with self._waiting_lock:
            self._waiting.clear()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.destroy()
