"""Takes the data of nodes that no executor spins, for scripts that listen to their entities or take
data with their handles. The rmw implementations of stock ROS 2 take such data automatically.
"""

import threading
import time
import weakref
from typing import Any, Callable

from ._native import extension

_listened: 'weakref.WeakSet[Any]' = weakref.WeakSet()  # nodes with an entity that has a listener
is_anybody_listening = False
"""Whether any entity has a listener. Each sender checks this."""


def note(node: Any, is_listened: bool) -> None:
    """Records whether an entity of a node has a listener."""
    global is_anybody_listening
    if is_listened:
        _listened.add(node)
    else:
        _listened.discard(node)
    is_anybody_listening = bool(_listened)


_MOST_TURNS = 1000
"""The limit on turns; each turn takes one item of each entity. Without a limit, data that keeps
arriving would never let the caller continue."""


class _Inside(threading.local):
    """Whether this thread is calling a listener."""

    is_telling = False


_inside = _Inside()


def delivering(callback: Callable[[int], None]) -> Callable[[int], None]:
    """Wraps a listener so that it may publish and take data itself."""

    def tell(count: int) -> None:
        before, _inside.is_telling = _inside.is_telling, True
        try:
            callback(count)
        finally:
            _inside.is_telling = before

    return tell


def deliver() -> None:
    """Immediately calls the listeners in this process for data that this process has sent."""
    for node in list(_listened):
        node._rclpy_collect()


class Sending:
    """A request or response that is being sent while an entity has a listener. Within the process
    it arrives before the sender continues, as in stock ROS 2."""

    _MOST_SECONDS = 0.2
    _PAUSE_SECONDS = 0.0002

    def __init__(self, context: Any, kind: str, service_name: str) -> None:
        receivers = [
            entity for node in list(context._nodes) for entity in node._rclpy_entities[kind]
            if not entity._destroyed and entity.service_name == service_name
        ]
        self._before = [(entity, entity._queue.came) for entity in receivers]

    def arrive(self) -> None:
        """Waits until a receiver has the request or response, or the time limit is reached."""
        end = time.monotonic() + self._MOST_SECONDS
        while self._before and not _inside.is_telling and time.monotonic() < end:
            for entity, _ in self._before:
                entity._collect()
            if any(entity._queue.came > before for entity, before in self._before):
                break
            time.sleep(self._PAUSE_SECONDS)
        deliver()


def collect(native: Any) -> None:
    """Takes the data that has arrived for the nodes of an executor of the extension."""
    if _inside.is_telling:
        return  # the thread that calls the listener takes the next data
    try:
        for _ in range(_MOST_TURNS):
            if not native.spin_some():
                break
    except extension.FerosError:
        pass  # another thread spins the executor, and takes the data


class Unspun:
    """Takes the data of one node while no executor spins the node."""

    def __init__(self, native_node: Any) -> None:
        self._executor = extension.Executor(1, 'ros')
        self._executor.add_node(native_node)
        self._native_node = native_node
        self._lock = threading.Lock()
        self._has_thread = False

    def follow(self, is_listened: bool) -> None:
        """Starts or stops a thread that waits for data."""
        with self._lock:
            if is_listened and not self._has_thread:
                self._executor.start()
            elif self._has_thread and not is_listened and not _inside.is_telling:
                self._executor.join()
            else:
                return
            self._has_thread = is_listened

    def collect(self) -> None:
        """Takes the data that has arrived."""
        if _inside.is_telling:
            return
        with self._lock:
            if self._has_thread:
                self._executor.join()  # the thread reports its data before it ends
            collect(self._executor)
            if self._has_thread:
                self._executor.start()

    def end(self) -> None:
        """Stops, because an executor will spin the node or the node ends."""
        self.follow(False)
        self._executor.remove_node(self._native_node)
