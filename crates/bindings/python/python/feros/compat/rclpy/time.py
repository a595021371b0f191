"""Points in time of a clock."""

from functools import total_ordering
from typing import Tuple, Union

import builtin_interfaces.msg

from . import _rclpy_pybind11 as _rclpy
from .clock_type import ClockType
from .constants import S_TO_NS
from .duration import Duration

_HIGHEST = 2**63 - 1


class _CTime:
    """Replaces the C structure of stock ROS 2: the nanoseconds and the clock, under the names that
    the binding uses."""

    __slots__ = ('nanoseconds', 'clock_type')

    def __init__(self, nanoseconds: int, clock_type: ClockType) -> None:
        self.nanoseconds = nanoseconds
        self.clock_type = clock_type


@total_ordering
class Time:
    """A point in time; only points of clocks of one type can be compared."""

    __slots__ = ('_nanoseconds', '_clock_type')

    def __init__(
        self,
        *,
        seconds: Union[int, float] = 0,
        nanoseconds: Union[int, float] = 0,
        clock_type: ClockType = ClockType.SYSTEM_TIME,
    ) -> None:
        if not isinstance(clock_type, ClockType):
            raise TypeError('Clock type must be a ClockType enum')
        if seconds < 0:
            raise ValueError('Seconds value must not be negative')
        if nanoseconds < 0:
            raise ValueError('Nanoseconds value must not be negative')
        total = int(seconds * S_TO_NS) + int(nanoseconds)
        if total > _HIGHEST:
            raise OverflowError(
                f'Total nanoseconds value is too large to store in C time point: {total}'
            )
        self._nanoseconds = total
        self._clock_type = clock_type

    @property
    def nanoseconds(self) -> int:
        """The nanoseconds since the epoch of the clock."""
        return self._nanoseconds

    def seconds_nanoseconds(self) -> Tuple[int, int]:
        """Returns the whole seconds, and the remaining nanoseconds."""
        return divmod(self._nanoseconds, S_TO_NS)

    @property
    def clock_type(self) -> ClockType:
        """The type of the clock that this point belongs to."""
        return self._clock_type

    def __repr__(self) -> str:
        return f'Time(nanoseconds={self._nanoseconds}, clock_type={self._clock_type.name})'

    def __add__(self, other: Duration) -> 'Time':
        if not isinstance(other, Duration):
            return NotImplemented
        try:
            return Time(
                nanoseconds=self._nanoseconds + other.nanoseconds, clock_type=self._clock_type
            )
        except OverflowError as error:
            raise OverflowError('Addition leads to overflow in C storage.') from error

    def __radd__(self, other: Duration) -> 'Time':
        return self.__add__(other)

    def __sub__(self, other: Union['Time', Duration]) -> Union['Time', Duration]:
        if isinstance(other, Time):
            self._same_clock(other, 'subtract')
            return Duration(nanoseconds=self._nanoseconds - other._nanoseconds)
        if not isinstance(other, Duration):
            return NotImplemented
        try:
            return Time(
                nanoseconds=self._nanoseconds - other.nanoseconds, clock_type=self._clock_type
            )
        except ValueError as error:
            raise ValueError('Subtraction leads to negative time.') from error

    def _same_clock(self, other: 'Time', verb: str) -> None:
        if self._clock_type != other._clock_type:
            raise TypeError(f"Can't {verb} times with different clock types")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Time):
            return NotImplemented
        self._same_clock(other, 'compare')
        return self._nanoseconds == other._nanoseconds

    def __lt__(self, other: 'Time') -> bool:
        if not isinstance(other, Time):
            return NotImplemented
        self._same_clock(other, 'compare')
        return self._nanoseconds < other._nanoseconds

    def __hash__(self) -> int:
        return hash((self._nanoseconds, self._clock_type))

    @property
    def _time_handle(self) -> _CTime:
        return _CTime(self._nanoseconds, self._clock_type)

    def to_msg(self) -> builtin_interfaces.msg.Time:
        """Returns the same point as a message, which does not name the clock."""
        seconds, nanoseconds = self.seconds_nanoseconds()
        return builtin_interfaces.msg.Time(sec=seconds, nanosec=nanoseconds)

    @classmethod
    def from_msg(
        cls, msg: builtin_interfaces.msg.Time, clock_type: ClockType = ClockType.ROS_TIME
    ) -> 'Time':
        """Returns the point in a message, of a clock of `clock_type`."""
        if not isinstance(msg, builtin_interfaces.msg.Time):
            raise TypeError('Must pass a builtin_interfaces.msg.Time object')
        return cls(seconds=msg.sec, nanoseconds=msg.nanosec, clock_type=clock_type)
