"""Executors run the callbacks of nodes.

Executors wait and choose callbacks without the interpreter lock; each callback takes the lock. An
exception in a callback ends the spinning, and is raised by the spinning function.
"""

from __future__ import annotations

from feros import _feros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, TypeVar

    from feros.future import Future
    from feros.node import Node

    T = TypeVar("T")


class Executor:
    """Runs the callbacks of its nodes on `threads` threads (0: one for each processor), in the
    order of a policy: `fair`, `ros`, `priority` or `deadline`."""

    def __init__(
        self,
        *,
        threads: int = 1,
        policy: Literal["fair", "ros", "priority", "deadline"] = "fair",
    ) -> None:
        self._executor = _feros.Executor(threads, policy)
        self._nodes: list[Node] = []

    def add_node(self, node: Node) -> None:
        """Runs the callbacks of a node from now on.

        Raises `FerosError` if another executor already runs them.
        """
        self._executor.add_node(node._node)
        node._executor = self._executor
        self._nodes.append(node)

    def remove_node(self, node: Node) -> None:
        """Stops running the callbacks of a node."""
        self._executor.remove_node(node._node)
        node._executor = None
        self._nodes = [known for known in self._nodes if known is not node]

    @property
    def nodes(self) -> list[Node]:
        """The nodes of the executor."""
        return list(self._nodes)

    def spin(self) -> None:
        """Runs callbacks until `stop` is called or a context is shut down."""
        self._executor.spin()

    def spin_once(self, timeout: float | None = None) -> bool:
        """Runs one callback, and returns whether a callback ran. Waits at most `timeout` seconds
        for a ready callback, by default forever."""
        return self._executor.spin_once(timeout)

    def spin_some(self, max_duration: float | None = None) -> int:
        """Runs the callbacks that are ready now, without waiting; returns their number."""
        return self._executor.spin_some(max_duration)

    def spin_until(self, is_done: Callable[[], object], timeout: float | None = None) -> bool:
        """Runs callbacks until `is_done()` is true; returns whether it is true."""
        return self._executor.spin_until(is_done, timeout)

    def spin_until_complete(self, future: Future[T], timeout: float | None = None) -> T:
        """Runs callbacks until a future is done; returns its result.

        Raises `TimeoutError` if the future is not done in time, or the exception of the future.
        """
        future.add_done_callback(lambda _: self._executor.wake())
        if not self._executor.spin_until(future.done, timeout):
            raise TimeoutError("the future was not done in time, or the context was shut down")
        return future.result()

    def stop(self) -> None:
        """Ends spinning. May be called from any thread."""
        self._executor.stop()

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        for node in self._nodes:
            self._executor.remove_node(node._node)
            node._executor = None
        self._nodes.clear()


def _with_executor(node, run):
    if node._executor is not None:
        raise _feros.FerosError(f"node {node.fully_qualified_name} is already spun by an executor")
    executor = Executor()
    executor.add_node(node)
    try:
        return run(executor)
    finally:
        executor.remove_node(node)


def spin(node: Node) -> None:
    """Runs the callbacks of a node on this thread until its context is shut down."""
    _with_executor(node, lambda executor: executor.spin())


def spin_once(node: Node, timeout: float | None = None) -> bool:
    """Runs one callback of a node; returns whether a callback ran. An `Executor` is cheaper in a
    loop."""
    return _with_executor(node, lambda executor: executor.spin_once(timeout))


def spin_until_complete(node: Node, future: Future[T], timeout: float | None = None) -> T:
    """Runs callbacks of a node until a future is done; returns its result."""
    return _with_executor(node, lambda executor: executor.spin_until_complete(future, timeout))
