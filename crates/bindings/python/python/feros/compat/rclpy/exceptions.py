"""The exceptions of the client library."""

from typing import TYPE_CHECKING, Any, List, Optional, Union

from . import _rclpy_pybind11 as _rclpy
from ._native.errors import InvalidHandle, TimerCancelledError

if TYPE_CHECKING:
    from .parameter import Parameter

__all__ = [
    'InvalidHandle',
    'InvalidNamespaceException',
    'InvalidNodeNameException',
    'InvalidParameterException',
    'InvalidParameterTypeException',
    'InvalidParameterValueException',
    'InvalidServiceNameException',
    'InvalidTopicNameException',
    'NameValidationException',
    'NoTypeSupportImportedException',
    'NotInitializedException',
    'ParameterAlreadyDeclaredException',
    'ParameterException',
    'ParameterImmutableException',
    'ParameterNotDeclaredException',
    'ParameterUninitializedException',
    'ROSInterruptException',
    'TimeSourceChangedError',
    'TimerCancelledError',
]


class NotInitializedException(Exception):
    """The context was not initialized, or is shut down."""

    def __init__(self, message: Optional[str] = None) -> None:
        text = 'rclpy.init() has not been called.'
        super().__init__(text if not message else f'{text} msg:{message}')


class NoTypeSupportImportedException(Exception):
    """A class was used as a message, service or action, but is not a class of that kind."""

    def __init__(self, message: str = 'no type_support imported') -> None:
        super().__init__(message)


class NameValidationException(Exception):
    """A name that ROS does not allow; the text points to the position of the error."""

    def __init__(self, name_type: str, name: str, error_msg: str, invalid_index: int) -> None:
        self.name_type = name_type
        self.name = name
        self.error_msg = error_msg
        self.invalid_index = invalid_index
        pointer = ' ' * invalid_index + '^'
        super().__init__(f"Invalid {name_type}: {error_msg}:\n  '{name}'\n   {pointer}")


class InvalidNamespaceException(NameValidationException):
    """A namespace that ROS does not allow."""

    def __init__(self, name: str, error_msg: str, invalid_index: int) -> None:
        super().__init__('namespace', name, error_msg, invalid_index)


class InvalidNodeNameException(NameValidationException):
    """A node's name that ROS does not allow."""

    def __init__(self, name: str, error_msg: str, invalid_index: int) -> None:
        super().__init__('node name', name, error_msg, invalid_index)


class InvalidTopicNameException(NameValidationException):
    """A topic's name that ROS does not allow."""

    def __init__(self, name: str, error_msg: str, invalid_index: int) -> None:
        super().__init__('topic name', name, error_msg, invalid_index)


class InvalidServiceNameException(NameValidationException):
    """A service's name that ROS does not allow."""

    def __init__(self, name: str, error_msg: str, invalid_index: int) -> None:
        super().__init__('service name', name, error_msg, invalid_index)


class ParameterException(Exception):
    """The base class of parameter errors."""

    def __init__(self, error_msg: str, parameters: Union[str, List[str]]) -> None:
        super().__init__(f'{error_msg}: {parameters}')


class ParameterNotDeclaredException(ParameterException):
    """A parameter that has not been declared was read or set."""

    def __init__(self, parameters: Union[str, List[str]]) -> None:
        super().__init__('Invalid access to undeclared parameter(s)', parameters)


class ParameterAlreadyDeclaredException(ParameterException):
    """A parameter was declared twice."""

    def __init__(self, parameters: Union[str, List[str]]) -> None:
        super().__init__('Parameter(s) already declared', parameters)


class InvalidParameterException(ParameterException):
    """A parameter's name that ROS does not allow."""

    def __init__(self, parameter_name: str) -> None:
        super().__init__('Invalid parameter name', parameter_name)


class InvalidParameterTypeException(ParameterException):
    """A parameter was set to a value of another type."""

    def __init__(self, desired_parameter: 'Parameter[Any]', expected_type: str) -> None:
        given = desired_parameter.Type.from_parameter_value(desired_parameter.value).name
        super().__init__(
            f"Trying to set parameter '{desired_parameter.name}' to '{desired_parameter.value}'"
            f" of type '{given}', expecting type '{expected_type}'",
            desired_parameter.name,
        )


class InvalidParameterValueException(ParameterException):
    """A value that the parameter's descriptor or a callback refuses."""

    def __init__(self, parameter: str, value: Any, reason: str) -> None:
        super().__init__(
            f'Invalid parameter value ({value}) for parameter. Reason: {reason}', parameter
        )


class ParameterImmutableException(ParameterException):
    """A read-only parameter was set or undeclared."""

    def __init__(self, parameter_name: str) -> None:
        super().__init__('Attempted to modify read-only parameter', parameter_name)


class ParameterUninitializedException(ParameterException):
    """A parameter that has no value yet was read."""

    def __init__(self, parameter_name: str) -> None:
        super().__init__(f"The parameter '{parameter_name}' is not initialized", parameter_name)


class ROSInterruptException(Exception):
    """The context was shut down during a sleep or a wait."""

    def __init__(self) -> None:
        super().__init__('rclpy.shutdown() has been called')


class TimeSourceChangedError(Exception):
    """Simulated time was turned on or off during a sleep on ROS time."""
