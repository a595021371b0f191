"""The rules of names of topics and services that may be relative."""

from . import _rclpy_pybind11 as _rclpy
from ._names import topic_name
from .exceptions import InvalidServiceNameException, InvalidTopicNameException

TOPIC_SEPARATOR_STRING = '/'


def validate_topic_name(name: str, *, is_service: bool = False) -> bool:
    """Returns `True` for a valid name; otherwise raises `InvalidTopicNameException` or
    `InvalidServiceNameException`."""
    wrong = topic_name(name)
    if wrong is not None:
        kind = InvalidServiceNameException if is_service else InvalidTopicNameException
        raise kind(name, *wrong)
    return True
