"""What stands for the structures of C that stock has behind nodes and entities, by the names of
stock's binding: scripts use them under `with`, and take data, listen and wait with them.

A handle is a way to look at an entity, which keeps all that it knows.
"""

import time
from typing import Any, Callable, List, Optional, Tuple

from ._native.errors import InvalidHandle, RCLError


class Handle:
    """A way to look at something that may be destroyed, while somebody still uses it."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def _is_destroyed(self) -> bool:
        return bool(self._owner._destroyed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Handle) and other._owner is self._owner

    def __hash__(self) -> int:
        return id(self._owner)

    def __enter__(self) -> 'Handle':
        """Keeps it valid; raises `InvalidHandle` where it was destroyed while nobody used it."""
        if self._is_destroyed() and not self._owner._rclpy_uses:
            raise InvalidHandle(f'cannot use {type(self._owner).__name__} after its destruction')
        self._owner._rclpy_uses += 1
        return self

    def __exit__(self, *_: Any) -> None:
        self._owner._rclpy_uses -= 1

    @property
    def pointer(self) -> int:
        """A number that tells it from others."""
        return id(self._owner)

    def destroy_when_not_in_use(self) -> None:
        """Ends it: callbacks that run end in peace."""
        self._owner.destroy()


class ContextHandle(Handle):
    """The handle of a context."""

    def _is_destroyed(self) -> bool:
        return self._owner._native is None

    def ok(self) -> bool:
        """Whether it was not shut down."""
        return bool(self._owner.ok())

    def shutdown(self) -> None:
        """Shuts it down."""
        self._owner.shutdown()

    def get_domain_id(self) -> int:
        """The domain."""
        return int(self._owner.get_domain_id())


class NodeHandle(Handle):
    """The handle of a node."""

    def _is_destroyed(self) -> bool:
        return self._owner._rclpy_native is None

    def destroy_when_not_in_use(self) -> None:
        """Ends the node."""
        self._owner.destroy_node()

    def logger_name(self) -> str:
        """The name of its logger."""
        return str(self._owner.get_logger().name)

    def get_fully_qualified_name(self) -> str:
        """Namespace and name."""
        return str(self._owner.get_fully_qualified_name())

    def get_node_name(self) -> str:
        """Its name."""
        return str(self._owner.get_name())

    def get_namespace(self) -> str:
        """Its namespace."""
        return str(self._owner.get_namespace())


class PublisherHandle(Handle):
    """The handle of a publisher."""

    def publish(self, message: Any) -> None:
        """Sends a message."""
        self._owner.publish(message)

    def publish_raw(self, message: bytes) -> None:
        """Sends bytes that are a serialized message."""
        self._owner.publish(message)

    def get_subscription_count(self) -> int:
        """How many subscriptions match."""
        return int(self._owner.get_subscription_count())

    def get_topic_name(self) -> str:
        """The whole name of the topic."""
        return str(self._owner.topic_name)

    def get_logger_name(self) -> str:
        """The name of the node's logger."""
        return str(self._owner.logger_name)


class ListeningHandle(Handle):
    """The handle of something that data comes for."""

    def _listen(self, callback: Callable[[int], None]) -> None:
        if not callable(callback):
            raise TypeError(f'a callback is needed, not {type(callback).__name__}')
        self._owner._listen(callback)

    def _listen_no_more(self) -> None:
        self._owner._listen(None)

    def _taken(self) -> Any:
        """The oldest that waits, in a tuple; `None` where nothing does."""
        self._owner._living._collect()
        return self._owner._queue.take()


class SubscriptionHandle(ListeningHandle):
    """The handle of a subscription."""

    def take_message(self, pymsg_type: Any, raw: bool = False) -> Optional[Tuple[Any, Any]]:
        """The oldest message that waits and what is known of it; `None` where there is none."""
        self._owner._living._collect()
        taken = self._owner.take_message()
        if taken is not None and raw and not isinstance(taken[0], bytes):
            from ._native import serialize

            return serialize(taken[0]), taken[1]
        return taken  # type: ignore[no-any-return]

    def get_topic_name(self) -> str:
        """The whole name of the topic."""
        return str(self._owner.topic_name)

    def get_logger_name(self) -> str:
        """The name of the node's logger."""
        return str(self._owner.logger_name)

    def get_publisher_count(self) -> int:
        """How many publishers match."""
        return int(self._owner.get_publisher_count())

    def set_on_new_message_callback(self, callback: Callable[[int], None]) -> None:
        """Calls `callback(count)` when messages come, on the thread that has them first."""
        self._listen(callback)

    def clear_on_new_message_callback(self) -> None:
        """Calls it no more."""
        self._listen_no_more()


class ServiceHandle(ListeningHandle):
    """The handle of a server."""

    name = property(lambda self: self._owner.service_name, doc='The whole name of the service.')
    qos = property(lambda self: self._owner.qos_profile, doc='Its profile.')

    def service_take_request(self, pyrequest_type: Any) -> Tuple[Any, Any]:
        """The oldest request and its header; two times `None` where there is none."""
        taken = self._taken()
        if taken is None:
            return None, None
        request, responder = taken[0]
        return request, RequestHeader(responder)

    def service_send_response(self, response: Any, header: Any) -> None:
        """Answers the request that the header came with."""
        self._owner.send_response(response, header)

    def get_logger_name(self) -> str:
        """The name of the node's logger."""
        return str(self._owner.logger_name)

    def set_on_new_request_callback(self, callback: Callable[[int], None]) -> None:
        """Calls `callback(count)` when requests come, on the thread that has them first."""
        self._listen(callback)

    def clear_on_new_request_callback(self) -> None:
        """Calls it no more."""
        self._listen_no_more()


