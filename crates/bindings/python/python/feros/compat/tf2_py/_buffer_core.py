"""Transforms between frames, without waiting and without nodes."""

from typing import Any, List, Optional, Tuple

import rclpy.time
from geometry_msgs.msg import TransformStamped
from rclpy.duration import Duration

from feros import tf2 as _tf2

ConnectivityException = _tf2.ConnectivityException
ExtrapolationException = _tf2.ExtrapolationException
InvalidArgumentException = _tf2.InvalidArgumentException
LookupException = _tf2.LookupException
TransformException = _tf2.TransformException


class TimeoutException(TransformException):
    """A transform did not arrive in time."""


def _nanoseconds(time: Any) -> int:
    """Returns the nanoseconds of an `rclpy` time or a message; zero, which means the newest known
    time, if no time is given."""
    if hasattr(time, 'nanoseconds'):
        return int(time.nanoseconds)
    try:
        return time.sec * 1_000_000_000 + time.nanosec
    except AttributeError:
        raise TypeError(
            f'a time is an rclpy.time.Time or a builtin_interfaces.msg.Time, not {time!r}'
        ) from None


class BufferCore:
    """Keeps the transforms of the last `cache_time`, by default ten seconds. May be used from any
    thread."""

    def __init__(self, cache_time: Optional[Duration] = None) -> None:
        nanoseconds = 10_000_000_000 if cache_time is None else cache_time.nanoseconds
        self._native = _tf2.Buffer(nanoseconds / 1e9)

    def set_transform(self, transform: TransformStamped, authority: str) -> None:
        """Stores the transform of a frame at one time; `authority` is the source of the transform.

        Raises `InvalidArgumentException` if the transform is invalid or too old.
        """
        self._native.set_transform(transform, authority)

    def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
        """Stores the transform of a frame for all times.

        Raises `InvalidArgumentException` if the transform is invalid.
        """
        self._native.set_transform(transform, authority, static=True)

    def lookup_transform_core(
        self, target_frame: str, source_frame: str, time: Any
    ) -> TransformStamped:
        """Returns the transform from `source_frame` to `target_frame` at a time.

        Raises a `TransformException`.
        """
        return self._native.lookup_transform(target_frame, source_frame, _nanoseconds(time))

    def lookup_transform_full_core(
        self, target_frame: str, target_time: Any, source_frame: str, source_time: Any,
        fixed_frame: str,
    ) -> TransformStamped:
        """Returns the transform from `source_frame` at one time to `target_frame` at another time,
        if `fixed_frame` does not move between these times.

        Raises a `TransformException`.
        """
        return self._native.lookup_transform_full(
            target_frame, _nanoseconds(target_time), source_frame, _nanoseconds(source_time),
            fixed_frame)

    def can_transform_core(
        self, target_frame: str, source_frame: str, time: Any
    ) -> Tuple[bool, str]:
        """Returns whether `lookup_transform_core` would succeed, and the reason if it would not."""
        try:
            self.lookup_transform_core(target_frame, source_frame, time)
        except TransformException as error:
            return False, str(error)
        return True, ''

    def can_transform_full_core(
        self, target_frame: str, target_time: Any, source_frame: str, source_time: Any,
        fixed_frame: str,
    ) -> Tuple[bool, str]:
        """Returns whether `lookup_transform_full_core` would succeed, and the reason if it would
        not."""
        try:
            self.lookup_transform_full_core(
                target_frame, target_time, source_frame, source_time, fixed_frame)
        except TransformException as error:
            return False, str(error)
        return True, ''

    def get_latest_common_time(self, target_frame: str, source_frame: str) -> rclpy.time.Time:
        """Returns the newest time at which the whole chain between two frames is known; zero if the
        whole chain is static.

        Raises a `TransformException`.
        """
        nanoseconds = self._native.latest_common_time(target_frame, source_frame)
        return rclpy.time.Time(nanoseconds=nanoseconds)

    def all_frames_as_string(self) -> str:
        """Returns the frames, one per line."""
        return self._native.all_frames_as_string()

    def all_frames_as_yaml(self) -> str:
        """Returns the frames in YAML, with their authorities and rates."""
        return self._native.all_frames_as_yaml()

    def clear(self) -> None:
        """Removes all transforms that are not static."""
        self._native.clear()

    def _frameExists(self, frame_id: str) -> bool:
        return frame_id in self._getFrameStrings()

    def _getFrameStrings(self) -> List[str]:
        frames = self._native.frames()
        parents = {frame.parent for frame in frames.values() if frame.parent}
        return sorted(parents.union(frames))

    def _chain(
        self, target_frame: str, target_time: Any, source_frame: str, source_time: Any,
        fixed_frame: str,
    ) -> List[str]:
        to_fixed = self._native.chain(fixed_frame, source_frame, _nanoseconds(source_time))
        to_target = self._native.chain(target_frame, fixed_frame, _nanoseconds(target_time))
        return [*to_fixed, *to_target[1:]]
