"""Subscriptions."""

import inspect
from enum import Enum
from typing import Any, Callable, Generic, List, Optional, Tuple, Type, TypedDict, TypeVar

from . import _rclpy_pybind11 as _rclpy
from ._reexports import reexports
from ._endpoint import TopicEndpoint
from ._handles import SubscriptionHandle
from ._native import extension
from ._native.errors import RCLError
from .event_handler import EVENTS_OF_SUBSCRIPTIONS, SubscriptionEventCallbacks, route
from .qos import HistoryPolicy, QoSProfile
from .subscription_content_filter_options import ContentFilterOptions

MsgT = TypeVar('MsgT')


class MessageInfo(TypedDict):
    """The information about a message, without its content; times are in nanoseconds."""

    source_timestamp: int
    received_timestamp: int
    publication_sequence_number: Optional[int]
    reception_sequence_number: Optional[int]
    publisher_gid: Optional[dict]


def _described(info: Any) -> MessageInfo:
    return MessageInfo(
        source_timestamp=info.source_timestamp or 0,
        received_timestamp=info.received_timestamp or 0,
        publication_sequence_number=info.publication_sequence_number,
        reception_sequence_number=None,
        publisher_gid={'implementation_identifier': 'feros', 'data': info.publisher_gid},
    )


class Subscription(TopicEndpoint, Generic[MsgT]):
    """Receives messages of one type from one topic; made by `Node.create_subscription`."""

    _handle_type = SubscriptionHandle
    _event_kinds = EVENTS_OF_SUBSCRIPTIONS

    class CallbackType(Enum):
        """The arguments of the callback."""

        MessageOnly = 0
        WithMessageInfo = 1

    def __init__(
        self,
        subscription_impl: Any,
        msg_type: Type[MsgT],
        topic: str,
        callback: Callable[..., Any],
        callback_group: Any,
        qos_profile: QoSProfile,
        raw: bool,
        event_callbacks: SubscriptionEventCallbacks,
        logger_name: str = '',
    ) -> None:
        keeps_last = qos_profile.history == HistoryPolicy.KEEP_LAST and qos_profile.depth
        super().__init__(
            subscription_impl, msg_type, topic, qos_profile, logger_name, callback_group,
            *((qos_profile.depth,) if keeps_last else ()))
        self.callback = callback
        self.raw = raw
        self._lost_before = 0  # losses that the transports have reported so far

    @property
    def dropped_messages(self) -> int:
        """The number of messages that were dropped because their callback did not run in time."""
        return self._queue.pushed_out

    def _on_pushed_out(self) -> None:
        self._tell_lost(1)

    def _lost_in_transport(self, status: Any) -> None:
        self._lost_before = status['total_count']
        self._tell_lost(status['total_count_change'])

    def _tell_lost(self, change: int) -> None:
        total = self._lost_before + self._queue.pushed_out
        status = {'total_count': total, 'total_count_change': change}
        route(self._event_routes, 'message_lost', status)

    def _call_of(self, data: Any) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
        message, info = data
        if self._callback_type is Subscription.CallbackType.MessageOnly:
            return self._callback, (message,)
        return self._callback, (message, _described(info))

    def take_message(self, msg_type: Any = None, raw: bool = False) -> Any:
        """Returns the oldest waiting message and its information, or `None`."""
        taken = self._queue.take()
        if taken is None:
            return None
        message, info = taken[0]
        return message, _described(info)

    def get_publisher_count(self) -> int:
        """Returns the number of publishers that match."""
        return self._living._native.publisher_count

    def get_topic_name(self) -> str:
        """Returns the fully qualified name of the topic."""
        return self.topic_name

    @property
    def callback(self) -> Callable[..., Any]:
        """The callback for each message."""
        return self._callback

    @callback.setter
    def callback(self, value: Callable[..., Any]) -> None:
        try:
            inspect.signature(value).bind(object())
            self._callback_type = Subscription.CallbackType.MessageOnly
        except TypeError:
            try:
                inspect.signature(value).bind(object(), object())
            except TypeError:
                raise RuntimeError(
                    'Subscription.__init__(): callback should be either be callable with one'
                    ' argument (to get only the message) or two (to get message and message info)'
                ) from None
            self._callback_type = Subscription.CallbackType.WithMessageInfo
        except ValueError:  # the callback is a builtin without a signature
            self._callback_type = Subscription.CallbackType.MessageOnly
        self._callback = value
        if self._callback_type is Subscription.CallbackType.MessageOnly:
            self._call_directly(value)
        else:
            self._queue.call_directly(None, None)

    @property
    def is_cft_supported(self) -> bool:
        """Whether the subscription can have a content filter; rclpy has this since Lyrical."""
        return True

    @property
    def is_cft_enabled(self) -> bool:
        """Whether a content filter is active."""
        native_filter = self._living._native.content_filter
        return native_filter is not None and native_filter[0] != ''

    def set_content_filter(self, filter_expression: str, expression_parameters: List[str]) -> None:
        """From now on, takes only messages that match the expression, or all messages if the
        expression is empty.

        Raises `RCLError` if the expression is not a valid filter for the messages of the topic.
        """
        try:
            self._living._native.set_content_filter(filter_expression, list(expression_parameters))
        except extension.FerosError as error:
            raise RCLError(f'Failed to set content filter: {error}') from None

    def get_content_filter(self) -> ContentFilterOptions:
        """Returns the content filter; raises `RCLError` if there is no filter."""
        native_filter = self._living._native.content_filter
        if native_filter is None:
            raise RCLError('Failed to get content filter: the subscription has no filter')
        return ContentFilterOptions(*native_filter)


__getattr__ = reexports(__name__)
