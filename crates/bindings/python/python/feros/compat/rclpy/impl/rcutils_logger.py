"""Loggers, whose messages go to the terminal and to `/rosout`."""

import inspect
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Set, Type, Union

from .. import _rclpy_pybind11 as _rclpy
from .._native import extension
from ..clock import Clock
from ..constants import S_TO_NS
from .logging_severity import LoggingSeverity


class CallerId(NamedTuple):
    """A place in the code, for which filters store their state."""

    function_name: str
    file_path: str
    line_number: int
    last_index: int


class LoggingFilter:
    """Lets some of the messages from one place in the code pass, and keeps the state that it needs
    for that.

    Filters name the arguments of `RcutilsLogger.log` that they take. Arguments without a default
    must be given if any argument of the filter is given.
    """

    params: Dict[str, Any] = {}

    @classmethod
    def initialize_context(cls, context: Dict[str, Any], **kwargs: Any) -> None:
        """Initializes the state from the arguments; raises `TypeError` if an argument is
        missing."""
        for name, default in cls.params.items():
            if name in kwargs:
                context[name] = kwargs[name]
            elif default is _NEEDED:
                raise TypeError(f'required parameter "{name}" not specified for logging'
                                f' filter "{cls.__name__}"')
            else:
                context[name] = default() if callable(default) else default

    @staticmethod
    def should_log(context: Dict[str, Any]) -> bool:
        """Returns whether the message passes."""
        raise NotImplementedError


_NEEDED = object()


class Once(LoggingFilter):
    """Passes the first message."""

    params = {'once': _NEEDED}

    @staticmethod
    def should_log(context: Dict[str, Any]) -> bool:
        """Returns whether this is the first message at this place."""
        was_logged = context.get('has_been_logged_once', False)
        context['has_been_logged_once'] = True
        return not was_logged


class Throttle(LoggingFilter):
    """Passes a message if enough seconds have passed on a clock since the message that passed
    last."""

    params = {'throttle_duration_sec': _NEEDED, 'throttle_time_source_type': Clock}

    @classmethod
    def initialize_context(cls, context: Dict[str, Any], **kwargs: Any) -> None:
        """Like the base class; raises `ValueError` if the source is not a clock."""
        super().initialize_context(context, **kwargs)
        if not isinstance(context['throttle_time_source_type'], Clock):
            raise ValueError('Received throttle_time_source_type is not a valid Clock')
        context['throttle_last_logged'] = 0

    @staticmethod
    def should_log(context: Dict[str, Any]) -> bool:
        """Returns whether enough time has passed. For the first message, the time counts from the
        clock's zero."""
        now = context['throttle_time_source_type'].now().nanoseconds
        due = context['throttle_last_logged'] + context['throttle_duration_sec'] * S_TO_NS
        if now < due:
            return False
        context['throttle_last_logged'] = now
        return True


class SkipFirst(LoggingFilter):
    """Passes all messages except the first."""

    params = {'skip_first': _NEEDED}

    @staticmethod
    def should_log(context: Dict[str, Any]) -> bool:
        """Returns whether there was an earlier message."""
        was_skipped = context.get('first_has_been_skipped', False)
        context['first_has_been_skipped'] = True
        return bool(was_skipped)


# The filters, in the order in which they check messages. Once a filter rejects a message, the
# following filters do not check it.
supported_filters: Dict[str, Type[LoggingFilter]] = {
    'throttle': Throttle, 'skip_first': SkipFirst, 'once': Once,
}


def get_filters_from_kwargs(**kwargs: Any) -> List[str]:
    """Returns the names of the filters that arguments turn on; raises `TypeError` for unknown
    arguments."""
    known = {name for one in supported_filters.values() for name in one.params}
    for name in kwargs:
        if name not in known:
            raise TypeError(f'parameter "{name}" is not one of the recognized logging options')
    chosen = []
    for name, one in supported_filters.items():
        if any(kwargs.get(parameter) for parameter in one.params):
            one.initialize_context({}, **kwargs)
            chosen.append(name)
    return chosen


class _Place:
    """The messages that one place in the code has logged so far."""

    def __init__(self, severity: int, name: str, given: Dict[str, Any]) -> None:
        self.severity = severity
        self.name = name
        self.given = given
        self.context: Dict[str, Any] = {}
        self.filters = [supported_filters[one] for one in get_filters_from_kwargs(**given)]
        for one in self.filters:
            one.initialize_context(self.context, **given)

    def check(self, severity: int, name: str, given: Dict[str, Any]) -> None:
        """Checks that one place always logs in the same way; raises `ValueError`."""
        if severity != self.severity:
            raise ValueError('Logger severity cannot be changed between calls.')
        if name != self.name:
            raise ValueError('Logger name cannot be changed between calls.')
        if given != self.given:
            get_filters_from_kwargs(**given)
            raise ValueError('Logging filter parameters cannot be changed between calls.')

    def lets_through(self) -> bool:
        """Returns whether all filters of this place let the message pass."""
        return all(one.should_log(self.context) for one in self.filters)


