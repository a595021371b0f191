"""Queries the buffer of another node through an action."""

import threading
from typing import Any

import tf2_py as tf2
from feros import _feros
from geometry_msgs.msg import TransformStamped
from rclpy.action import ActionClient
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.task import Future
from rclpy.time import Time
from tf2_msgs.action import LookupTransform
from tf2_msgs.msg import TF2Error

from .buffer_interface import BufferInterface

_EXCEPTIONS = {
    TF2Error.LOOKUP_ERROR: tf2.LookupException,
    TF2Error.CONNECTIVITY_ERROR: tf2.ConnectivityException,
    TF2Error.EXTRAPOLATION_ERROR: tf2.ExtrapolationException,
    TF2Error.INVALID_ARGUMENT_ERROR: tf2.InvalidArgumentException,
    TF2Error.TIMEOUT_ERROR: tf2.TimeoutException,
}


def _message(time: Any) -> Any:
    return time.to_msg() if isinstance(time, Time) else time


class BufferClient(BufferInterface):
    """Queries a buffer server named `ns`. Another thread has to spin the node during a query. An
    answer may take `timeout_padding` longer than the requested timeout. `check_frequency` is
    ignored, since answers are received without polling."""

    def __init__(
        self, node: Node, ns: str, check_frequency: float = 10.0,
        timeout_padding: Duration = Duration(seconds=2.0),
    ) -> None:
        super().__init__()
        self.node = node
        self.action_client = ActionClient(node, LookupTransform, ns)
        self.check_frequency = check_frequency
        self.timeout_padding = timeout_padding

    def lookup_transform(
        self, target_frame: str, source_frame: str, time: Time, timeout: Duration = Duration()
    ) -> TransformStamped:
        """Returns the transform from `source_frame` to `target_frame` at a time.

        Raises `TimeoutException` if the server does not answer, and any `TransformException` in its
        answer.
        """
        return self._ask(LookupTransform.Goal(
            target_frame=target_frame, source_frame=source_frame, source_time=_message(time),
            timeout=timeout.to_msg()), timeout)

    def lookup_transform_full(
        self, target_frame: str, target_time: Time, source_frame: str, source_time: Time,
        fixed_frame: str, timeout: Duration = Duration(),
    ) -> TransformStamped:
        """Like `lookup_transform`, between two times between which `fixed_frame` does not move."""
        return self._ask(LookupTransform.Goal(
            target_frame=target_frame, target_time=_message(target_time),
            source_frame=source_frame, source_time=_message(source_time),
            fixed_frame=fixed_frame, advanced=True, timeout=timeout.to_msg()), timeout)

    def can_transform(
        self, target_frame: str, source_frame: str, time: Time, timeout: Duration = Duration()
    ) -> bool:
        """Returns whether `lookup_transform` succeeds."""
        try:
            self.lookup_transform(target_frame, source_frame, time, timeout)
        except tf2.TransformException:
            return False
        return True

    def can_transform_full(
        self, target_frame: str, target_time: Time, source_frame: str, source_time: Time,
        fixed_frame: str, timeout: Duration = Duration(),
    ) -> bool:
        """Returns whether `lookup_transform_full` succeeds."""
        try:
            self.lookup_transform_full(
                target_frame, target_time, source_frame, source_time, fixed_frame, timeout)
        except tf2.TransformException:
            return False
        return True

    def _ask(self, goal: LookupTransform.Goal, timeout: Duration) -> TransformStamped:
        if not self.action_client.server_is_ready():
            raise tf2.TimeoutException('The BufferServer is not ready.')
        seconds = (timeout.nanoseconds + self.timeout_padding.nanoseconds) / 1e9
        handle = self._await(self.action_client.send_goal_async(goal), seconds)
        if not handle.accepted:
            raise tf2.TimeoutException('The BufferServer rejected the goal.')
        result = self._await(handle.get_result_async(), seconds).result
        if result.error.error != TF2Error.NO_ERROR:
            exception = _EXCEPTIONS.get(result.error.error, tf2.TransformException)
            raise exception(result.error.error_string)
        return result.transform

    @staticmethod
    def _await(future: Future, seconds: float) -> Any:
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        if not done.wait(seconds):
            raise tf2.TimeoutException(
                f'The BufferServer did not answer {_feros.within(seconds)}. Does another thread'
                ' spin the node of the client?')
        return future.result()
