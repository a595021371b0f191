"""Replacements for the C structures behind nodes and entities of stock ROS 2, with the names of the
stock binding. Scripts use these handles in `with` statements, to take data, to listen and to wait.

A handle only refers to an entity, which holds all data.
"""

import time
from typing import Any, Callable, List, Optional, Tuple

from ._native.errors import InvalidHandle, RCLError


class Handle:
    """A reference to an object that may be destroyed while a program still uses it."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def _is_destroyed(self) -> bool:
        return bool(self._owner._destroyed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Handle) and other._owner is self._owner

    def __hash__(self) -> int:
        return id(self._owner)

    def __enter__(self) -> 'Handle':
        """Keeps the object valid; raises `InvalidHandle` if it was destroyed while unused."""
        if self._is_destroyed() and not self._owner._rclpy_uses:
            raise InvalidHandle(f'cannot use {type(self._owner).__name__} after its destruction')
        self._owner._rclpy_uses += 1
        return self

    def __exit__(self, *_: Any) -> None:
        self._owner._rclpy_uses -= 1

    @property
    def pointer(self) -> int:
        """A number that identifies the object."""
        return id(self._owner)

    def destroy_when_not_in_use(self) -> None:
        """Destroys the object; running callbacks finish."""
        self._owner.destroy()


class ContextHandle(Handle):
    """The handle of a context."""

    def _is_destroyed(self) -> bool:
        return self._owner._native is None

    def ok(self) -> bool:
        """Returns `True` until the context is shut down."""
        return bool(self._owner.ok())

    def shutdown(self) -> None:
        """Shuts the context down."""
        self._owner.shutdown()

    def get_domain_id(self) -> int:
        """Returns the domain."""
        return int(self._owner.get_domain_id())


class NodeHandle(Handle):
    """The handle of a node."""

    def _is_destroyed(self) -> bool:
        return self._owner._rclpy_native is None

    def destroy_when_not_in_use(self) -> None:
        """Ends the node."""
        self._owner.destroy_node()

    def logger_name(self) -> str:
        """Returns the name of the node's logger."""
        return str(self._owner.get_logger().name)

    def get_fully_qualified_name(self) -> str:
        """Returns the namespace and the name of the node."""
        return str(self._owner.get_fully_qualified_name())

    def get_node_name(self) -> str:
        """Returns the name of the node."""
        return str(self._owner.get_name())

    def get_namespace(self) -> str:
        """Returns the namespace of the node."""
        return str(self._owner.get_namespace())


class EndpointHandle(Handle):
    """The handle of a publisher, subscription, server or client."""

    def get_logger_name(self) -> str:
        """Returns the name of the node's logger."""
        return str(self._owner.logger_name)


class TopicHandle(EndpointHandle):
    """The handle of a publisher or subscription."""

    def get_topic_name(self) -> str:
        """Returns the fully qualified name of the topic."""
        return str(self._owner.topic_name)


class PublisherHandle(TopicHandle):
    """The handle of a publisher."""

    def publish(self, message: Any) -> None:
        """Sends a message."""
        self._owner.publish(message)

    def publish_raw(self, message: bytes) -> None:
        """Sends bytes that are a serialized message."""
        self._owner.publish(message)

    def get_subscription_count(self) -> int:
        """Returns the number of subscriptions that match."""
        return int(self._owner.get_subscription_count())


class ListeningHandle(Handle):
    """The handle of an entity that receives data."""

    def _listen(self, callback: Callable[[int], None]) -> None:
        """Calls `callback(count)` when data arrives, on the thread that receives it."""
        if not callable(callback):
            raise TypeError(f'expected a callback, not {type(callback).__name__}')
        self._owner._listen(callback)

    def _listen_no_more(self) -> None:
        """Stops calling the callback."""
        self._owner._listen(None)

    def _taken(self) -> Any:
        """Returns the oldest waiting item, in a tuple, or `None`."""
        self._owner._living._collect()
        return self._owner._queue.take()


class SubscriptionHandle(ListeningHandle, TopicHandle):
    """The handle of a subscription."""

    def take_message(self, pymsg_type: Any, raw: bool = False) -> Optional[Tuple[Any, Any]]:
        """Returns the oldest waiting message and its information, or `None`."""
        self._owner._living._collect()
        taken = self._owner.take_message()
        if taken is not None and raw and not isinstance(taken[0], bytes):
            from ._native import serialize

            return serialize(taken[0]), taken[1]
        return taken  # type: ignore[no-any-return]

    def get_publisher_count(self) -> int:
        """Returns the number of publishers that match."""
        return int(self._owner.get_publisher_count())

    set_on_new_message_callback = ListeningHandle._listen
    clear_on_new_message_callback = ListeningHandle._listen_no_more


class ServiceHandle(ListeningHandle, EndpointHandle):
    """The handle of a server."""

    name = property(
        lambda self: self._owner.service_name, doc='The fully qualified name of the service.')
    qos = property(lambda self: self._owner.qos_profile, doc='Its profile.')

    def service_take_request(self, pyrequest_type: Any) -> Tuple[Any, Any]:
        """Returns the oldest request and its header; `None` for both if there is no request."""
        taken = self._taken()
        if taken is None:
            return None, None
        request, responder = taken[0]
        return request, RequestHeader(responder)

    def service_send_response(self, response: Any, header: Any) -> None:
        """Answers the request to which the header belongs."""
        self._owner.send_response(response, header)

    set_on_new_request_callback = ListeningHandle._listen
    clear_on_new_request_callback = ListeningHandle._listen_no_more


