from collections.abc import Generator, Sequence
from typing import Any, TypeVar

from feros._feros import (
    ConnectivityException as ConnectivityException,
    ExtrapolationException as ExtrapolationException,
    InvalidArgumentException as InvalidArgumentException,
    LookupException as LookupException,
    TransformException as TransformException,
)
from feros._messages import Message
from feros.endpoints import Endpoint
from feros.msgs.builtin_interfaces.msg import Time
from feros.msgs.geometry_msgs.msg import TransformStamped
from feros.node import Node

M = TypeVar("M", bound=Message)

def do_transform(message: M, transform: TransformStamped) -> M: ...

class FrameInfo:
    parent: str | None
    is_static: bool
    authority: str
    oldest: int
    latest: int
    samples: int
    rate: float | None

class Wait:
    def wait(self, timeout: float | None = None) -> TransformStamped: ...
    def __await__(self) -> Generator[Any, None, TransformStamped]: ...

class Buffer:
    def __init__(self, cache_time: float = 10.0) -> None: ...
    def set_transform(
        self, transform: TransformStamped, authority: str = "", *, static: bool = False
    ) -> None: ...
    def lookup_transform(
        self, target: str, source: str, time: int | Time | None = None
    ) -> TransformStamped: ...
    def lookup_transform_full(
        self,
        target: str,
        target_time: int | Time | None,
        source: str,
        source_time: int | Time | None,
        fixed: str,
    ) -> TransformStamped: ...
    def can_transform(
        self, target: str, source: str, time: int | Time | None = None
    ) -> bool: ...
    def wait_for_transform(
        self, target: str, source: str, time: int | Time | None = None
    ) -> Wait: ...
    def latest_common_time(self, target: str, source: str) -> int: ...
    def chain(
        self, target: str, source: str, time: int | Time | None = None
    ) -> list[str]: ...
    def transform(self, message: M, target: str) -> M: ...
    def frames(self) -> dict[str, FrameInfo]: ...
    def all_frames_as_string(self) -> str: ...
    def all_frames_as_yaml(self, now: int | Time | None = None) -> str: ...
    def clear(self) -> None: ...
    @property
    def set_transforms(self) -> int: ...
    @property
    def refused_transforms(self) -> int: ...

class TransformListener(Endpoint):
    buffer: Buffer
    def __init__(
        self, buffer: Buffer, node: Node, *, dedicated_thread: bool = True, dynamic: bool = True
    ) -> None: ...

class TransformBroadcaster(Endpoint):
    def __init__(self, node: Node) -> None: ...
    def send_transform(
        self, transforms: TransformStamped | Sequence[TransformStamped]
    ) -> None: ...

class StaticTransformBroadcaster(TransformBroadcaster): ...
