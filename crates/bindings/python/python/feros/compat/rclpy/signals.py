"""The handling of SIGINT and SIGTERM: contexts are shut down, then the previous handlers run."""

import signal
import threading
from enum import IntEnum
from typing import Any, Dict, Optional

from . import _rclpy_pybind11 as _rclpy
from .context import Context, shutdown_all
from .guard_condition import GuardCondition


class SignalHandlerOptions(IntEnum):
    """The signals that shut contexts down."""

    NO = 0
    SIGINT = 1
    SIGTERM = 2
    ALL = 3


_before: Dict[int, Any] = {}
_options = SignalHandlerOptions.NO


def _handle(number: int, frame: Any) -> None:
    before = _before.get(number)
    shutdown_all()
    if callable(before):
        before(number, frame)


def install_signal_handlers(options: SignalHandlerOptions = SignalHandlerOptions.ALL) -> None:
    """Handles the signals; does nothing outside of the main thread, where Python forbids it."""
    global _options
    if threading.current_thread() is not threading.main_thread():
        return
    for bit, number in ((1, signal.SIGINT), (2, signal.SIGTERM)):
        if options & bit and number not in _before:
            _before[number] = signal.signal(number, _handle)
    _options = SignalHandlerOptions(_options | options)


def get_current_signal_handlers_options() -> SignalHandlerOptions:
    """Returns the signals that are handled."""
    return _options


def uninstall_signal_handlers() -> None:
    """Restores the previous handlers of the signals."""
    global _options
    if threading.current_thread() is not threading.main_thread():
        return
    for number, before in list(_before.items()):
        if signal.getsignal(number) is _handle:
            signal.signal(number, before)
        del _before[number]
    _options = SignalHandlerOptions.NO


class SignalHandlerGuardCondition(GuardCondition):
    """A guard condition that is triggered when a signal shuts its context down."""

    def __init__(self, context: Optional[Context] = None) -> None:
        super().__init__(None, None, context=context)
        self._context.on_shutdown(self.trigger)
