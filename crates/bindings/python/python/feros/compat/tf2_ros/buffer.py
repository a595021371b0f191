"""The buffer that listeners fill. Callers wait for transforms by blocking or with futures."""

import threading
from time import monotonic
from typing import Any, Callable, List, Optional, Tuple, Union

import tf2_py as tf2
from geometry_msgs.msg import TransformStamped
from rclpy.clock import Clock, JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.task import Future
from rclpy.time import Time
from tf2_msgs.srv import FrameGraph

from .buffer_interface import BufferInterface

_SLICE = 0.1
"""The interval in seconds at which a wait checks again, since code outside this class may also add
transforms."""


class Buffer(tf2.BufferCore, BufferInterface):
    """Keeps the transforms between frames of the last `cache_time`. With a node it serves
    `tf2_frames`, and clears all transforms when the node's time jumps back."""

    def __init__(
        self, cache_time: Optional[Duration] = None, node: Optional[Node] = None
    ) -> None:
        tf2.BufferCore.__init__(self, cache_time)
        BufferInterface.__init__(self)
        self._jumps = 0
        self._changed = threading.Condition()
        self._changes = 0
        self._waiting: List[Tuple[Future, Callable[[], TransformStamped]]] = []
        if node is None:
            self.clock = Clock()
        else:
            self.srv = node.create_service(FrameGraph, 'tf2_frames', self._answer_frames)
            self.clock = node.get_clock()
        self.jump_handle = self.clock.create_jump_callback(
            JumpThreshold(min_forward=None, min_backward=Duration(seconds=-1)),
            post_callback=self.time_jump_callback)

    def _answer_frames(
        self, request: FrameGraph.Request, response: FrameGraph.Response
    ) -> FrameGraph.Response:
        response.frame_yaml = self.all_frames_as_yaml()
        return response

    def time_jump_callback(self, time_jump: TimeJump) -> None:
        """Clears the transforms, which belong to the time before the jump."""
        self._jumps += 1
        # With two publishers of /clock, time jumps with each message, so the warning is logged at
        # increasing intervals.
        if self._jumps.bit_count() == 1:
            get_logger('tf2_buffer').warning('Detected jump back in time. Clearing tf buffer.')
        self.clear()

    def set_transform(self, transform: TransformStamped, authority: str) -> None:
        """Stores the transform of a frame at one time; `authority` is the source of the transform.

        Raises `InvalidArgumentException` if the transform is invalid or too old.
        """
        super().set_transform(transform, authority)
        self._tell_waiting()

    def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
        """Stores the transform of a frame for all times.

        Raises `InvalidArgumentException` if the transform is invalid.
        """
        super().set_transform_static(transform, authority)
        self._tell_waiting()

    def _tell_waiting(self) -> None:
        with self._changed:
            self._changes += 1
            self._changed.notify_all()
            waiting = list(self._waiting)
        # The lock is not held, since futures call their callbacks.
        for future, lookup in waiting:
            self._try(future, lookup)

    def _try(self, future: Future, lookup: Callable[[], TransformStamped]) -> None:
        """Completes a future if its transform is known, and forgets a future that has ended."""
        try:
            if not (future.done() or future.cancelled()):
                future.set_result(lookup())
        except tf2.TransformException:
            return
        with self._changed:
            self._waiting = [one for one in self._waiting if one[0] is not future]

    def _when_known(self, lookup: Callable[[], TransformStamped]) -> Future:
        future: Future = Future()
        with self._changed:
            self._waiting.append((future, lookup))
        self._try(future, lookup)
        return future

    def _wait(
        self, check: Callable[[], Tuple[bool, str]], timeout: Duration
    ) -> Tuple[bool, str]:
        """Waits until a check succeeds or the timeout passes; returns the result of the check."""
        until = monotonic() + timeout.nanoseconds / 1e9
        while True:
            seen = self._changes
            result = check()
            left = until - monotonic()
            if result[0] or left <= 0:
                return result
            with self._changed:
                if self._changes == seen:
                    self._changed.wait(min(left, _SLICE))

    def lookup_transform(
        self, target_frame: str, source_frame: str, time: Time, timeout: Duration = Duration()
    ) -> TransformStamped:
        """Returns the transform from `source_frame` to `target_frame` at a time; zero is the newest
        known time. Another thread has to fill the buffer during `timeout`.

        Raises a `TransformException`.
        """
        self.can_transform(target_frame, source_frame, time, timeout)
        return self.lookup_transform_core(target_frame, source_frame, time)

    def lookup_transform_full(
        self, target_frame: str, target_time: Time, source_frame: str, source_time: Time,
        fixed_frame: str, timeout: Duration = Duration(),
    ) -> TransformStamped:
        """Returns the transform from `source_frame` at one time to `target_frame` at another time,
        if `fixed_frame` does not move between these times.

        Raises a `TransformException`.
        """
        question = (target_frame, target_time, source_frame, source_time, fixed_frame)
        self.can_transform_full(*question, timeout)
        return self.lookup_transform_full_core(*question)

    async def lookup_transform_async(
        self, target_frame: str, source_frame: str, time: Time
    ) -> TransformStamped:
        """Returns the result of `lookup_transform`, as soon as it is known."""
        return await self.wait_for_transform_async(target_frame, source_frame, time)

    async def lookup_transform_full_async(
        self, target_frame: str, target_time: Time, source_frame: str, source_time: Time,
        fixed_frame: str,
    ) -> TransformStamped:
        """Returns the result of `lookup_transform_full`, as soon as it is known."""
        return await self.wait_for_transform_full_async(
            target_frame, target_time, source_frame, source_time, fixed_frame)

    def can_transform(
        self, target_frame: str, source_frame: str, time: Time, timeout: Duration = Duration(),
        return_debug_tuple: bool = False,
    ) -> Union[bool, Tuple[bool, str]]:
        """Returns whether `lookup_transform` succeeds within `timeout`; with `return_debug_tuple`
        also the reason if not."""
        result = self._wait(
            lambda: self.can_transform_core(target_frame, source_frame, time), timeout)
        return result if return_debug_tuple else result[0]

    def can_transform_full(
        self, target_frame: str, target_time: Time, source_frame: str, source_time: Time,
        fixed_frame: str, timeout: Duration = Duration(), return_debug_tuple: bool = False,
    ) -> Union[bool, Tuple[bool, str]]:
        """Returns whether `lookup_transform_full` succeeds within `timeout`; with
        `return_debug_tuple` also the reason if not."""
        question = (target_frame, target_time, source_frame, source_time, fixed_frame)
        result = self._wait(lambda: self.can_transform_full_core(*question), timeout)
        return result if return_debug_tuple else result[0]

    def wait_for_transform_async(
        self, target_frame: str, source_frame: str, time: Any
    ) -> Future:
        """Returns a future of the result of `lookup_transform`."""
        return self._when_known(
            lambda: self.lookup_transform_core(target_frame, source_frame, time))

    def wait_for_transform_full_async(
        self, target_frame: str, target_time: Any, source_frame: str, source_time: Any,
        fixed_frame: str,
    ) -> Future:
        """Returns a future of the result of `lookup_transform_full`."""
        question = (target_frame, target_time, source_frame, source_time, fixed_frame)
        return self._when_known(lambda: self.lookup_transform_full_core(*question))
