"""Checks whether classes are messages, services or actions."""

from typing import Any, TypeVar

from .exceptions import NoTypeSupportImportedException

Msg = Srv = Action = Any
MsgT = TypeVar('MsgT')
SrvRequestT = TypeVar('SrvRequestT')
SrvResponseT = TypeVar('SrvResponseT')
SrvT = TypeVar('SrvT')


def check_for_type_support(msg_or_srv_type: type) -> None:
    """Raises `AttributeError` or `NoTypeSupportImportedException` for any other class."""
    if getattr(msg_or_srv_type, '_feros_name', None) is not None:
        return
    if hasattr(msg_or_srv_type, '_TYPE_SUPPORT'):
        package = msg_or_srv_type.__module__.partition('.')[0]
        raise NoTypeSupportImportedException(
            f'no type_support imported: {msg_or_srv_type.__qualname__} of'
            f' {msg_or_srv_type.__module__} works only with the rclpy of stock ROS 2. Feros makes a'
            f' class of its own if {package} is imported after rclpy, and its definitions are in a'
            f' prefix that AMENT_PREFIX_PATH or FEROS_PREFIX_PATH names (share/{package}), or in a'
            ' folder that FEROS_INTERFACES names'
        )
    raise AttributeError(
        f"type object '{getattr(msg_or_srv_type, '__name__', msg_or_srv_type)}' has no attribute"
        " '_TYPE_SUPPORT' This might be a ROS 1 message type but it should be a ROS 2 message"
        ' type. Make sure to source your ROS 2 workspace after your ROS 1 workspace.'
    )


def check_is_valid_msg_type(msg_type: type) -> None:
    """Raises `RuntimeError` if the type is not a message."""
    check_for_type_support(msg_type)
    if not hasattr(msg_type, '_feros_type'):
        raise RuntimeError('The message type provided is not valid (it may be a service or action)')


def check_is_valid_srv_type(srv_type: type) -> None:
    """Raises `RuntimeError` if the type is not a service."""
    check_for_type_support(srv_type)
    if not (hasattr(srv_type, 'Request') and hasattr(srv_type, 'Response')):
        raise RuntimeError('The service type provided is not valid (it may be a message)')
