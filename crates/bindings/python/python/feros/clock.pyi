from collections.abc import Callable
from enum import IntEnum

from feros._feros import JumpHandle
from feros.context import Context
from feros.msgs.builtin_interfaces.msg import Time

class ClockType(IntEnum):
    ROS = 1
    SYSTEM = 2
    STEADY = 3

class ClockChange(IntEnum):
    NONE = 1
    SIMULATED_TIME_ON = 2
    SIMULATED_TIME_OFF = 3

class TimeJump:
    before: int
    after: int
    change: ClockChange
    @property
    def delta(self) -> int: ...

class Clock:
    def __init__(self, clock_type: ClockType = ...) -> None: ...
    def now(self) -> int: ...
    def now_message(self) -> Time: ...
    @property
    def clock_type(self) -> ClockType: ...
    @property
    def is_simulated(self) -> bool: ...
    def sleep_until(self, until: int, context: Context) -> bool: ...
    def sleep_for(self, seconds: float, context: Context) -> bool: ...
    def on_jump(
        self,
        callback: Callable[[TimeJump], object],
        *,
        before: Callable[[TimeJump], object] | None = None,
        on_change: bool = True,
        min_forward: float | None = None,
        min_backward: float | None = 1e-9,
    ) -> JumpHandle: ...
