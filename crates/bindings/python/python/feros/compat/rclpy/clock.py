"""Clocks, and callbacks for their jumps."""

from enum import IntEnum
from typing import Any, Callable, List, Optional

from . import _rclpy_pybind11 as _rclpy
from ._native import extension
from .clock_type import ClockType
from .context import Context
from .duration import Duration
from .exceptions import NotInitializedException
from .time import Time
from .utilities import get_default_context


class ClockChange(IntEnum):
    """The change of the clock in a jump; the numbers are those of `rcl_clock_change_t`."""

    ROS_TIME_NO_CHANGE = 1
    ROS_TIME_ACTIVATED = 2
    ROS_TIME_DEACTIVATED = 3
    SYSTEM_TIME_NO_CHANGE = 4


class JumpThreshold:
    """The jumps that are reported to callbacks."""

    def __init__(
        self,
        *,
        min_forward: Optional[Duration],
        min_backward: Optional[Duration],
        on_clock_change: bool = True,
    ) -> None:
        if not (min_forward or min_backward or on_clock_change):
            raise ValueError('At least one jump threshold must be enabled')
        if min_forward is not None and min_forward.nanoseconds <= 0:
            raise ValueError('min_forward must be a positive non-zero duration')
        if min_backward is not None and min_backward.nanoseconds >= 0:
            raise ValueError('min_backward must be a negative non-zero duration')
        self.min_forward = min_forward
        self.min_backward = min_backward
        self.on_clock_change = on_clock_change

    def _is_exceeded(self, change: int, delta: int) -> bool:
        if change in (ClockChange.ROS_TIME_ACTIVATED, ClockChange.ROS_TIME_DEACTIVATED):
            return self.on_clock_change
        forward, backward = self.min_forward, self.min_backward
        return bool(
            (forward is not None and delta >= forward.nanoseconds)
            or (backward is not None and delta <= backward.nanoseconds)
        )


class TimeJump:
    """A jump: the change of the clock, and the change of its time."""

    def __init__(self, clock_change: ClockChange, delta: Duration) -> None:
        if not isinstance(clock_change, ClockChange):
            raise TypeError('clock_change must be an instance of rclpy.clock.ClockChange')
        self._clock_change = clock_change
        self._delta = delta

    @property
    def clock_change(self) -> ClockChange:
        """Whether simulated time was turned on or off."""
        return self._clock_change

    @property
    def delta(self) -> Duration:
        """The change of the time."""
        return self._delta


class JumpHandle:
    """Keeps the callbacks for a clock's jumps registered. Used as a context manager, it removes the
    callbacks at the end of the block."""

    def __init__(
        self,
        *,
        clock: 'Clock',
        threshold: JumpThreshold,
        pre_callback: Optional[Callable[[], None]],
        post_callback: Optional[Callable[[Any], None]],
    ) -> None:
        if pre_callback is None and post_callback is None:
            raise ValueError('One of pre_callback or post_callback must be callable')
        if pre_callback is not None and not callable(pre_callback):
            raise ValueError('pre_callback must be callable if given')
        if post_callback is not None and not callable(post_callback):
            raise ValueError('post_callback must be callable if given')
        self.threshold = threshold
        self.pre_callback = pre_callback
        self.post_callback = post_callback
        self._clock: Optional[Clock] = clock
        backward = threshold.min_backward
        self._native = clock.native.create_jump_callback(
            lambda *_: self._before(), lambda old, new, change: self._after(change, new - old),
            threshold.on_clock_change,
            threshold.min_forward.nanoseconds if threshold.min_forward else None,
            -backward.nanoseconds if backward else None,
        )
        clock._jump_handles.append(self)

    def _before(self) -> None:
        if self.pre_callback is not None:
            self.pre_callback()

    def _after(self, change: int, delta: int) -> None:
        if self.post_callback is not None:
            self.post_callback(TimeJump(ClockChange(change), Duration(nanoseconds=delta)))

    def unregister(self) -> None:
        """Ends the callbacks."""
        clock, self._clock = self._clock, None
        if clock is not None:
            clock._jump_handles.remove(self)
            self._native.remove()

    def __enter__(self) -> 'JumpHandle':
        return self

    def __exit__(self, *_: Any) -> None:
        self.unregister()


_OVERRIDE_NOTICED_NS = 5_000_000
_SWITCH_NOTICED_NS = 50_000_000


