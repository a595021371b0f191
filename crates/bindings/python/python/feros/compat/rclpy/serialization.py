"""Serializes and deserializes messages."""

from typing import Any, Type, TypeVar

from . import _rclpy_pybind11 as _rclpy
from ._native import deserialize, extension, serialize
from ._native.errors import RCLError
from .type_support import check_for_type_support

MsgT = TypeVar('MsgT')


def serialize_message(message: Any) -> bytes:
    """Serializes a message to CDR, with its header."""
    check_for_type_support(type(message))
    return serialize(message)


def deserialize_message(serialized_message: bytes, message_type: Type[MsgT]) -> MsgT:
    """Deserializes a message of a class; raises `RCLError` if the bytes are not such a message."""
    check_for_type_support(message_type)
    try:
        return deserialize(serialized_message, message_type)
    except extension.DecodeError as error:
        raise RCLError(f'failed to deserialize ROS message: {error}') from None
