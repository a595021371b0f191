"""Events of publishers and subscriptions: matches, deadlines, liveliness, incompatibilities."""

import threading
from enum import IntEnum
from types import SimpleNamespace
from typing import Any, Callable, Dict, Optional, Tuple

from . import _rclpy_pybind11 as _rclpy
from ._reexports import reexports
from ._handles import EventHandle
from ._native.errors import UnsupportedEventTypeError
from .waitable import Waitable

__all__ = [
    'EventHandler', 'PublisherEventCallbacks', 'QoSPublisherEventType',
    'QoSSubscriptionEventType', 'SubscriptionEventCallbacks', 'UnsupportedEventTypeError',
]


class QoSPublisherEventType(IntEnum):
    """The events of publishers; the numbers are those of `rcl_publisher_event_type_t`."""

    RCL_PUBLISHER_OFFERED_DEADLINE_MISSED = 0
    RCL_PUBLISHER_LIVELINESS_LOST = 1
    RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS = 2
    RCL_PUBLISHER_INCOMPATIBLE_TYPE = 3
    RCL_PUBLISHER_MATCHED = 4


class QoSSubscriptionEventType(IntEnum):
    """The events of subscriptions; the numbers are those of `rcl_subscription_event_type_t`."""

    RCL_SUBSCRIPTION_REQUESTED_DEADLINE_MISSED = 0
    RCL_SUBSCRIPTION_LIVELINESS_CHANGED = 1
    RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS = 2
    RCL_SUBSCRIPTION_MESSAGE_LOST = 3
    RCL_SUBSCRIPTION_INCOMPATIBLE_TYPE = 4
    RCL_SUBSCRIPTION_MATCHED = 5


class _Status(SimpleNamespace):
    """The content of an event: counts, with the names of rmw."""


class QoSRequestedDeadlineMissedInfo(_Status):
    """Deadlines that publishers missed."""


class QoSLivelinessChangedInfo(_Status):
    """Publishers that are alive, and publishers that are not."""


class QoSMessageLostInfo(_Status):
    """Messages that were lost."""


class QoSRequestedIncompatibleQoSInfo(_Status):
    """Endpoints that do not match because of a policy, `last_policy_kind`."""


class QoSSubscriptionMatchedInfo(_Status):
    """Endpoints that match."""


class QoSOfferedDeadlineMissedInfo(_Status):
    """Deadlines that the publisher missed."""


class QoSLivelinessLostInfo(_Status):
    """The number of times that the publisher failed to assert its liveliness."""


class IncompatibleTypeInfo(_Status):
    """Endpoints that do not match because of their type."""


QoSPublisherMatchedInfo = QoSSubscriptionMatchedInfo
QoSOfferedIncompatibleQoSInfo = QoSRequestedIncompatibleQoSInfo

EVENTS_OF_SUBSCRIPTIONS: Dict[str, Tuple[Any, type]] = {
    'deadline': (QoSSubscriptionEventType(0), QoSRequestedDeadlineMissedInfo),
    'liveliness': (QoSSubscriptionEventType(1), QoSLivelinessChangedInfo),
    'incompatible_qos': (QoSSubscriptionEventType(2), QoSRequestedIncompatibleQoSInfo),
    'message_lost': (QoSSubscriptionEventType(3), QoSMessageLostInfo),
    'incompatible_type': (QoSSubscriptionEventType(4), IncompatibleTypeInfo),
    'matched': (QoSSubscriptionEventType(5), QoSSubscriptionMatchedInfo),
}
EVENTS_OF_PUBLISHERS: Dict[str, Tuple[Any, type]] = {
    'deadline': (QoSPublisherEventType(0), QoSOfferedDeadlineMissedInfo),
    'liveliness': (QoSPublisherEventType(1), QoSLivelinessLostInfo),
    'incompatible_qos': (QoSPublisherEventType(2), QoSOfferedIncompatibleQoSInfo),
    'incompatible_type': (QoSPublisherEventType(3), IncompatibleTypeInfo),
    'matched': (QoSPublisherEventType(4), QoSPublisherMatchedInfo),
}
# The names of policies in the extension.
_POLICIES = {
    'Durability': 2, 'Deadline': 4, 'Liveliness': 8, 'Reliability': 16, 'History': 32,
    'Lifespan': 64, 'Depth': 128, 'LivelinessLeaseDuration': 256,
}


def _merged(before: Dict[str, Any], status: Dict[str, Any]) -> Dict[str, Any]:
    """Merges two statuses: adds the changes, and takes everything else from the later status."""
    return {
        name: value + before[name] if name.endswith('_change') else value
        for name, value in status.items()
    }


_COUNTS = ('total_count', 'total_count_change')
_MORE_COUNTS = {
    QoSLivelinessChangedInfo: (
        'alive_count', 'not_alive_count', 'alive_count_change', 'not_alive_count_change'),
    QoSSubscriptionMatchedInfo: (*_COUNTS, 'current_count', 'current_count_change'),
}


