"""The severity of a log message."""

from enum import IntEnum

from .. import _rclpy_pybind11 as _rclpy


class LoggingSeverity(IntEnum):
    """The numbers are those of rcutils."""

    UNSET = 0
    DEBUG = 10
    INFO = 20
    WARN = 30
    ERROR = 40
    FATAL = 50
