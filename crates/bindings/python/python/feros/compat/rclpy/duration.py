"""Durations in nanoseconds."""

import math
from functools import total_ordering
from typing import Union

import builtin_interfaces.msg

from . import _rclpy_pybind11 as _rclpy
from .constants import S_TO_NS

_LOWEST = -(2**63)
_HIGHEST = 2**63 - 1


class _CDuration:
    """Replaces the C structure of stock ROS 2: the nanoseconds, under the name that the binding
    uses."""

    __slots__ = ('nanoseconds',)

    def __init__(self, nanoseconds: int) -> None:
        self.nanoseconds = nanoseconds


@total_ordering
class Duration:
    """The duration between two points of one clock's time; may be negative."""

    __slots__ = ('_nanoseconds',)

    def __init__(
        self, *, seconds: Union[int, float] = 0, nanoseconds: Union[int, float] = 0
    ) -> None:
        total = int(seconds * S_TO_NS) + int(nanoseconds)
        if not _LOWEST <= total <= _HIGHEST:
            raise OverflowError(
                f'Total nanoseconds value is too large to store in C duration: {total}'
            )
        self._nanoseconds = total

    @property
    def nanoseconds(self) -> int:
        """The whole duration in nanoseconds."""
        return self._nanoseconds

    def __repr__(self) -> str:
        return f'Duration(nanoseconds={self._nanoseconds})'

    def __str__(self) -> str:
        if self._nanoseconds == _HIGHEST:
            return 'Infinite'
        return f'{self._nanoseconds} nanoseconds'

    def __add__(self, other: 'Duration') -> 'Duration':
        if not isinstance(other, Duration):
            return NotImplemented
        return Duration(nanoseconds=self._nanoseconds + other._nanoseconds)

    def __sub__(self, other: 'Duration') -> 'Duration':
        if not isinstance(other, Duration):
            return NotImplemented
        return Duration(nanoseconds=self._nanoseconds - other._nanoseconds)

    def __mul__(self, other: Union[int, float]) -> 'Duration':
        if isinstance(other, int):
            return Duration(nanoseconds=self._nanoseconds * other)
        if not isinstance(other, float):
            return NotImplemented
        if math.isnan(other):
            raise ValueError("Can't multiply duration with nan")
        if math.isinf(other):
            return Infinite
        return Duration(nanoseconds=int(self._nanoseconds * other))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Duration):
            return NotImplemented
        return self._nanoseconds == other._nanoseconds

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Duration):
            return NotImplemented
        return self._nanoseconds < other._nanoseconds

    def __hash__(self) -> int:
        return hash(self._nanoseconds)

    def to_msg(self) -> builtin_interfaces.msg.Duration:
        """Returns the same duration as a message."""
        seconds, nanoseconds = divmod(self._nanoseconds, S_TO_NS)
        return builtin_interfaces.msg.Duration(sec=seconds, nanosec=nanoseconds)

    @classmethod
    def from_msg(cls, msg: builtin_interfaces.msg.Duration) -> 'Duration':
        """Returns the duration in a message."""
        if not isinstance(msg, builtin_interfaces.msg.Duration):
            raise TypeError('Must pass a builtin_interfaces.msg.Duration object')
        return cls(seconds=msg.sec, nanoseconds=msg.nanosec)

    def get_c_duration(self) -> _CDuration:
        """Returns the duration in a form for code that expects the binding of stock rclpy."""
        return _CDuration(self._nanoseconds)


Infinite = Duration(nanoseconds=_HIGHEST)
