"""Service introspection: the events of a service's calls, published as stock ROS 2 does."""

from typing import Any, Optional, Tuple

from service_msgs.msg import ServiceEventInfo

from ._native import extension, message_type
from ._native.errors import RCLError
from ._native.qos import to_tuple
from .service_introspection import ServiceIntrospectionState

Call = Tuple[bytes, int]
"""A client, and the number of one of its calls."""


class CallEvents:
    """Publishes the call events of one client or server; initially publishes nothing."""

    def __init__(self) -> None:
        self._told: Optional[Tuple[Any, Any, Any, bool]] = None

    def configure(
        self,
        node: Any,
        service: Any,
        clock: Any,
        qos: Any,
        state: ServiceIntrospectionState,
    ) -> None:
        """Starts or stops publishing on `<service>/_service_event`."""
        if state == ServiceIntrospectionState.OFF:
            self._told = None
            return
        if node is None:
            raise RCLError('service introspection cannot be configured: the node is gone')
        kind, topic = service.srv_type.Event, f'{service.service_name}/_service_event'
        try:
            publisher = node._rclpy_native.create_publisher(
                message_type(kind), topic, to_tuple(qos))
        except extension.FerosError as error:
            raise RCLError(f'Failed to configure service introspection: {error}') from None
        contents = state == ServiceIntrospectionState.CONTENTS
        self._told = publisher, kind, clock, contents

    @property
    def are_told(self) -> bool:
        """Whether events are published."""
        return self._told is not None

    def request_sent(self, call: Call, request: Any) -> None:
        """Called when a client sent a request."""
        self._tell(ServiceEventInfo.REQUEST_SENT, call, request, None)

    def request_received(self, call: Call, request: Any) -> None:
        """Called before a server answers a request."""
        self._tell(ServiceEventInfo.REQUEST_RECEIVED, call, request, None)

    def response_sent(self, call: Call, response: Any) -> None:
        """Called when a server has answered."""
        self._tell(ServiceEventInfo.RESPONSE_SENT, call, None, response)

    def response_received(self, call: Call, response: Any) -> None:
        """Called when a client has the response."""
        self._tell(ServiceEventInfo.RESPONSE_RECEIVED, call, None, response)

    def _tell(self, what: int, call: Call, request: Any, response: Any) -> None:
        told = self._told
        if told is None:
            return
        publisher, kind, clock, contents = told
        event = kind()
        event.info.event_type = what
        event.info.stamp = clock.now().to_msg()
        client_gid, event.info.sequence_number = call
        event.info.client_gid = list(client_gid)
        if contents:
            event.request = [] if request is None else [request]
            event.response = [] if response is None else [response]
        publisher.publish(event)