class RcutilsLogger:
    """A logger, which is identified by its name: parts separated by dots."""

    def __init__(self, name: str = '', find_node: Optional[Callable[[], Any]] = None) -> None:
        """`find_node` returns the extension's node of the logger, or `None` if the node no longer
        exists."""
        self.name = name
        self._find_node = find_node
        self._below = ''  # the name, without the name of the node's logger
        self._on_rosout: Any = None  # keeps its messages on /rosout
        self._places: Dict[CallerId, _Place] = {}

    def get_child(self, name: str) -> 'RcutilsLogger':
        """Returns a child of this logger; it logs to `/rosout` if this logger does.

        Raises `ValueError` for an empty name, `RuntimeError` if the node no longer exists.
        """
        if not name:
            raise ValueError('Child logger name must not be empty.')
        child = RcutilsLogger(f'{self.name}.{name}' if self.name else name, self._find_node)
        if self._find_node is not None:
            node = self._find_node()
            if node is None:
                raise RuntimeError(f'the node of logger {self.name} is gone')
            child._below = f'{self._below}.{name}' if self._below else name
            child._on_rosout = node.child_logger(child._below)
        return child

    def set_level(self, level: Union[int, LoggingSeverity]) -> None:
        """Sets the minimum severity that is shown."""
        set_level(self.name, level)

    def get_effective_level(self) -> LoggingSeverity:
        """Returns the minimum severity that is shown, as set for this logger or for a logger above
        it."""
        return effective_level(self.name)

    def is_enabled_for(self, severity: Union[int, LoggingSeverity]) -> bool:
        """Returns whether messages of a severity are shown."""
        return LoggingSeverity(severity) >= self.get_effective_level()

    def log(
        self,
        message: str,
        severity: Union[int, LoggingSeverity],
        name: Optional[str] = None,
        **kwargs: Any,
    ) -> bool:
        """Logs a message; returns whether it was shown. The filters are `once`, `skip_first`, and
        `throttle_duration_sec` with `throttle_time_source_type`."""
        severity = LoggingSeverity(severity)
        name = self.name if name is None else name
        caller = _place()
        place = self._places.get(caller)
        if place is None:
            place = self._places[caller] = _Place(severity, name, kwargs)
        else:
            place.check(severity, name, kwargs)
        if place.filters and not place.lets_through():
            return False
        if severity < extension.log_level(name):
            return False
        extension.log(name, int(severity), str(message), caller[:3])
        return True

    def debug(self, message: str, **kwargs: Any) -> bool:
        """Logs a message for debugging."""
        return self.log(message, LoggingSeverity.DEBUG, **kwargs)

    def info(self, message: str, **kwargs: Any) -> bool:
        """Logs normal operation."""
        return self.log(message, LoggingSeverity.INFO, **kwargs)

    def warning(self, message: str, **kwargs: Any) -> bool:
        """Logs an unexpected condition."""
        return self.log(message, LoggingSeverity.WARN, **kwargs)

    warn = warning

    def error(self, message: str, **kwargs: Any) -> bool:
        """Logs an error."""
        return self.log(message, LoggingSeverity.ERROR, **kwargs)

    def fatal(self, message: str, **kwargs: Any) -> bool:
        """Logs an error that ends the work."""
        return self.log(message, LoggingSeverity.FATAL, **kwargs)


_given_levels: Set[str] = set()
_root_is_unset = False  # if true, all messages are shown, as in stock


def set_level(name: str, level: Union[int, LoggingSeverity]) -> None:
    """Sets the minimum severity that a logger shows. With `UNSET` it takes the severity of the
    logger above it; the root logger then shows everything, as in stock."""
    global _root_is_unset
    number = int(LoggingSeverity(level))
    if not name:
        _root_is_unset = number == 0
    # An empty level means that the logger has no level of its own.
    extension.set_log_level(name or None, number or (None if name else 10))
    _given_levels.add(name)


def forget_levels() -> None:
    """Resets all levels that were set in this module."""
    global _root_is_unset
    _root_is_unset = False
    while _given_levels:
        extension.set_log_level(_given_levels.pop() or None, None)


def own_level(name: str) -> LoggingSeverity:
    """Returns the level that was set for the logger itself."""
    if name:
        return LoggingSeverity(extension.own_log_level(name) or 0)
    return LoggingSeverity.UNSET if _root_is_unset else LoggingSeverity(extension.log_level(''))


def effective_level(name: str) -> LoggingSeverity:
    """Returns the minimum severity that a logger shows, as set for this logger or for a logger
    above it."""
    level = own_level(name)
    while name and level == LoggingSeverity.UNSET:
        name = name.rpartition('.')[0]
        level = own_level(name)
    return level


def _place() -> CallerId:
    """Returns the place that logs: the first frame outside of this file."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    if frame is None:
        return CallerId('', '', 0, 0)
    code = frame.f_code
    return CallerId(code.co_name, code.co_filename, frame.f_lineno, frame.f_lasti)