class Clock:
    """Shows system time, steady time, or ROS time."""

    def __new__(cls, *, clock_type: ClockType = ClockType.SYSTEM_TIME) -> 'Clock':
        if not isinstance(clock_type, ClockType):
            raise TypeError('Clock type must be a ClockType enum')
        of_ros = clock_type is ClockType.ROS_TIME
        made = super().__new__(ROSClock if of_ros else cls)
        made._start(extension.Clock(int(clock_type)), clock_type)
        return made

    @classmethod
    def _of_node(cls, native: Any) -> 'ROSClock':
        made = object.__new__(ROSClock)
        made._start(native, ClockType.ROS_TIME)
        return made

    def _start(self, native: Any, clock_type: ClockType) -> None:
        self.native = native
        self._clock_type = clock_type
        self._override: Optional[int] = None
        self._override_active = False
        self._jump_handles: List[JumpHandle] = []

    @property
    def clock_type(self) -> ClockType:
        """The kind of time that the clock shows."""
        return self._clock_type

    @property
    def handle(self) -> 'Clock':
        """The clock itself: there is no C structure behind it."""
        return self

    def __enter__(self) -> 'Clock':
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def __repr__(self) -> str:
        return f'Clock(clock_type={self.clock_type.name})'

    def _nanoseconds(self) -> int:
        if self._override_active:
            return self._override or 0
        return self.native.now()

    def now(self) -> Time:
        """Returns the time now."""
        return Time(nanoseconds=self._nanoseconds(), clock_type=self._clock_type)

    def create_jump_callback(
        self,
        threshold: JumpThreshold,
        *,
        pre_callback: Optional[Callable[[], None]] = None,
        post_callback: Optional[Callable[[TimeJump], None]] = None,
    ) -> JumpHandle:
        """Calls `pre_callback()` before and `post_callback(jump)` after jumps."""
        return JumpHandle(
            clock=self, threshold=threshold, pre_callback=pre_callback, post_callback=post_callback
        )

    def sleep_until(self, until: Time, context: Optional[Context] = None) -> bool:
        """Blocks until a time is reached. Returns `False` if the context is shut down first.

        Raises `NotInitializedException` without a context, `ValueError` for another clock's time.
        """
        context = get_default_context() if context is None else context
        if not context.ok():
            raise NotInitializedException()
        if until.clock_type != self._clock_type:
            raise ValueError("until's clock type does not match this clock's type")
        return self._sleep(until.nanoseconds, context)

    def _sleep(self, until: int, context: Context) -> bool:
        return context.native.sleep_until(self.native, until)

    def sleep_for(self, rel_time: Duration, context: Optional[Context] = None) -> bool:
        """Blocks for a duration, like `sleep_until`."""
        return self.sleep_until(self.now() + rel_time, context)


class ROSClock(Clock):
    """ROS time: the system time, or the time of `/clock` or of an override."""

    def __new__(cls) -> 'ROSClock':
        return super().__new__(Clock, clock_type=ClockType.ROS_TIME)  # type: ignore[return-value]

    def _sleep(self, until: int, context: Context) -> bool:
        changes: List[TimeJump] = []
        steady = extension.Clock(int(ClockType.STEADY_TIME))
        threshold = JumpThreshold(min_forward=None, min_backward=None)
        with self.create_jump_callback(threshold, post_callback=changes.append):
            while context.ok() and not changes:
                if self._override_active:
                    if self._nanoseconds() >= until:
                        return True
                    context.native.sleep_until(steady, steady.now() + _OVERRIDE_NOTICED_NS)
                elif self.native.is_simulated:
                    return context.native.sleep_until(self.native, until)
                else:  # in steps, since turning on simulated time wakes no sleeping thread
                    step = min(until, self.native.now() + _SWITCH_NOTICED_NS)
                    if context.native.sleep_until(self.native, step) and step == until:
                        return True
        return False

    @property
    def ros_time_is_active(self) -> bool:
        """Whether the clock does not show the system time."""
        return self._override_active or self.native.is_simulated

    def _tell(self, change: ClockChange, delta: int, set_clock: Callable[[], None]) -> None:
        """Calls the callbacks of the handles before and after a leap by `delta`; `set_clock` makes
        the leap."""
        told = [h for h in list(self._jump_handles) if h.threshold._is_exceeded(change, delta)]
        for handle in told:
            handle._before()
        set_clock()
        for handle in told:
            handle._after(change, delta)

    def _set_ros_time_is_active(self, enabled: bool) -> None:
        if enabled == self._override_active:
            return

        def switch() -> None:
            self._override_active = enabled

        change = ClockChange.ROS_TIME_ACTIVATED if enabled else ClockChange.ROS_TIME_DEACTIVATED
        self._tell(change, 0, switch)

    def set_ros_time_override(self, time: Time) -> None:
        """Sets the time that the clock shows while the override is active."""
        if not isinstance(time, Time):
            raise TypeError('Time must be specified as rclpy.time.Time')
        if self.native.is_simulated and not self._override_active:
            self.native.set_simulated_time(max(time.nanoseconds, 0))
            return
        leap = time.nanoseconds - (self._override or 0)

        def leap_to() -> None:
            self._override = time.nanoseconds

        if self._override_active:
            self._tell(ClockChange.ROS_TIME_NO_CHANGE, leap, leap_to)
        else:
            leap_to()
