"""Loggers without a node, and log levels."""

import os
from pathlib import Path
from typing import Union

from . import _rclpy_pybind11 as _rclpy
from ._native import extension
from .impl.logging_severity import LoggingSeverity
from .impl.rcutils_logger import (
    RcutilsLogger,
    effective_level,
    forget_levels,
    own_level,
    set_level,
)

__all__ = [
    'LoggingSeverity', 'RcutilsLogger', 'clear_config', 'get_logger', 'get_logger_effective_level',
    'get_logger_level', 'get_logging_directory', 'get_logging_severity_from_string', 'initialize',
    'set_logger_level', 'shutdown',
]

_root_logger = RcutilsLogger()


def get_logger(name: str) -> RcutilsLogger:
    """Returns the logger with this name; raises `ValueError` for an empty name."""
    if not name:
        raise ValueError('Logger name must not be empty.')
    return _root_logger.get_child(name)


def initialize() -> None:
    """Starts the logging of this process."""
    extension.start_logging()


def shutdown() -> None:
    """Does nothing: logging ends with the process."""


def clear_config() -> None:
    """Forgets all levels that were set."""
    forget_levels()


def set_logger_level(
    name: str, level: Union[int, LoggingSeverity], detailed_error: bool = False
) -> None:
    """Sets the minimum severity that a logger shows."""
    set_level(name, level)


def get_logger_effective_level(name: str) -> LoggingSeverity:
    """Returns the minimum severity that a logger shows."""
    return effective_level(name)


def get_logger_level(name: str) -> LoggingSeverity:
    """Returns the level that was set for the logger itself; `UNSET` if the logger takes the level
    of its parent."""
    return own_level(name)


def get_logging_severity_from_string(log_severity: str) -> LoggingSeverity:
    """Returns the severity with a name in any case; raises `RuntimeError` for an unknown name."""
    try:
        return LoggingSeverity[log_severity.upper()]
    except KeyError:
        raise RuntimeError(f'severity string {log_severity} is invalid') from None


def get_logging_directory() -> Path:
    """Returns the folder of stock ROS 2 for log files."""
    folder = os.environ.get('ROS_LOG_DIR')
    if folder:
        return Path(folder)
    home = os.environ.get('ROS_HOME')
    return (Path(home) if home else Path.home() / '.ros') / 'log'
