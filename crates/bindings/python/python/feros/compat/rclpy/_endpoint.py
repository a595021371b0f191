"""The parts that publishers and subscriptions, or clients and servers, have in common."""

from typing import Any, Dict, List

from ._call_events import CallEvents
from ._entity import Entity
from .qos import QoSProfile
from .service_introspection import ServiceIntrospectionState


class Endpoint(Entity):
    """An entity that other nodes find in the graph."""

    _logger_name: str

    @property
    def logger_name(self) -> str:
        """The name of the node's logger."""
        return self._logger_name


class TopicEndpoint(Endpoint):
    """A publisher or subscription, with the handlers of its events."""

    def __init__(
        self, native: Any, msg_type: Any, topic: str, qos_profile: QoSProfile, logger_name: str,
        *of_entity: Any,
    ) -> None:
        super().__init__(*of_entity)
        self._native = native
        self.msg_type = msg_type
        self.topic = topic
        self.qos_profile = qos_profile
        self.event_handlers: list = []
        self._event_routes: Dict[str, List[Any]] = {}
        self._logger_name = logger_name

    @property
    def topic_name(self) -> str:
        """The fully qualified name of the topic."""
        return self._living._native.topic_name

    def destroy(self) -> None:
        """Destroys the endpoint and the handlers of its events."""
        for handler in self.event_handlers:
            handler.destroy()
        super().destroy()


class ServiceEndpoint(Endpoint):
    """A client or server, which may publish the events of its calls."""

    def __init__(
        self, native: Any, srv_type: Any, srv_name: str, qos_profile: QoSProfile,
        logger_name: str, *of_entity: Any,
    ) -> None:
        super().__init__(*of_entity)
        self._native = native
        self.srv_type = srv_type
        self.srv_name = srv_name
        self.qos_profile = qos_profile
        self._events = CallEvents()
        self._logger_name = logger_name

    def configure_introspection(
        self,
        clock: Any,
        service_event_qos_profile: QoSProfile,
        introspection_state: ServiceIntrospectionState,
    ) -> None:
        """Publishes the events of each call, with times from a clock; `OFF` stops the
        publication."""
        self._events.configure(
            self._find_node(), self._living, clock, service_event_qos_profile, introspection_state)

    @property
    def service_name(self) -> str:
        """The fully qualified name of the service."""
        return self._living._native.service_name