class ClientHandle(ListeningHandle):
    """The handle of a client."""

    service_name = property(
        lambda self: self._owner.service_name, doc='The whole name of the service.')
    qos = property(lambda self: self._owner.qos_profile, doc='Its profile.')

    def send_request(self, request: Any) -> int:
        """Sends a request, whose response is to be taken; its number."""
        return int(self._owner._send(request, None))

    def take_response(self, pyresponse_type: Any) -> Tuple[Any, Any]:
        """The header and the oldest response; two times `None` where there is none.

        Raises what the call ended with where it had no response.
        """
        taken = self._taken()
        if taken is None:
            return None, None
        number, response, error = taken[0]
        if error is not None:
            raise error
        return ResponseHeader(number), response

    def service_server_is_available(self) -> bool:
        """Whether a server is there."""
        return bool(self._owner.service_is_ready())

    def get_logger_name(self) -> str:
        """The name of the node's logger."""
        return str(self._owner.logger_name)

    def set_on_new_response_callback(self, callback: Callable[[int], None]) -> None:
        """Calls `callback(count)` when responses come, on the thread that has them first."""
        self._listen(callback)

    def clear_on_new_response_callback(self) -> None:
        """Calls it no more."""
        self._listen_no_more()


class RequestId:
    """A request by its client, and its number there."""

    def __init__(self, writer_guid: bytes, sequence_number: int) -> None:
        self.writer_guid = writer_guid
        self.sequence_number = sequence_number


class RequestHeader:
    """Where a request came from, and when. Requests of Feros do not tell when they were sent: both
    times, in nanoseconds, are that of taking it."""

    def __init__(self, responder: Any) -> None:
        self._responder = responder
        self.request_id = RequestId(*responder.request_id)
        self.received_timestamp = self.source_timestamp = time.time_ns()

    @property
    def call_id(self) -> Any:
        """What events of introspection name the call by."""
        return self._responder.call_id

    def send(self, response: Any) -> None:
        """Sends the response, once."""
        self._responder.send(response)


class ResponseHeader:
    """Which request of its client a response is for."""

    def __init__(self, sequence_number: int) -> None:
        self.sequence_number = sequence_number


class TimerHandle(ListeningHandle):
    """The handle of a timer."""

    def is_timer_ready(self) -> bool:
        """Whether it is due."""
        self._owner._living._collect()
        return bool(self._owner.is_ready())

    def call_timer(self) -> None:
        """Counts as a call: it is due again after its period. Raises `TimerCancelledError`."""
        self._owner._call_now()

    def call_timer_with_info(self) -> Any:
        """As `call_timer`; when it was due, and when it was called."""
        return self._owner._call_now()

    def cancel_timer(self) -> None:
        """Stops it."""
        self._owner.cancel()

    def is_timer_canceled(self) -> bool:
        """Whether it was stopped."""
        return bool(self._owner.is_canceled())

    def reset_timer(self) -> None:
        """Begins its period anew."""
        self._owner.reset()

    def time_until_next_call(self) -> Optional[int]:
        """Nanoseconds until it is due; `None` where it was stopped."""
        return self._owner.time_until_next_call()  # type: ignore[no-any-return]

    def time_since_last_call(self) -> int:
        """Nanoseconds since its last call."""
        return int(self._owner.time_since_last_call())

    def get_timer_period(self) -> int:
        """The period in nanoseconds."""
        return int(self._owner.timer_period_ns)

    def change_timer_period(self, period_nsec: int) -> None:
        """Another period, in nanoseconds."""
        self._owner.timer_period_ns = period_nsec

    def set_on_reset_callback(self, callback: Callable[[int], None]) -> None:
        """Calls `callback(count)` when the timer is reset."""
        if not callable(callback):
            raise TypeError(f'a callback is needed, not {type(callback).__name__}')
        self._owner._on_reset = callback

    def clear_on_reset_callback(self) -> None:
        """Calls it no more."""
        self._owner._on_reset = None


class GuardConditionHandle(ListeningHandle):
    """The handle of a guard condition."""

    def trigger_guard_condition(self) -> None:
        """From any thread."""
        self._owner.trigger()


class EventHandle(ListeningHandle):
    """The handle of one kind of event of one endpoint."""

    def take_event(self) -> Any:
        """What came since it was taken last; counts of zero where nothing did."""
        taken = self._taken()
        return self._owner._nothing() if taken is None else taken[0]

    def set_callback(self, callback: Callable[[int], None]) -> None:
        """Calls `callback(count)` when events come, on the thread that has them first."""
        self._listen(callback)

    def clear_callback(self) -> None:
        """Calls it no more."""
        self._listen_no_more()


_KINDS = {
    'subscription': SubscriptionHandle, 'guard_condition': GuardConditionHandle,
    'timer': TimerHandle, 'client': ClientHandle, 'service': ServiceHandle, 'event': EventHandle,
}


def owner_of(handle: Any, kind: str) -> Any:
    """The entity of a handle of a kind; raises `TypeError` for another handle."""
    entity_of = getattr(handle, '_owner', None)
    if not isinstance(handle, _KINDS[kind]) or entity_of is None:
        raise TypeError(f'the handle of a {kind} is needed, not {type(handle).__name__}')
    return entity_of


def index_error(kind: str, index: int, known: List[Any]) -> RCLError:
    """What is said of a number that nothing was added with."""
    return RCLError(f'there is no {kind} {index} in the wait set: {len(known)} were added')
