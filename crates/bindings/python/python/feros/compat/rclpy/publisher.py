"""Publishers."""

from typing import Any, Generic, Type, TypeVar, Union

from . import _rclpy_pybind11 as _rclpy
from ._reexports import reexports
from . import _unspun
from ._endpoint import TopicEndpoint
from ._handles import PublisherHandle
from .duration import Duration
from .event_handler import EVENTS_OF_PUBLISHERS, PublisherEventCallbacks
from .qos import QoSProfile

MsgT = TypeVar('MsgT')


class Publisher(TopicEndpoint, Generic[MsgT]):
    """Sends messages of one type to one topic; made by `Node.create_publisher`."""

    _handle_type = PublisherHandle
    _event_kinds = EVENTS_OF_PUBLISHERS

    def __init__(
        self,
        publisher_impl: Any,
        msg_type: Type[MsgT],
        topic: str,
        qos_profile: QoSProfile,
        event_callbacks: PublisherEventCallbacks,
        callback_group: Any,
        logger_name: str = '',
    ) -> None:
        super().__init__(publisher_impl, msg_type, topic, qos_profile, logger_name, None)

    def publish(self, msg: Union[MsgT, bytes]) -> None:
        """Sends a message, or the bytes of a serialized message.

        Raises `TypeError` for a message of another type.
        """
        native = self._living._native
        if isinstance(msg, self.msg_type):
            native.publish(msg)
        elif isinstance(msg, bytes):
            native.publish_serialized(msg)
        else:
            raise TypeError(f'Expected {self.msg_type}, got {type(msg)}')
        if _unspun.is_anybody_listening:
            _unspun.deliver()

    def get_subscription_count(self) -> int:
        """Returns the number of subscriptions that match."""
        return self._living._native.subscription_count

    def get_logger_name(self) -> str:
        """Returns the name of the node's logger."""
        return self._logger_name

    def assert_liveliness(self) -> None:
        """Asserts the liveliness of the publisher."""
        self._living._native.assert_liveliness()

    def wait_for_all_acked(self, timeout: Duration = Duration(seconds=-1)) -> bool:
        """Waits until the matched reliable subscriptions have acknowledged all messages; returns
        whether they have done so."""
        seconds = timeout.nanoseconds / 1e9
        return self._living._native.wait_for_all_acked(None if seconds < 0 else seconds)


__getattr__ = reexports(__name__)