class ClientHandle(ListeningHandle, EndpointHandle):
    """The handle of a client."""

    service_name = property(
        lambda self: self._owner.service_name, doc='The fully qualified name of the service.')
    qos = property(lambda self: self._owner.qos_profile, doc='Its profile.')

    def send_request(self, request: Any) -> int:
        """Sends a request, whose response the script will take; returns the number of the
        request."""
        return int(self._owner._send(request, None))

    def take_response(self, pyresponse_type: Any) -> Tuple[Any, Any]:
        """Returns the header and the oldest response; `None` for both if there is no response.

        Raises the call's exception if the call got no response.
        """
        taken = self._taken()
        if taken is None:
            return None, None
        number, response, error = taken[0]
        if error is not None:
            raise error
        return ResponseHeader(number), response

    def service_server_is_available(self) -> bool:
        """Returns whether a server is available."""
        return bool(self._owner.service_is_ready())

    set_on_new_response_callback = ListeningHandle._listen
    clear_on_new_response_callback = ListeningHandle._listen_no_more


class RequestId:
    """The identity of a request: its client, and the number that the client gave to it."""

    def __init__(self, writer_guid: bytes, sequence_number: int) -> None:
        self.writer_guid = writer_guid
        self.sequence_number = sequence_number


class RequestHeader:
    """The source of a request, and its times. Requests in Feros have no source time, so both times,
    in nanoseconds, are the time at which the request was taken."""

    def __init__(self, responder: Any) -> None:
        self._responder = responder
        self.request_id = RequestId(*responder.request_id)
        self.received_timestamp = self.source_timestamp = time.time_ns()

    @property
    def call_id(self) -> Any:
        """The identity of the call in service introspection events."""
        return self._responder.call_id

    def send(self, response: Any) -> None:
        """Sends the response, once."""
        self._responder.send(response)


class ResponseHeader:
    """The number of the request that a response answers."""

    def __init__(self, sequence_number: int) -> None:
        self.sequence_number = sequence_number


class TimerHandle(ListeningHandle):
    """The handle of a timer."""

    def is_timer_ready(self) -> bool:
        """Returns whether the timer is due."""
        self._owner._living._collect()
        return bool(self._owner.is_ready())

    def call_timer(self) -> None:
        """Counts as a call: the next call is due after a period. Raises `TimerCancelledError` if
        the timer was canceled."""
        self._owner._call_now()

    def call_timer_with_info(self) -> Any:
        """Like `call_timer`; returns when the timer was due, and when it was called."""
        return self._owner._call_now()

    def cancel_timer(self) -> None:
        """Stops the timer."""
        self._owner.cancel()

    def is_timer_canceled(self) -> bool:
        """Returns whether the timer was stopped."""
        return bool(self._owner.is_canceled())

    def reset_timer(self) -> None:
        """Restarts the period of the timer."""
        self._owner.reset()

    def time_until_next_call(self) -> Optional[int]:
        """Returns the nanoseconds until the timer is due; `None` if it was stopped."""
        return self._owner.time_until_next_call()  # type: ignore[no-any-return]

    def time_since_last_call(self) -> int:
        """Returns the nanoseconds since the last call of the timer."""
        return int(self._owner.time_since_last_call())

    def get_timer_period(self) -> int:
        """Returns the period in nanoseconds."""
        return int(self._owner.timer_period_ns)

    def change_timer_period(self, period_nsec: int) -> None:
        """Sets another period, in nanoseconds."""
        self._owner.timer_period_ns = period_nsec

    def set_on_reset_callback(self, callback: Callable[[int], None]) -> None:
        """Calls `callback(count)` when the timer is reset."""
        if not callable(callback):
            raise TypeError(f'expected a callback, not {type(callback).__name__}')
        self._owner._on_reset = callback

    def clear_on_reset_callback(self) -> None:
        """Stops calling the callback."""
        self._owner._on_reset = None


class GuardConditionHandle(ListeningHandle):
    """The handle of a guard condition."""

    def trigger_guard_condition(self) -> None:
        """Triggers the guard condition, from any thread."""
        self._owner.trigger()


class EventHandle(ListeningHandle):
    """The handle of one kind of event of one endpoint."""

    def take_event(self) -> Any:
        """Returns the events since the last take; counts of zero if there were no events."""
        taken = self._taken()
        return self._owner._nothing() if taken is None else taken[0]

    set_callback = ListeningHandle._listen
    clear_callback = ListeningHandle._listen_no_more


_KINDS = {
    'subscription': SubscriptionHandle, 'guard_condition': GuardConditionHandle,
    'timer': TimerHandle, 'client': ClientHandle, 'service': ServiceHandle, 'event': EventHandle,
}


def owner_of(handle: Any, kind: str) -> Any:
    """Returns the entity behind a handle of this kind; raises `TypeError` for a handle of another
    kind."""
    entity_of = getattr(handle, '_owner', None)
    if not isinstance(handle, _KINDS[kind]) or entity_of is None:
        raise TypeError(f'expected the handle of a {kind}, not {type(handle).__name__}')
    return entity_of


def index_error(kind: str, index: int, known: List[Any]) -> RCLError:
    """Returns the error for a number that no added entity has."""
    return RCLError(f'there is no {kind} {index} in the wait set: {len(known)} were added')