class EventHandler(Waitable):
    """Calls a callback with each event of one kind of one endpoint."""

    _handle_type = EventHandle

    def __init__(
        self,
        *,
        callback_group: Any,
        callback: Callable[..., None],
        event_type: Any,
        parent_impl: Any,
        info_type: type = _Status,
    ) -> None:
        super().__init__(callback_group, 1)
        self.callback = callback
        self.event_type = event_type
        self._info_type = info_type
        self._merging = threading.Lock()

    def _nothing(self) -> Any:
        """Returns the status without any events."""
        counts: Dict[str, Any] = dict.fromkeys(_MORE_COUNTS.get(self._info_type, _COUNTS), 0)
        if self._info_type is QoSRequestedIncompatibleQoSInfo:
            from .qos import QoSPolicyKind

            counts['last_policy_kind'] = QoSPolicyKind.INVALID
        return self._info_type(**counts)

    def _came(self, status: Dict[str, Any]) -> None:
        if 'last_policy_kind' in status:
            from .qos import QoSPolicyKind

            kind = _POLICIES.get(status['last_policy_kind'], 1)
            status = {**status, 'last_policy_kind': QoSPolicyKind(kind)}
        with self._merging:
            before = self._queue.take()
            if before is not None:  # one status covers all events not yet reported
                status = _merged(vars(before[0]), status)
            self._arrived(self._info_type(**status))

    def _call_of(self, data: Any) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
        return self.callback, (data,)


def route(routes: Dict[str, Any], name: str, status: Dict[str, Any]) -> None:
    """Passes an event to its recipients."""
    for handler in routes.get(name, ()):
        handler._came(status)


def handler_of(parent: Any, event_type: Any) -> EventHandler:
    """Stores events of an endpoint for scripts that take them with the handle.

    Raises `UnsupportedEventTypeError` if the endpoint has no such event.
    """
    kinds: Dict[str, Tuple[Any, type]] = getattr(parent, '_event_kinds', {})
    for name, (kind, info_type) in kinds.items():
        if kind is event_type:
            handler = EventHandler(
                callback_group=None, callback=lambda _: None, event_type=event_type,
                parent_impl=parent.handle, info_type=info_type)
            handler._find_node = parent._find_node
            parent._event_routes.setdefault(name, []).append(handler)
            return handler
    raise UnsupportedEventTypeError(f'{event_type!r} is not an event of a {type(parent).__name__}')


class QoSEventHandler(EventHandler):
    """The old name of `EventHandler`."""


class _EventCallbacks:
    _known: Dict[str, Tuple[Any, type]] = {}
    _mismatch = ''
    use_default_callbacks: bool

    def _by_name(self, logger_name: str, topic_name: str) -> Dict[str, Callable[..., None]]:
        """Returns the callbacks by event: the given callbacks, and defaults for the other
        events."""
        from . import logging

        given = {name: getattr(self, name, None) for name in self._known}

        def say_policy(status: Any) -> None:
            from .qos import qos_policy_name_from_kind

            policy = qos_policy_name_from_kind(status.last_policy_kind)
            logging.get_logger(logger_name).warn(
                self._mismatch.format(topic=topic_name, policy=policy))

        def say_type(status: Any) -> None:
            logging.get_logger(logger_name).warn(
                f"Incompatible type on topic '{topic_name}', no messages will be sent to it.")

        if self.use_default_callbacks:
            given['incompatible_qos'] = given['incompatible_qos'] or say_policy
            given['incompatible_type'] = given['incompatible_type'] or say_type
        return {name: callback for name, callback in given.items() if callback is not None}

    def _handlers(
        self, callback_group: Any, logger_name: str, topic_name: str
    ) -> Dict[str, EventHandler]:
        return {
            name: EventHandler(
                callback_group=callback_group, callback=callback, event_type=self._known[name][0],
                parent_impl=None, info_type=self._known[name][1],
            )
            for name, callback in self._by_name(logger_name, topic_name).items()
        }


class SubscriptionEventCallbacks(_EventCallbacks):
    """The callbacks for events of a subscription. Mismatches are logged by default."""

    _known = EVENTS_OF_SUBSCRIPTIONS
    _mismatch = (
        "New publisher discovered on topic '{topic}', offering incompatible QoS. No messages will"
        ' be received from it. Last incompatible policy: {policy}')

    def __init__(
        self,
        *,
        deadline: Optional[Callable[[Any], None]] = None,
        incompatible_qos: Optional[Callable[[Any], None]] = None,
        liveliness: Optional[Callable[[Any], None]] = None,
        message_lost: Optional[Callable[[Any], None]] = None,
        incompatible_type: Optional[Callable[[Any], None]] = None,
        matched: Optional[Callable[[Any], None]] = None,
        use_default_callbacks: bool = True,
    ) -> None:
        self.deadline = deadline
        self.incompatible_qos = incompatible_qos
        self.liveliness = liveliness
        self.message_lost = message_lost
        self.incompatible_type = incompatible_type
        self.matched = matched
        self.use_default_callbacks = use_default_callbacks


class PublisherEventCallbacks(_EventCallbacks):
    """The callbacks for events of a publisher. Mismatches are logged by default."""

    _known = EVENTS_OF_PUBLISHERS
    _mismatch = (
        "New subscription discovered on topic '{topic}', requesting incompatible QoS. No messages"
        ' will be sent to it. Last incompatible policy: {policy}')

    def __init__(
        self,
        *,
        deadline: Optional[Callable[[Any], None]] = None,
        liveliness: Optional[Callable[[Any], None]] = None,
        incompatible_qos: Optional[Callable[[Any], None]] = None,
        incompatible_type: Optional[Callable[[Any], None]] = None,
        matched: Optional[Callable[[Any], None]] = None,
        use_default_callbacks: bool = True,
    ) -> None:
        self.deadline = deadline
        self.liveliness = liveliness
        self.incompatible_qos = incompatible_qos
        self.incompatible_type = incompatible_type
        self.matched = matched
        self.use_default_callbacks = use_default_callbacks


__getattr__ = reexports(__name__)
