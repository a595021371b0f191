"""The rules of absolute names of topics and services."""

from . import _rclpy_pybind11 as _rclpy
from ._names import full_name
from .exceptions import InvalidServiceNameException, InvalidTopicNameException


def validate_full_topic_name(name: str, *, is_service: bool = False) -> bool:
    """Returns `True` for a valid name; otherwise raises `InvalidTopicNameException` or
    `InvalidServiceNameException`."""
    wrong = full_name(name, 'topic name')
    if wrong is not None:
        kind = InvalidServiceNameException if is_service else InvalidTopicNameException
        raise kind(name, *wrong)
    return True
