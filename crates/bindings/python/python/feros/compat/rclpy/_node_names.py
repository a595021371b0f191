"""The names of topics and services, as a node interprets them."""

from typing import Union

from ._native import extension
from ._native.errors import RCLError
from .exceptions import InvalidServiceNameException, InvalidTopicNameException
from .expand_topic_name import expand_topic_name
from .qos import QoSProfile
from .validate_full_topic_name import validate_full_topic_name
from .validate_topic_name import validate_topic_name


class NodeNames:
    """Expands relative names."""

    def _rclpy_validate(self, name: str, *, is_service: bool = False) -> None:
        """Raises `InvalidTopicNameException` or `InvalidServiceNameException`, `ValueError` for an
        unknown substitution, `TypeError` for a value that is not a string."""
        if not isinstance(name, str):
            raise TypeError(f'a name has to be a str, not {name!r}')
        validate_topic_name(name, is_service=is_service)
        if name[0] == '~' and name[1:2] not in ('', '/'):
            refused = InvalidServiceNameException if is_service else InvalidTopicNameException
            raise refused(name, "topic name must not have a tilde '~' that is not followed by a"
                          " forward slash '/'", 1)
        full = expand_topic_name(name, self._rclpy_name, self._rclpy_namespace)
        validate_full_topic_name(full, is_service=is_service)

    _validate_topic_or_service_name = _rclpy_validate

    @staticmethod
    def _validate_qos_or_depth_parameter(qos_or_depth: Union[QoSProfile, int]) -> QoSProfile:
        if isinstance(qos_or_depth, QoSProfile):
            return qos_or_depth
        if not isinstance(qos_or_depth, int):
            raise TypeError('Expected QoSProfile or int, but received ' f'{type(qos_or_depth)!r}')
        if qos_or_depth < 0:
            raise ValueError('history depth must be greater than or equal to zero')
        return QoSProfile(depth=qos_or_depth)

    def resolve_topic_name(self, topic: str, *, only_expand: bool = False) -> str:
        """Returns the absolute name, after remapping unless `only_expand` is set."""
        return self._rclpy_resolve(topic, only_expand, is_service=False)

    def resolve_service_name(self, service: str, *, only_expand: bool = False) -> str:
        """Returns the absolute name, after remapping unless `only_expand` is set."""
        return self._rclpy_resolve(service, only_expand, is_service=True)

    def _rclpy_resolve(self, name: str, only_expand: bool, *, is_service: bool) -> str:
        native = self._rclpy_living._rclpy_native
        self._rclpy_validate(name, is_service=is_service)
        try:
            if is_service and not only_expand:
                return native.resolve_service_name(name)
            return native.resolve_topic_name(name, only_expand)
        except extension.FerosError as error:
            raise RCLError(str(error)) from None
