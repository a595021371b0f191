"""Loggers, whose messages go to the terminal and to `/rosout`."""

import inspect
from typing import Any, Dict, NamedTuple, Optional, Union

from .._native import extension
from ..clock import Clock
from .logging_severity import LoggingSeverity


class CallerId(NamedTuple):
    """A place in the code; filters remember by it."""

    file_path: str
    line_number: int
    last_index: int


class _Filtered:
    """What one place in the code has logged so far."""

    def __init__(self, severity: int, name: str, filters: Dict[str, Any]) -> None:
        self.severity = severity
        self.name = name
        self.filters = filters
        self.was_logged = False
        self.was_skipped = False
        self.last: Optional[int] = None

    def check(self, severity: int, name: str, filters: Dict[str, Any]) -> None:
        """One place has to log in one way; raises `ValueError`."""
        if severity != self.severity:
            raise ValueError('Logger severity cannot be changed between calls.')
        if name != self.name:
            raise ValueError('Logger name cannot be changed between calls.')
        if filters.keys() != self.filters.keys():
            raise ValueError('Logger filters cannot be changed between calls.')

    def lets_through(self) -> bool:
        """Whether all of its filters let this message through."""
        passes = True
        if 'throttle_duration_sec' in self.filters:
            clock = self.filters.get('throttle_time_source_type') or Clock()
            now = clock.now().nanoseconds
            limit = self.filters['throttle_duration_sec'] * 1e9
            passes = self.last is None or now >= self.last + limit
            if passes:
                self.last = now
        if passes and self.filters.get('skip_first') and not self.was_skipped:
            self.was_skipped, passes = True, False
        if passes and self.filters.get('once'):
            passes, self.was_logged = not self.was_logged, True
        return passes


_FILTERS = ('throttle_duration_sec', 'throttle_time_source_type', 'skip_first', 'once')


def _filters(given: Dict[str, Any]) -> Dict[str, Any]:
    """The filters that are turned on; raises `TypeError` for what is none."""
    unknown = [name for name in given if name not in _FILTERS]
    if unknown:
        raise TypeError(f"parameter '{unknown[0]}' is not a recognized filter")
    if 'throttle_time_source_type' in given and 'throttle_duration_sec' not in given:
        raise TypeError('required parameter "throttle_duration_sec" not specified for logging'
                        ' filter "throttle"')
    clock = given.get('throttle_time_source_type')
    if clock is not None and not isinstance(clock, Clock):
        raise ValueError('Received throttle_time_source_type is not a valid Clock')
    return {name: value for name, value in given.items() if value not in (None, False)}


class RcutilsLogger:
    """A logger by its name; names are parts with dots between them."""

    def __init__(self, name: str = '') -> None:
        self.name = name
        self._places: Dict[CallerId, _Filtered] = {}

    def get_child(self, name: str) -> 'RcutilsLogger':
        """The logger of a part below this one; raises `ValueError` for an empty name."""
        if not name:
            raise ValueError('Need a non-empty name to create a child logger')
        return RcutilsLogger(f'{self.name}.{name}' if self.name else name)

    def set_level(self, level: Union[int, LoggingSeverity]) -> None:
        """The least severe that is shown."""
        level = LoggingSeverity(level)
        extension.set_log_level(self.name or None, int(level) or None)

    def get_effective_level(self) -> LoggingSeverity:
        """The least severe that is shown, as set here or above."""
        return LoggingSeverity(extension.log_level(self.name))

    def is_enabled_for(self, severity: Union[int, LoggingSeverity]) -> bool:
        """Whether messages of a severity are shown."""
        return LoggingSeverity(severity) >= self.get_effective_level()

    def log(
        self,
        message: str,
        severity: Union[int, LoggingSeverity],
        name: Optional[str] = None,
        **kwargs: Any,
    ) -> bool:
        """Logs; says whether the message was shown. Filters: `once`, `skip_first`,
        `throttle_duration_sec` with `throttle_time_source_type`."""
        severity = LoggingSeverity(severity)
        name = self.name if name is None else name
        filters = _filters(kwargs) if kwargs else {}
        if kwargs or self._places:
            place = _place()
            known = self._places.get(place)
            if known is None and filters:
                known = self._places[place] = _Filtered(severity, name, filters)
            if known is not None:
                known.check(severity, name, filters)
                if not known.lets_through():
                    return False
        if severity < extension.log_level(name):
            return False
        extension.log(name, int(severity), str(message))
        return True

    def debug(self, message: str, **kwargs: Any) -> bool:
        """Logs for who looks for a fault."""
        return self.log(message, LoggingSeverity.DEBUG, **kwargs)

    def info(self, message: str, **kwargs: Any) -> bool:
        """Logs what goes on."""
        return self.log(message, LoggingSeverity.INFO, **kwargs)

    def warning(self, message: str, **kwargs: Any) -> bool:
        """Logs what is not as it should be."""
        return self.log(message, LoggingSeverity.WARN, **kwargs)

    warn = warning

    def error(self, message: str, **kwargs: Any) -> bool:
        """Logs what went wrong."""
        return self.log(message, LoggingSeverity.ERROR, **kwargs)

    def fatal(self, message: str, **kwargs: Any) -> bool:
        """Logs what ends the work."""
        return self.log(message, LoggingSeverity.FATAL, **kwargs)


def _place() -> CallerId:
    """Where the caller logs: the first frame outside of this file."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    if frame is None:
        return CallerId('', 0, 0)
    return CallerId(frame.f_code.co_filename, frame.f_lineno, frame.f_lasti)
