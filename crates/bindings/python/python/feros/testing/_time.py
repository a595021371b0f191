"""Simulated time that a test steps."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Callable, Iterable

from feros._messages import message_class
from feros.qos import QoSProfile
from feros.testing._waiting import TIMEOUT, Waiting

if TYPE_CHECKING:
    from feros.node import Node

_PERIOD = 0.05
"""The seconds after which the test publishes the time again, for nodes that start later."""

_NANOS = 1_000_000_000


class SimulatedTime:
    """Publishes `/clock`, which nodes with the parameter `use_sim_time` follow. The time begins at
    one second, and stands still between the steps."""

    def __init__(self, node: Node, waiting: Waiting, spun: Callable[[], Iterable[Node]]) -> None:
        self._waiting, self._spun = waiting, spun
        self._lock = threading.Lock()
        self._now = _NANOS
        self._cls = message_class("rosgraph_msgs/msg/Clock")
        self._publisher = node.create_publisher(self._cls, "/clock", QoSProfile(1))
        self._publish(self._now)
        self._timer = node.create_wall_timer(_PERIOD, lambda: self._publish(None))

    def now(self) -> int:
        """Returns the simulated time in nanoseconds."""
        return self._now

    def step(self, seconds: float) -> None:
        """Lets time pass, as `set` does."""
        if seconds < 0:
            raise ValueError(f"time cannot pass by {seconds} s: `set` sets it back")
        self._set(self._now + round(seconds * _NANOS))

    def set(self, seconds: float) -> None:
        """Sets the time. Returns when the nodes that the harness spins show it; nodes of other
        processes may get it a moment later.

        Raises `NotInTime` if one of these nodes does not follow `/clock`.
        """
        if seconds <= 0:
            raise ValueError(f"the time {seconds} s is not above 0, which means no time")
        self._set(round(seconds * _NANOS))

    def wait_for(self, node: Node) -> None:
        """Waits until a node that follows `/clock` shows the time."""
        self._wait_for(lambda: [node])

    def _set(self, nanos: int) -> None:
        self._publish(nanos)
        self._wait_for(self._spun)

    def _wait_for(self, nodes: Callable[[], Iterable[Node]]) -> None:
        def behind() -> list[str]:
            simulated = [node for node in nodes() if node.clock.is_simulated]
            return [node.fully_qualified_name for node in simulated if node.now() != self._now]

        self._waiting.until(
            lambda: None if behind() else True, TIMEOUT,
            lambda: f"{', '.join(behind())} did not get the time {self._now / _NANOS:g} s")

    def _publish(self, nanos: int | None) -> None:
        with self._lock:
            if nanos is not None:
                self._now = nanos
            message = self._cls()
            message.clock.sec, message.clock.nanosec = divmod(self._now, _NANOS)
            self._publisher.publish(message)
