"""The information about a publisher or subscription of the graph."""

from enum import IntEnum
from typing import Any, List, Optional

from . import _rclpy_pybind11 as _rclpy
from ._reexports import reexports
from .qos import QoSPresetProfiles, QoSProfile
from .type_hash import TypeHash


class TopicEndpointTypeEnum(IntEnum):
    """The kind of an endpoint."""

    INVALID = 0
    PUBLISHER = 1
    SUBSCRIPTION = 2


def _checked(name: str, kind: type, element: type = int) -> property:
    """A field of one type. A list has elements of one type, too. Enums may be given as numbers,
    profiles and hashes as dicts."""
    slot = f'_{name}'

    def get(self: Any) -> Any:
        return getattr(self, slot)

    def put(self: Any, value: Any) -> None:
        if kind is QoSProfile and isinstance(value, dict):
            value = QoSProfile(**value)
        elif kind is TypeHash and isinstance(value, dict):
            value = TypeHash(**value)
        elif issubclass(kind, IntEnum) and type(value) is int:
            value = kind(value)
        assert isinstance(value, kind)
        if kind is list and element is QoSProfile:
            value = [QoSProfile(**one) if isinstance(one, dict) else one for one in value]
        assert kind is not list or all(isinstance(one, element) for one in value)
        setattr(self, slot, value)

    return property(get, put, doc=f'The {name.replace("_", " ")}.')


def _dotted(gid: List[int]) -> str:
    return '.'.join(f'{byte:02x}' for byte in gid)


def _described(qos: QoSProfile) -> List[str]:
    depth = f' ({qos.depth})' if qos.history.name == 'KEEP_LAST' else ''
    return [
        f'  Reliability: {qos.reliability.name}',
        f'  History (Depth): {qos.history.name}{depth}',
        f'  Durability: {qos.durability.name}', f'  Lifespan: {qos.lifespan}',
        f'  Deadline: {qos.deadline}', f'  Liveliness: {qos.liveliness.name}',
        f'  Liveliness lease duration: {qos.liveliness_lease_duration}',
    ]


class TopicEndpointInfo:
    """Node, type, kind, gid and policies of an endpoint."""

    __slots__ = [
        '_node_name', '_node_namespace', '_topic_type', '_topic_type_hash', '_endpoint_type',
        '_endpoint_gid', '_qos_profile',
    ]

    def __init__(
        self,
        node_name: str = '',
        node_namespace: str = '',
        topic_type: str = '',
        topic_type_hash: Any = None,
        endpoint_type: Any = TopicEndpointTypeEnum.INVALID,
        endpoint_gid: Optional[List[int]] = None,
        qos_profile: Any = QoSPresetProfiles.UNKNOWN.value,
    ) -> None:
        self.node_name = node_name
        self.node_namespace = node_namespace
        self.topic_type = topic_type
        self.topic_type_hash = TypeHash() if topic_type_hash is None else topic_type_hash
        self.endpoint_type = endpoint_type
        self.endpoint_gid = [] if endpoint_gid is None else endpoint_gid
        self.qos_profile = qos_profile

    node_name = _checked('node_name', str)
    node_namespace = _checked('node_namespace', str)
    topic_type = _checked('topic_type', str)
    topic_type_hash = _checked('topic_type_hash', TypeHash)
    endpoint_type = _checked('endpoint_type', TopicEndpointTypeEnum)
    endpoint_gid = _checked('endpoint_gid', list)
    qos_profile = _checked('qos_profile', QoSProfile)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicEndpointInfo):
            return False
        return all(getattr(self, slot) == getattr(other, slot) for slot in self.__slots__)

    def __str__(self) -> str:
        lines = [
            f'Node name: {self.node_name}', f'Node namespace: {self.node_namespace}',
            f'Topic type: {self.topic_type}', f'Topic type hash: {self.topic_type_hash}',
            f'Endpoint type: {self.endpoint_type.name}', f'GID: {_dotted(self.endpoint_gid)}',
            'QoS profile:',
        ]
        return '\n'.join(lines + _described(self.qos_profile))


__getattr__ = reexports(__name__)
