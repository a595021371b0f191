"""The entities that executors run: they have waiting data, a callback group and a node."""

import weakref
from typing import Any, Awaitable, Callable, Optional, Tuple, Type

from ._native import extension
from .callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from ._handles import Handle
from ._native.errors import InvalidHandle
from ._unspun import delivering

_MOST_WAITING = 1000
"""The limit on items that wait in Python for a keep-all endpoint. Beyond it the oldest item is
dropped."""


class Entity:
    """Keeps data until an executor takes it.

    The extension adds data on the thread that waits for an executor. User callbacks run later,
    after the wait, so that they may spin themselves.
    """

    _handle_type: Type[Handle] = Handle

    def __init__(self, callback_group: Any, depth: int = _MOST_WAITING) -> None:
        self.callback_group = callback_group
        self._queue = extension.EntityQueue(self, depth)
        self._find_node: Callable[[], Any] = lambda: None
        self._destroyed = False
        self._rclpy_uses = 0  # the number of current uses of the handle
        self._executor_event = False

    def _attach(self, node: Any) -> None:
        self._find_node = weakref.ref(node)
        if self.callback_group is not None:
            self.callback_group.add_entity(self)

    def _follow(self, executor: Any) -> None:
        """Sets the executor that is notified when data waits; `None` if no executor spins the
        node."""
        self._queue.tell(None if executor is None else executor._told)

    def _arrived(self, data: Any) -> None:
        """Adds data, from any thread."""
        self._queue.push(data)

    def _call_directly(self, callback: Callable[..., Any]) -> None:
        """Makes executors call `callback` with the first part of the data, if the extension
        implements the rule of the callback group. Executors then call `_finish` only if the
        callback returns something other than `None`."""
        group, kind = self.callback_group, type(self.callback_group)
        if kind is MutuallyExclusiveCallbackGroup:
            self._queue.call_directly(callback, group._exclusive)
        elif group is None or kind is ReentrantCallbackGroup:
            self._queue.call_directly(callback, None)

    def _on_pushed_out(self) -> None:
        """Called after the oldest waiting item was dropped for a new item."""

    def _call_of(self, data: Any) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
        """Returns the function or coroutine function to call with data, and its arguments."""
        raise NotImplementedError

    def _finish(self, data: Any, result: Any) -> Optional[Awaitable[None]]:
        """Processes the result of the callback. Returns an awaitable if the executor still has to
        await something, which only happens if the callback is a coroutine function."""
        return None

    def _collect(self) -> None:
        """Takes the data that has arrived, even if no executor spins the node."""
        node = self._find_node()
        if node is not None:
            node._rclpy_collect()

    def _listen(self, callback: Optional[Callable[[int], None]]) -> None:
        """Calls `callback(count)` when data arrives, and immediately if data already waits."""
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
        """Replaces the C structure of stock ROS 2; valid until the destruction."""
        return self._handle_type(self)

    @property
    def pointer(self) -> int:
        """A number that identifies the entity."""
        return id(self)

    def destroy_when_not_in_use(self) -> None:
        """Destroys the entity; running callbacks finish."""
        self.destroy()

    def destroy(self) -> None:
        """Destroys the entity. Waiting data is dropped."""
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
