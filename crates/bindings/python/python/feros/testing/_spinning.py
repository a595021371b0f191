"""Threads that run the callbacks of nodes while the test does something else."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from feros.executor import Executor

if TYPE_CHECKING:
    from feros.node import Node
    from feros.testing._waiting import Waiting


class Spinning:
    """Runs the callbacks of one node on a thread of its own, so that nodes may call each other. An
    exception of a callback fails the test."""

    def __init__(self, node: Node, waiting: Waiting) -> None:
        self.node = node
        self._waiting = waiting
        self._executor = Executor()
        self._executor.add_node(node)
        self._is_ending = False
        self._thread = threading.Thread(
            target=self._run, name=f"spins {node.name}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._is_ending and self.node.context.ok():
            try:
                self._executor.spin()
            except Exception as error:
                self._waiting.fail(error)
            except BaseException as error:  # this must not end the run of all tests
                self._waiting.fail(RuntimeError(f"a callback of {self.node.name} raised {error!r}"))

    def end(self) -> None:
        """Ends the thread; a callback that runs ends first."""
        self._is_ending = True
        self._executor.stop()
        self._thread.join()
        if self.node._executor is not None:  # else the test has destroyed the node
            self._executor.remove_node(self.node)
