"""Timers, and rates that use them."""

import inspect
import threading
import weakref
from typing import Any, Callable, Optional, Tuple

from . import _rclpy_pybind11 as _rclpy
from ._reexports import reexports
from ._entity import Entity
from ._handles import TimerHandle
from ._native.errors import RCLError, TimerCancelledError
from .clock import Clock
from .clock_type import ClockType
from .context import Context
from .exceptions import InvalidHandle, ROSInterruptException
from .time import Time


class TimerInfo:
    """The time at which a call of a timer was due, and its actual time."""

    def __init__(
        self,
        *,
        expected_call_time: int = 0,
        actual_call_time: int = 0,
        clock_type: ClockType = ClockType.SYSTEM_TIME,
    ) -> None:
        self._expected = Time(nanoseconds=expected_call_time, clock_type=clock_type)
        self._actual = Time(nanoseconds=actual_call_time, clock_type=clock_type)

    @property
    def expected_call_time(self) -> Time:
        """The time at which the call was due."""
        return self._expected

    @property
    def actual_call_time(self) -> Time:
        """The time at which the call was made."""
        return self._actual


def _takes_info(callback: Optional[Callable[..., Any]]) -> bool:
    if callback is None:
        return False
    try:
        signature = inspect.signature(callback)
    except (TypeError, ValueError):
        return False
    try:
        signature.bind()
        return 'info' in signature.parameters
    except TypeError:
        return True


class Timer(Entity):
    """Calls a callback periodically; made by `Node.create_timer`."""

    _handle_type = TimerHandle

    def __init__(
        self,
        callback: Optional[Callable[..., Any]],
        callback_group: Any,
        timer_period_ns: int,
        clock: Clock,
        *,
        context: Optional[Context] = None,
        autostart: bool = True,
        node: Any = None,
    ) -> None:
        super().__init__(callback_group, depth=1)
        if timer_period_ns < 0:
            raise RCLError('failed to create timer: timer period must be non-negative')
        self._clock = clock
        self.callback = callback
        self._last = clock.now().nanoseconds
        self._on_reset: Optional[Callable[[int], None]] = None
        self._period = int(timer_period_ns)  # set first, since the timer may expire immediately
        self._native = node.create_timer(self._period, self._expired, clock.native)
        if not autostart:
            self._native.cancel()

    def _be_spun_with(self, node: Any) -> None:
        """Moves the timer to another node, if no node owns it; the period restarts."""
        if self.callback_group is not None or self._find_node() is node:
            return
        was_canceled, period = self._native.is_canceled(), self._native.period
        self._find_node = weakref.ref(node)
        self._native = node._rclpy_native.create_timer(period, self._expired, self._clock.native)
        if was_canceled:
            self._native.cancel()

    def _expired(self) -> None:
        now = self._clock.now().nanoseconds
        expected, self._last = self._last + self._period, now
        self._arrived((expected, now))

    def _call_of(self, data: Any) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
        callback = self.callback
        if callback is None or self._destroyed or self._native.is_canceled():
            return (lambda: None), ()
        if not _takes_info(callback):
            return callback, ()
        expected, actual = data
        return callback, (TimerInfo(
            expected_call_time=expected, actual_call_time=actual,
            clock_type=self._clock.clock_type,
        ),)

    @property
    def clock(self) -> Clock:
        """The clock of the timer."""
        return self._clock

    @property
    def timer_period_ns(self) -> int:
        """The period in nanoseconds."""
        return self._living._native.period

    @timer_period_ns.setter
    def timer_period_ns(self, value: int) -> None:
        self._living._native.change_period(int(value))
        self._period = int(value)

    def is_ready(self) -> bool:
        """Returns whether the timer is due."""
        return bool(self._queue) or self._living._native.is_ready()

    def is_canceled(self) -> bool:
        """Returns whether the timer was canceled."""
        return self._living._native.is_canceled()

    def cancel(self) -> None:
        """Stops the timer, until it is reset."""
        self._living._native.cancel()
        self._queue.clear()

    def reset(self) -> None:
        """Restarts the period of the timer."""
        self._living._native.reset()
        self._last = self._clock.now().nanoseconds
        if self._on_reset is not None:
            self._on_reset(1)

    def _call_now(self) -> TimerInfo:
        """Counts as a call, for scripts that use a wait set; raises `TimerCancelledError` if the
        timer was canceled."""
        if self.is_canceled():
            raise TimerCancelledError('the timer was canceled: it cannot be called')
        taken = self._queue.take()
        now = self._clock.now().nanoseconds
        if taken is None:
            taken = ((self._last + self.timer_period_ns, now),)
            self._last = now
        expected, actual = taken[0]
        return TimerInfo(
            expected_call_time=expected, actual_call_time=actual, clock_type=self._clock.clock_type)

    def time_since_last_call(self) -> int:
        """Returns the nanoseconds since the last call, or since the timer was made."""
        self._living  # noqa: B018: raises when destroyed
        return self._clock.now().nanoseconds - self._last

    def time_until_next_call(self) -> Optional[int]:
        """Returns the nanoseconds until the timer is due; `None` if it was canceled."""
        return self._living._native.time_until_next_call()


class Rate:
    """Sleeps so that a loop runs at a frequency; made by `Node.create_rate`."""

    def __init__(self, timer: Timer, *, context: Context) -> None:
        self._clock = timer.clock
        self._timer = timer
        self._timer.callback = self._wake
        self._condition = threading.Condition()
        self._ticks = 0
        self._sleepers = 0
        self._is_shutdown = False
        self._is_destroyed = False
        context.on_shutdown(self._on_shutdown)

    def _wake(self) -> None:
        with self._condition:
            self._ticks += 1
            self._condition.notify_all()

    def _on_shutdown(self) -> None:
        self._is_shutdown = True
        self.destroy()

    def destroy(self) -> None:
        """Destroys the rate; sleeping threads get an exception."""
        with self._condition:
            self._is_destroyed = True
            self._condition.notify_all()

    def sleep(self) -> None:
        """Sleeps until the timer is due, while another thread spins the node.

        Raises `ROSInterruptException` at a shutdown, `InvalidHandle` if the rate is destroyed.
        """
        with self._condition:
            self._check()
            if self._timer._destroyed:
                raise InvalidHandle('Rate cannot sleep because it has been destroyed')
            before = self._ticks
            self._sleepers += 1
            try:
                while self._ticks == before:
                    self._condition.wait()
                    self._check()
            finally:
                self._sleepers -= 1

    def _check(self) -> None:
        if self._is_shutdown:
            raise ROSInterruptException()
        if self._is_destroyed:
            raise InvalidHandle('Rate cannot sleep because it has been destroyed')


__getattr__ = reexports(__name__)
