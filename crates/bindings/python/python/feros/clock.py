"""Clocks. Times are whole nanoseconds."""

from enum import IntEnum

from feros import _feros


class ClockType(IntEnum):
    """The kind of time that a clock shows."""

    ROS = 1
    SYSTEM = 2
    STEADY = 3


class ClockChange(IntEnum):
    """Whether a jump is a change of the clock's source."""

    NONE = 1
    SIMULATED_TIME_ON = 2
    SIMULATED_TIME_OFF = 3


class TimeJump:
    """A jump of a clock: the times before and after in nanoseconds, and the change of source."""

    __slots__ = ("before", "after", "change")

    def __init__(self, before, after, change):
        self.before, self.after, self.change = before, after, ClockChange(change)

    @property
    def delta(self):
        """The change of the time in nanoseconds; zero if the source changed."""
        return self.after - self.before if self.change == ClockChange.NONE else 0

    def __repr__(self):
        return f"TimeJump(before={self.before}, after={self.after}, change={self.change.name})"


class Clock:
    """A clock: steady time, system time, or ROS time, which may be simulated."""

    __slots__ = ("_clock",)

    def __init__(self, clock_type=ClockType.SYSTEM):
        self._clock = _feros.Clock(int(clock_type))

    @classmethod
    def _of(cls, clock):
        made = cls.__new__(cls)
        made._clock = clock
        return made

    def now(self):
        """Returns the current time in nanoseconds."""
        return self._clock.now()

    def now_message(self):
        """Returns the current time as a `builtin_interfaces/Time`."""
        from feros._messages import message_class

        sec, nanosec = divmod(self._clock.now(), 1_000_000_000)
        return message_class("builtin_interfaces/msg/Time")(sec=sec, nanosec=nanosec)

    @property
    def clock_type(self):
        """The kind of time that the clock shows."""
        return ClockType(self._clock.clock_type)

    @property
    def is_simulated(self):
        """Whether the clock shows simulated time."""
        return self._clock.is_simulated

    def sleep_until(self, until, context):
        """Blocks until the clock reaches a time in nanoseconds. Returns `False` if the context is
        shut down first."""
        return context._context.sleep_until(self._clock, until)

    def sleep_for(self, seconds, context):
        """Blocks for a duration on this clock, like `sleep_until`."""
        return self.sleep_until(self.now() + round(seconds * 1_000_000_000), context)

    def on_jump(
        self, callback, *, before=None, on_change=True, min_forward=None, min_backward=1e-9
    ):
        """Calls `callback(jump)` after each `TimeJump`, and `before(jump)` before it, on the thread
        that sets the clock. With `on_change`, changes of the clock's source are jumps. Changes of
        the time are jumps if they are at least `min_forward` seconds forward or `min_backward`
        seconds backward; with `None`, they are not. Only ROS time can jump.

        Returns a handle with `remove`. The callbacks end with the handle, so keep it.
        """
        def nanos(seconds, what):
            if seconds is not None and seconds <= 0:
                raise ValueError(f"{what} must be above 0 s, but is {seconds} s")
            return None if seconds is None else max(1, round(seconds * 1_000_000_000))

        def with_jump(callback):
            return None if callback is None else lambda *jump: callback(TimeJump(*jump))

        return self._clock.create_jump_callback(
            with_jump(before), with_jump(callback), on_change, nanos(min_forward, "min_forward"),
            nanos(min_backward, "min_backward"),
        )
