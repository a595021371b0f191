"""Loggers of nodes, which log to the terminal in the format of stock ROS 2, and to `/rosout`."""

import sys
from enum import IntEnum

from feros import _feros


class Level(IntEnum):
    """The severity of a message."""

    DEBUG = 10
    INFO = 20
    WARN = 30
    ERROR = 40
    FATAL = 50


class Logger:
    """A logger, which is identified by its name. Messages without arguments are logged unchanged;
    other messages are formatted with `%`, as in the module `logging`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def log(self, level: Level, text: object, *args: object) -> None:
        """Logs a message, if its level is shown."""
        if level >= _feros.log_level(self.name):
            _feros.log(self.name, int(level), str(text) % args if args else str(text), _place())

    def debug(self, text: object, *args: object) -> None:
        """Logs a message for debugging."""
        self.log(Level.DEBUG, text, *args)

    def info(self, text: object, *args: object) -> None:
        """Logs normal operation."""
        self.log(Level.INFO, text, *args)

    def warning(self, text: object, *args: object) -> None:
        """Logs an unexpected condition."""
        self.log(Level.WARN, text, *args)

    def error(self, text: object, *args: object) -> None:
        """Logs an error."""
        self.log(Level.ERROR, text, *args)

    def fatal(self, text: object, *args: object) -> None:
        """Logs a fatal error."""
        self.log(Level.FATAL, text, *args)

    def child(self, name: str) -> "Logger":
        """Returns a logger below this logger."""
        return Logger(f"{self.name}.{name}")

    def set_level(self, level: Level) -> None:
        """Sets the minimum level that is shown, for this logger and the loggers below it."""
        _feros.set_log_level(self.name, int(level))

    @property
    def level(self) -> Level:
        """The minimum level that is shown."""
        return Level(_feros.log_level(self.name))


def _place():
    """Returns the function, file and line that log: the first frame outside of this file."""
    frame = sys._getframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    if frame is None:
        return "", "", 0
    return frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno
