"""tf2: the transforms between frames, at given times.

    buffer = feros.tf2.Buffer()
    listener = feros.tf2.TransformListener(buffer, node)
    transform = buffer.wait_for_transform("map", "base_link").wait(1.0)

The names and the order of the arguments are those of tf2: `lookup_transform(target, source, time)`
returns the transform from `source` to `target`. Times are nanoseconds or `builtin_interfaces/Time`
messages; a missing time, or zero, means the newest known time.
"""

from __future__ import annotations

from feros import _feros
from feros._feros import (
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TransformException,
)
from feros._messages import message_class, message_type
from feros.endpoints import Endpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from typing import Any, TypeVar

    from feros._messages import Message
    from feros.msgs.builtin_interfaces.msg import Time
    from feros.msgs.geometry_msgs.msg import TransformStamped
    from feros.node import Node

    M = TypeVar("M", bound=Message)

__all__ = [
    "Buffer", "ConnectivityException", "ExtrapolationException", "FrameInfo",
    "InvalidArgumentException", "LookupException", "StaticTransformBroadcaster",
    "TransformBroadcaster", "TransformException", "TransformListener", "do_transform",
]


def _transform_type():
    return message_type(message_class("geometry_msgs/msg/TransformStamped"))


def _nanos(time):
    if time is None:
        return 0
    if isinstance(time, int):
        return time
    try:
        return time.sec * 1_000_000_000 + time.nanosec
    except AttributeError:
        raise TypeError(
            f"a time is nanoseconds or a builtin_interfaces/Time message, not {time!r}"
        ) from None


def do_transform(message: M, transform: TransformStamped) -> M:
    """Transforms a message into the frame in the header of a `TransformStamped`."""
    return _feros.do_transform(
        message_type(type(message)), message, message_type(type(transform)), transform
    )


class FrameInfo:
    """The information about a frame. Times are in nanoseconds, `rate` in transforms per second."""

    __slots__ = ("parent", "is_static", "authority", "oldest", "latest", "samples", "rate")

    def __init__(
        self, parent: str | None, is_static: bool, authority: str, oldest: int, latest: int,
        samples: int, rate: float | None,
    ) -> None:
        self.parent, self.is_static, self.authority = parent, is_static, authority
        self.oldest, self.latest, self.samples, self.rate = oldest, latest, samples, rate

    def __repr__(self):
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"FrameInfo({fields})"


class Wait:
    """A transform that may not be known yet: await it in asyncio, or block in `wait`. Neither needs
    an executor, if a listener with its own thread fills the buffer."""

    __slots__ = ("_wait",)

    def __init__(self, inner):
        self._wait = inner

    def wait(self, timeout: float | None = None) -> TransformStamped:
        """Returns the transform.

        Raises `TimeoutError` after `timeout` seconds, `ShutdownError` if the listener's context was
        shut down, and `TransformException` if no later transform can help.
        """
        return self._wait.wait(timeout)

    def __await__(self) -> Generator[Any, None, TransformStamped]:
        from feros import _aio

        return _aio.response(self._wait).__await__()


