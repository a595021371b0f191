"""The kinds of clocks."""

from enum import IntEnum

from . import _rclpy_pybind11 as _rclpy


class ClockType(IntEnum):
    """The kind of time that a clock shows; the numbers are those of `rcl_clock_type_t`."""

    UNINITIALIZED = 0
    ROS_TIME = 1
    SYSTEM_TIME = 2
    STEADY_TIME = 3
