"""What executors run: something that has data waiting, in a callback group, of a node."""

import weakref
from typing import Any, Awaitable, Callable, Optional, Tuple, Type

from ._native import extension
from .callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from ._handles import Handle
from ._native.errors import InvalidHandle
from ._unspun import delivering

_MOST_WAITING = 1000
"""Of what keeps all: how much waits in Python. Beyond it the oldest goes, as when full."""


class Entity:
    """Keeps what came until an executor takes it.

    The extension hands data over on the thread that waits for an executor; callbacks of users run
    later, when waiting is over, so that they may spin themselves.
    """

    _handle_type: Type[Handle] = Handle

    def __init__(self, callback_group: Any, depth: int = _MOST_WAITING) -> None:
        self.callback_group = callback_group
        self._queue = extension.EntityQueue(self, depth)
        self._find_node: Callable[[], Any] = lambda: None
        self._destroyed = False
        self._rclpy_uses = 0  # of its handle, at the moment
        self._executor_event = False

    def _attach(self, node: Any) -> None:
        self._find_node = weakref.ref(node)
        if self.callback_group is not None:
            self.callback_group.add_entity(self)

    def _follow(self, executor: Any) -> None:
        """An executor, or nobody, is told from now on that something waits."""
        self._queue.tell(None if executor is None else executor._told)

    def _arrived(self, data: Any) -> None:
        """Something came; from any thread."""
        self._queue.push(data)

    def _call_directly(self, callback: Callable[..., Any]) -> None:
        """Has executors call `callback` with the first part of what came, if the rule of its group
        is one that they know; `_finish` is left out where it returns `None`."""
        group, kind = self.callback_group, type(self.callback_group)
        if kind is MutuallyExclusiveCallbackGroup:
            self._queue.call_directly(callback, group._exclusive)
        elif group is None or kind is ReentrantCallbackGroup:
            self._queue.call_directly(callback, None)

    def _on_pushed_out(self) -> None:
        """The oldest that waited went, for what came last."""

    def _call_of(self, data: Any) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
        """What is to be called with data: a function or coroutine function, and its arguments."""
        raise NotImplementedError

    def _finish(self, data: Any, result: Any) -> Optional[Awaitable[None]]:
        """What is done with the result of the callback; what is still to be awaited then, which
        only a callback that is a coroutine function may leave."""
        return None

    def _collect(self) -> None:
        """Takes what came, though nobody may spin the node."""
        node = self._find_node()
        if node is not None:
            node._rclpy_collect()

    def _listen(self, callback: Optional[Callable[[int], None]]) -> None:
        """Calls `callback(count)` when something comes, and now where something waits."""
        node = self._find_node()
        if callback is None:
            self._queue.listen(None)
            if node is not None:
                node._rclpy_listened(self, False)
            return
        self._living._collect()
        waiting = len(self._queue)
        self._queue.listen(delivering(callback))
        if node is not None:
            node._rclpy_listened(self, True)
        if waiting:
            callback(waiting)

    @property
    def _living(self) -> Any:
        """The entity itself; raises `InvalidHandle` after its destruction."""
        if self._destroyed:
            raise InvalidHandle(f'cannot use {type(self).__name__} after its destruction')
        return self

    @property
    def handle(self) -> Any:
        """What stands for the C structure of stock; valid until the destruction."""
        return self._handle_type(self)

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
        self._queue.close()
        node = self._find_node()
        if node is not None:
            node._rclpy_listened(self, False)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.destroy()