class Buffer:
    """The transforms between frames during the last `cache_time` seconds. May be used from any
    thread."""

    def __init__(self, cache_time: float = 10.0) -> None:
        nanos = round(cache_time * 1_000_000_000)
        if nanos <= 0:
            raise ValueError(f"cache_time must be above 0 s, but is {cache_time} s")
        self._buffer = _feros.TransformBuffer(_transform_type(), nanos)

    def set_transform(
        self, transform: TransformStamped, authority: str = "", *, static: bool = False
    ) -> None:
        """Stores a `TransformStamped`; a static transform is valid at any time. `authority` is the
        source of the transform.

        Raises `InvalidArgumentException` if the transform is invalid or too old.
        """
        self._buffer.set_transform(transform, authority, static)

    def lookup_transform(
        self, target: str, source: str, time: int | Time | None = None
    ) -> TransformStamped:
        """Returns the transform from `source` to `target` at a time.

        Raises a `TransformException`.
        """
        return self._buffer.lookup_transform(target, source, _nanos(time))

    def lookup_transform_full(
        self, target: str, target_time: int | Time | None, source: str,
        source_time: int | Time | None, fixed: str,
    ) -> TransformStamped:
        """Returns the transform from `source` at one time to `target` at another time, through a
        frame that does not move between the two times.

        Raises a `TransformException`.
        """
        to, start = (target, _nanos(target_time)), (source, _nanos(source_time))
        return self._buffer.lookup_transform_full(to, start, fixed)

    def can_transform(self, target: str, source: str, time: int | Time | None = None) -> bool:
        """Returns whether `lookup_transform` would succeed now."""
        return self._buffer.can_transform(target, source, _nanos(time))

    def wait_for_transform(self, target: str, source: str, time: int | Time | None = None) -> Wait:
        """Returns a `Wait` for the result of `lookup_transform`: await it, or call its `wait`."""
        return Wait(self._buffer.wait_for_transform(target, source, _nanos(time)))

    def latest_common_time(self, target: str, source: str) -> int:
        """Returns the newest time at which the whole chain between two frames is known, in
        nanoseconds; zero if the whole chain is static.

        Raises a `TransformException`.
        """
        return self._buffer.latest_common_time(target, source)

    def chain(self, target: str, source: str, time: int | Time | None = None) -> list[str]:
        """Returns the frames from `source` to `target`, including both.

        Raises a `TransformException`.
        """
        return self._buffer.chain(target, source, _nanos(time))

    def transform(self, message: M, target: str) -> M:
        """Transforms a message with a header into another frame, at the time of its stamp: stamped
        points, vectors, quaternions, poses, wrenches, polygons and transforms, `PoseArray` and
        `PointCloud2`.

        Raises a `TransformException`, and `TypeError` for other messages.
        """
        return self._buffer.transform(message_type(type(message)), message, target)

    def frames(self) -> dict[str, FrameInfo]:
        """Returns the information about each frame, by name."""
        return {name: FrameInfo(*info) for name, info in self._buffer.frames().items()}

    def all_frames_as_string(self) -> str:
        """Returns the frames in the format of tf2, one per line."""
        return self._buffer.all_frames_as_string()

    def all_frames_as_yaml(self, now: int | Time | None = None) -> str:
        """Returns the frames in YAML, in the format of tf2; delays count from `now`."""
        return self._buffer.all_frames_as_yaml(_nanos(now))

    def clear(self) -> None:
        """Removes all transforms that are not static."""
        self._buffer.clear()

    @property
    def set_transforms(self) -> int:
        """The number of transforms that were stored."""
        return self._buffer.counts()[0]

    @property
    def refused_transforms(self) -> int:
        """The number of transforms that were refused."""
        return self._buffer.counts()[1]


class TransformListener(Endpoint):
    """Fills a buffer with the transforms from `/tf` and `/tf_static`, on its own thread, which does
    not take the interpreter lock, or, with `dedicated_thread=False`, on the executor of the node.
    Without `dynamic`, it listens only to `/tf_static`. When simulated time jumps back, the buffer
    is cleared; when the context is shut down, all waits end."""

    def __init__(
        self, buffer: Buffer, node: Node, *, dedicated_thread: bool = True, dynamic: bool = True
    ) -> None:
        inner = _feros.TransformListener(node._node, buffer._buffer, dedicated_thread, dynamic)
        super().__init__(node, inner)
        self.buffer = buffer


class TransformBroadcaster(Endpoint):
    """Publishes transforms on `/tf`."""

    _is_static = False

    def __init__(self, node: Node) -> None:
        super().__init__(
            node, _feros.TransformBroadcaster(node._node, _transform_type(), self._is_static)
        )

    def send_transform(self, transforms: TransformStamped | Sequence[TransformStamped]) -> None:
        """Publishes one transform, or several in one message: a `TransformStamped`, or a list of
        them."""
        several = isinstance(transforms, (list, tuple))
        self._inner.send_transforms(list(transforms) if several else [transforms])


class StaticTransformBroadcaster(TransformBroadcaster):
    """Publishes static transforms on `/tf_static`, together with all earlier transforms."""

    _is_static = True
