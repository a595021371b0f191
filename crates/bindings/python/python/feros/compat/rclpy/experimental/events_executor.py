"""The events executor. All executors of this package wait for events, so it is a
`SingleThreadedExecutor`."""

from typing import Optional

from .. import _rclpy_pybind11 as _rclpy
from ..context import Context
from ..executors import SingleThreadedExecutor


class EventsExecutor(SingleThreadedExecutor):
    """Runs callbacks on the spinning thread, as they become ready."""

    def __init__(self, *, context: Optional[Context] = None) -> None:
        super().__init__(context=context)
