"""The rules of names of nodes."""

from . import _rclpy_pybind11 as _rclpy
from ._names import node_name as _wrong_with
from .exceptions import InvalidNodeNameException


def validate_node_name(node_name: str) -> bool:
    """Returns `True` for a valid name; otherwise raises `InvalidNodeNameException`."""
    wrong = _wrong_with(node_name)
    if wrong is not None:
        raise InvalidNodeNameException(node_name, *wrong)
    return True
