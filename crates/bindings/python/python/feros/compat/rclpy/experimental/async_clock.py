"""The clock of an `AsyncNode`, on which tasks of the event loop sleep."""

import asyncio
from typing import Set

from ..clock import ClockChange, JumpThreshold, ROSClock, TimeJump
from ..constants import S_TO_NS
from ..duration import Duration
from ..exceptions import InvalidHandle, TimeSourceChangedError

_ANY_CHANGE = JumpThreshold(
    min_forward=Duration(nanoseconds=1), min_backward=None, on_clock_change=True)


class AsyncClock(ROSClock):
    """ROS time on which tasks can sleep."""

    _sleepers: 'Set[asyncio.Future[None]]'
    _ended: bool

    @classmethod
    def _of(cls, clock: ROSClock) -> 'AsyncClock':
        """Converts a node's clock to this class."""
        clock.__class__ = cls
        assert isinstance(clock, AsyncClock)
        clock._sleepers, clock._ended = set(), False
        return clock

    async def sleep(self, duration_sec: float) -> None:
        """Sleeps for `duration_sec` on this clock; the sleep is cancelled when the node is
        destroyed.

        Raises `TimeSourceChangedError` if simulated time is turned on or off during the sleep,
        `InvalidHandle` if the node was already destroyed.
        """
        if self._ended:
            raise InvalidHandle('cannot sleep by the clock of a node that was destroyed')
        if duration_sec <= 0:
            return
        loop = asyncio.get_running_loop()
        over: 'asyncio.Future[None]' = loop.create_future()
        target = self._nanoseconds() + int(duration_sec * S_TO_NS)

        def look() -> None:
            if not over.done() and self._nanoseconds() >= target:
                over.set_result(None)

        def jumped(jump: TimeJump) -> None:
            if jump.clock_change == ClockChange.ROS_TIME_NO_CHANGE:
                look()
            elif not over.done():
                over.set_exception(TimeSourceChangedError('the source of ROS time changed'))

        with self.create_jump_callback(
            _ANY_CHANGE, post_callback=lambda jump: _tell(loop, jumped, jump)
        ):
            self._sleepers.add(over)
            try:
                while not over.done() and not self.ros_time_is_active:
                    left = (target - self._nanoseconds()) / S_TO_NS
                    if left <= 0:
                        return
                    await asyncio.wait({over}, timeout=left)
                look()  # simulated time may already have leapt
                await over
            finally:
                self._sleepers.discard(over)

    def _end(self) -> None:
        """Cancels all sleeps, since the node is destroyed."""
        self._ended = True
        for over in list(self._sleepers):
            over.cancel()


def _tell(loop: asyncio.AbstractEventLoop, told: object, jump: TimeJump) -> None:
    """Called on the thread that sets the clock."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(told, jump)  # type: ignore[arg-type]
