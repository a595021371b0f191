"""What comes for nodes that no executor spins, for who listens to their entities or takes data by
their handles. Stock's middleware hands such things over by itself.
"""

import threading
import time
import weakref
from typing import Any, Callable

from ._native import extension

_listened: 'weakref.WeakSet[Any]' = weakref.WeakSet()  # nodes of which an entity is listened to
is_anybody_listening = False
"""What senders look at, each time."""


def note(node: Any, is_listened: bool) -> None:
    """Somebody, or nobody, listens to an entity of a node."""
    global is_anybody_listening
    if is_listened:
        _listened.add(node)
    else:
        _listened.discard(node)
    is_anybody_listening = bool(_listened)


_MOST_TURNS = 1000
"""A turn takes one of each entity: what never ends is not waited for."""


class _Inside(threading.local):
    """Whether a thread is telling a listener."""

    is_telling = False


_inside = _Inside()


def delivering(callback: Callable[[int], None]) -> Callable[[int], None]:
    """A listener that may publish and take data itself."""

    def tell(count: int) -> None:
        before, _inside.is_telling = _inside.is_telling, True
        try:
            callback(count)
        finally:
            _inside.is_telling = before

    return tell


def deliver() -> None:
    """Listeners in this process hear at once of what was sent in it."""
    for node in list(_listened):
        node._rclpy_collect()


class Sending:
    """A request or response on its way, while somebody listens: within the process it has come
    before its sender goes on, as with stock's middleware."""

    _MOST_SECONDS = 0.2
    _PAUSE_SECONDS = 0.0002

    def __init__(self, context: Any, kind: str, service_name: str) -> None:
        receivers = [
            entity for node in list(context._nodes) for entity in node._rclpy_entities[kind]
            if not entity._destroyed and entity.service_name == service_name
        ]
        self._before = [(entity, entity._queue.came) for entity in receivers]

    def arrive(self) -> None:
        """Waits until any has it, or it is late."""
        end = time.monotonic() + self._MOST_SECONDS
        while self._before and not _inside.is_telling and time.monotonic() < end:
            for entity, _ in self._before:
                entity._collect()
            if any(entity._queue.came > before for entity, before in self._before):
                break
            time.sleep(self._PAUSE_SECONDS)
        deliver()


def collect(native: Any) -> None:
    """Takes what came for the nodes of an executor of the extension."""
    if _inside.is_telling:
        return  # the thread that tells takes what comes next
    try:
        for _ in range(_MOST_TURNS):
            if not native.spin_some():
                break
    except extension.FerosError:
        pass  # another thread spins it, and takes what came


class Unspun:
    """Takes what comes for one node while no executor does."""

    def __init__(self, native_node: Any) -> None:
        self._executor = extension.Executor(1, 'ros')
        self._executor.add_node(native_node)
        self._native_node = native_node
        self._lock = threading.Lock()
        self._has_thread = False

    def follow(self, is_listened: bool) -> None:
        """Has a thread that waits for what comes, or none."""
        with self._lock:
            if is_listened and not self._has_thread:
                self._executor.start()
            elif self._has_thread and not is_listened and not _inside.is_telling:
                self._executor.join()
            else:
                return
            self._has_thread = is_listened

    def collect(self) -> None:
        """Takes what came."""
        if _inside.is_telling:
            return
        with self._lock:
            if self._has_thread:
                self._executor.join()  # what it took is told when it has ended
            collect(self._executor)
            if self._has_thread:
                self._executor.start()

    def end(self) -> None:
        """The node goes to an executor, or ends."""
        self.follow(False)
        self._executor.remove_node(self._native_node)
