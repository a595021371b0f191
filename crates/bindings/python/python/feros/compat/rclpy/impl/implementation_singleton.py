"""The names of the binding of stock rclpy that scripts and tests use."""

from types import SimpleNamespace

from .._native import errors
from ..clock import ClockChange
from ..clock_type import ClockType
from ..qos import QoSCompatibility
from ..signals import SignalHandlerOptions
from ..utilities import get_rmw_implementation_identifier
from . import _entities
from .logging_severity import LoggingSeverity

__all__ = ['rclpy_implementation']


def _names() -> dict:
    names = {name: getattr(errors, name) for name in dir(errors) if name[:1].isupper()}
    names.update({name: getattr(_entities, name) for name in _entities.__all__})
    return names


rclpy_implementation = SimpleNamespace(
    ClockChange=ClockChange, ClockType=ClockType, QoSCompatibility=QoSCompatibility,
    SignalHandlerOptions=SignalHandlerOptions, LoggingSeverity=LoggingSeverity,
    rclpy_get_rmw_implementation_identifier=get_rmw_implementation_identifier, **_names(),
)
