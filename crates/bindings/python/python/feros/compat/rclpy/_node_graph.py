"""The graph queries of a node."""

from typing import Any, Dict, List, Tuple

from ._native import extension
from ._native.errors import NodeNameNonExistentError
from ._native.qos import INFINITE
from .duration import Duration
from .endpoint_info import EndpointTypeEnum, ServiceEndpointInfo
from .expand_topic_name import expand_topic_name
from .qos import QoSProfile
from .topic_endpoint_info import TopicEndpointInfo, TopicEndpointTypeEnum
from .type_hash import TypeHash
from .validate_full_topic_name import validate_full_topic_name

NamesAndTypes = List[Tuple[str, List[str]]]


def _listed(names: Dict[str, List[str]]) -> NamesAndTypes:
    return list(names.items())


class NodeGraph:
    """Queries of the graph."""

    def _rclpy_of_node(self, name: str, namespace: str, kind: str) -> NamesAndTypes:
        if (name, namespace) not in self._rclpy_native.node_names():
            known = f'{namespace.rstrip("/")}/{name}'
            raise NodeNameNonExistentError(f'cannot get names and types: no node {known}')
        try:
            return _listed(self._rclpy_native.names_and_types_by_node(name, namespace, kind))
        except extension.FerosError as error:
            raise NodeNameNonExistentError(str(error)) from None

    def get_publisher_names_and_types_by_node(
        self, node_name: str, node_namespace: str, no_demangle: bool = False
    ) -> NamesAndTypes:
        """Returns the topics that a node publishes, with their types."""
        return self._rclpy_of_node(node_name, node_namespace, 'publisher')

    def get_subscriber_names_and_types_by_node(
        self, node_name: str, node_namespace: str, no_demangle: bool = False
    ) -> NamesAndTypes:
        """Returns the topics that a node subscribes to, with their types."""
        return self._rclpy_of_node(node_name, node_namespace, 'subscription')

    def get_service_names_and_types_by_node(
        self, node_name: str, node_namespace: str
    ) -> NamesAndTypes:
        """Returns the services that a node serves, with their types."""
        return self._rclpy_of_node(node_name, node_namespace, 'service')

    def get_client_names_and_types_by_node(
        self, node_name: str, node_namespace: str
    ) -> NamesAndTypes:
        """Returns the services that a node calls, with their types."""
        return self._rclpy_of_node(node_name, node_namespace, 'client')

    def get_topic_names_and_types(self, no_demangle: bool = False) -> NamesAndTypes:
        """Returns all topics with their types."""
        return _listed(self._rclpy_native.topic_names_and_types())

    def get_service_names_and_types(self) -> NamesAndTypes:
        """Returns all services with their types."""
        return _listed(self._rclpy_native.service_names_and_types())

    def get_node_names(self) -> List[str]:
        """Returns the names of all nodes."""
        return [name for name, _ in self._rclpy_native.node_names()]

    def get_fully_qualified_node_names(self) -> List[str]:
        """Returns the namespaces and names of all nodes."""
        return [
            f'{namespace.rstrip("/")}/{name}' for name, namespace in self._rclpy_native.node_names()
        ]

    def get_node_names_and_namespaces(self) -> List[Tuple[str, str]]:
        """Returns the names and namespaces of all nodes."""
        return list(self._rclpy_native.node_names())

    def get_node_names_and_namespaces_with_enclaves(self) -> List[Tuple[str, str, str]]:
        """Returns the names, namespaces and enclaves of all nodes; all enclaves are `/`."""
        return [(name, namespace, '/') for name, namespace in self._rclpy_native.node_names()]

    def _rclpy_expanded(self, name: str, *, is_service: bool = False) -> str:
        full = expand_topic_name(name, self.get_name(), self.get_namespace())
        validate_full_topic_name(full, is_service=is_service)
        return full

    def count_publishers(self, topic_name: str) -> int:
        """Returns the number of publishers on a topic."""
        return len(self._rclpy_native.publishers_info(self._rclpy_expanded(topic_name)))

    def count_subscribers(self, topic_name: str) -> int:
        """Returns the number of subscriptions on a topic."""
        return len(self._rclpy_native.subscriptions_info(self._rclpy_expanded(topic_name)))

    def count_clients(self, service_name: str) -> int:
        """Returns the number of clients of a service."""
        full = self._rclpy_expanded(service_name, is_service=True)
        return self._rclpy_native.count(full, 'client')

    def count_services(self, service_name: str) -> int:
        """Returns the number of servers of a service."""
        full = self._rclpy_expanded(service_name, is_service=True)
        return self._rclpy_native.count(full, 'service')

    def _rclpy_infos(self, found: List[Dict[str, Any]]) -> List[TopicEndpointInfo]:
        infos = []
        for info in found:
            text = info['topic_type_hash']
            value = bytes.fromhex(text.split('_', 1)[1]) if text else bytes(32)
            publishes = info['is_publisher']
            infos.append(TopicEndpointInfo(
                node_name=info['node_name'], node_namespace=info['node_namespace'],
                topic_type=info['topic_type'],
                topic_type_hash=TypeHash(1 if text else -1, value),
                endpoint_type=TopicEndpointTypeEnum(1 if publishes else 2),
                endpoint_gid=list(info['endpoint_gid']), qos_profile=_profile_of(info['qos']),
            ))
        return infos

    def get_publishers_info_by_topic(
        self, topic_name: str, no_mangle: bool = False
    ) -> List[TopicEndpointInfo]:
        """Returns the information about each publisher of a topic."""
        topic = self._rclpy_resolved(topic_name, no_mangle)
        return self._rclpy_infos(self._rclpy_native.publishers_info(topic))

    def get_subscriptions_info_by_topic(
        self, topic_name: str, no_mangle: bool = False
    ) -> List[TopicEndpointInfo]:
        """Returns the information about each subscription of a topic."""
        topic = self._rclpy_resolved(topic_name, no_mangle)
        return self._rclpy_infos(self._rclpy_native.subscriptions_info(topic))

    def get_clients_info_by_service(
        self, service_name: str, no_mangle: bool = False
    ) -> List[ServiceEndpointInfo]:
        """Returns the information about each client of a service, as rclpy does since Lyrical."""
        return self._rclpy_of_service(service_name, no_mangle, EndpointTypeEnum.CLIENT)

    def get_servers_info_by_service(
        self, service_name: str, no_mangle: bool = False
    ) -> List[ServiceEndpointInfo]:
        """Returns the information about each server of a service, as rclpy does since Lyrical."""
        return self._rclpy_of_service(service_name, no_mangle, EndpointTypeEnum.SERVER)

    def _rclpy_of_service(
        self, service_name: str, no_mangle: bool, endpoint_type: EndpointTypeEnum
    ) -> List[ServiceEndpointInfo]:
        if no_mangle:
            raise NotImplementedError('a service has no single name on the wire')
        self._rclpy_expanded(service_name)  # raises if the name is invalid
        service = self.resolve_service_name(service_name)
        kind = 'client' if endpoint_type is EndpointTypeEnum.CLIENT else 'service'
        return [
            ServiceEndpointInfo(
                node_name=info['node_name'], node_namespace=info['node_namespace'],
                service_type=info['topic_type'], qos_profiles=[_profile_of(info['qos'])],
                endpoint_gids=[list(info['endpoint_gid'])], endpoint_type=endpoint_type,
                endpoint_count=1,
            )
            for info in self._rclpy_native.service_info(service, kind)
        ]

    def _rclpy_resolved(self, topic_name: str, no_mangle: bool) -> str:
        if no_mangle:
            return topic_name
        self._rclpy_expanded(topic_name)  # raises if the name is invalid
        return self.resolve_topic_name(topic_name)

    def wait_for_node(self, fully_qualified_node_name: str, timeout: float) -> bool:
        """Waits until a node exists, for at most `timeout` seconds; returns whether the node
        exists."""
        wanted = f'/{fully_qualified_node_name.lstrip("/")}'
        try:
            self._rclpy_native.wait_for_graph(
                lambda: wanted in self.get_fully_qualified_node_names(), timeout, 'a node'
            )
        except (TimeoutError, extension.ShutdownError):
            return False
        return True


def _profile_of(policies: Tuple[Any, ...]) -> QoSProfile:
    """Converts the extension's policies to a profile."""
    history, depth, reliability, durability, deadline, lifespan, liveliness, lease, raw = policies

    def span(nanoseconds: int) -> Duration:
        return Duration(nanoseconds=INFINITE if nanoseconds < 0 else nanoseconds)

    return QoSProfile(
        history=history, depth=depth, reliability=reliability, durability=durability,
        deadline=span(deadline), lifespan=span(lifespan), liveliness=liveliness,
        liveliness_lease_duration=span(lease), avoid_ros_namespace_conventions=raw,
    )
