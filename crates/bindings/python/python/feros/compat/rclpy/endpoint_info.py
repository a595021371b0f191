"""The information about an endpoint of the graph, under the name that the module has since ROS 2
Lyrical, with the clients and servers of services."""

from enum import IntEnum
from typing import Any, List, Optional

from .qos import QoSProfile
from .topic_endpoint_info import TopicEndpointInfo, _checked, _described, _dotted
from .type_hash import TypeHash

__all__ = ['EndpointTypeEnum', 'ServiceEndpointInfo', 'TopicEndpointInfo']


class EndpointTypeEnum(IntEnum):
    """The kind of an endpoint."""

    INVALID = 0
    PUBLISHER = 1
    SUBSCRIPTION = 2
    CLIENT = 3
    SERVER = 4


class ServiceEndpointInfo:
    """Node, type, kind, gids and policies of a client or server.

    In Feros, each is one endpoint with one gid and one profile. There is no hash of the service's
    type, since endpoints do not announce it.
    """

    __slots__ = [
        '_node_name', '_node_namespace', '_service_type', '_service_type_hash', '_qos_profiles',
        '_endpoint_gids', '_endpoint_type', '_endpoint_count',
    ]

    def __init__(
        self,
        node_name: str = '',
        node_namespace: str = '',
        service_type: str = '',
        service_type_hash: Any = None,
        qos_profiles: Optional[List[Any]] = None,
        endpoint_gids: Optional[List[List[int]]] = None,
        endpoint_type: Any = EndpointTypeEnum.INVALID,
        endpoint_count: int = 0,
    ) -> None:
        self.node_name = node_name
        self.node_namespace = node_namespace
        self.service_type = service_type
        self.service_type_hash = TypeHash() if service_type_hash is None else service_type_hash
        self.qos_profiles = [] if qos_profiles is None else qos_profiles
        self.endpoint_gids = [] if endpoint_gids is None else endpoint_gids
        self.endpoint_type = endpoint_type
        self.endpoint_count = endpoint_count

    node_name = _checked('node_name', str)
    node_namespace = _checked('node_namespace', str)
    service_type = _checked('service_type', str)
    service_type_hash = _checked('service_type_hash', TypeHash)
    qos_profiles = _checked('qos_profiles', list, QoSProfile)
    endpoint_gids = _checked('endpoint_gids', list, list)
    endpoint_type = _checked('endpoint_type', EndpointTypeEnum)
    endpoint_count = _checked('endpoint_count', int)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ServiceEndpointInfo):
            return False
        return all(getattr(self, slot) == getattr(other, slot) for slot in self.__slots__)

    def __str__(self) -> str:
        lines = [
            f'Node name: {self.node_name}', f'Node namespace: {self.node_namespace}',
            f'Service type: {self.service_type}', f'Service type hash: {self.service_type_hash}',
            f'Endpoint type: {self.endpoint_type.name}', f'Endpoint count: {self.endpoint_count}',
        ]
        for gid, qos in zip(self.endpoint_gids, self.qos_profiles):
            lines += [f'GID: {_dotted(gid)}', 'QoS profile:', *_described(qos)]
        return '\n'.join(lines)
