"""The exceptions that the binding of stock rclpy raises, with the same names."""


class InvalidHandle(RuntimeError):
    """An object was used after its destruction."""


class RCLError(RuntimeError):
    """An operation that the library refuses and that has no exception class of its own."""


class RCLInvalidROSArgsError(RCLError):
    """Arguments after `--ros-args` cannot be used."""


class UnknownROSArgsError(RuntimeError):
    """Arguments after `--ros-args` are unknown."""


class NodeNameNonExistentError(RCLError):
    """No node has this name."""


class UnsupportedEventTypeError(RCLError):
    """The engine does not report such events."""


class TimerCancelledError(RCLError):
    """The timer was canceled, so it has no next call."""
