"""Quality of service: policies, profiles and the check whether two profiles match."""

import warnings
from enum import Enum, IntEnum
from typing import Any, List, Optional, Tuple, Union

from . import _rclpy_pybind11 as _rclpy
from ._checked import checked
from ._qos_matches import check_compatible
from .duration import Duration

_UNSPECIFIED = Duration()
_BEST_AVAILABLE_NANOSECONDS = 9223372036854775806


class QoSPolicyKind(IntEnum):
    """The policies; the numbers are those of `rmw_qos_policy_kind_t`."""

    INVALID = 1 << 0
    DURABILITY = 1 << 1
    DEADLINE = 1 << 2
    LIVELINESS = 1 << 3
    RELIABILITY = 1 << 4
    HISTORY = 1 << 5
    LIFESPAN = 1 << 6
    DEPTH = 1 << 7
    LIVELINESS_LEASE_DURATION = 1 << 8
    AVOID_ROS_NAMESPACE_CONVENTIONS = 1 << 9


def qos_policy_name_from_kind(policy_kind: Union[QoSPolicyKind, int]) -> str:
    """Returns the name of a policy, as messages show it."""
    return QoSPolicyKind(policy_kind).name


class InvalidQoSProfileException(Exception):
    """A profile that contradicts itself."""

    def __init__(self, message: str) -> None:
        super().__init__(f'Invalid QoSProfile: {message}')


class _ShortKeys:
    """The names of an enum in lower case, in the form that a command line takes."""

    @classmethod
    def short_keys(cls: Any) -> List[str]:
        """Returns the names of all values."""
        return [name.lower() for name in cls.__members__ if not name.startswith('RMW')]

    @classmethod
    def get_from_short_key(cls: Any, name: str) -> Any:
        """Returns the value of a name in any case."""
        return cls[name.upper()].value


class QoSPolicyEnum(_ShortKeys, IntEnum):
    """The base class of policies with named values."""

    @property
    def short_key(self) -> str:
        """The name of this value in lower case."""
        for name, value in type(self).__members__.items():
            if not name.startswith('RMW') and value == self.value:
                return name.lower()
        raise AttributeError(f'failed to find value {self.value} in {type(self).__name__}')


class HistoryPolicy(QoSPolicyEnum):
    """The number of messages that are kept."""

    SYSTEM_DEFAULT = 0
    KEEP_LAST = 1
    KEEP_ALL = 2
    UNKNOWN = 3


class ReliabilityPolicy(QoSPolicyEnum):
    """Whether lost messages are sent again."""

    SYSTEM_DEFAULT = 0
    RELIABLE = 1
    BEST_EFFORT = 2
    UNKNOWN = 3
    BEST_AVAILABLE = 4


class DurabilityPolicy(QoSPolicyEnum):
    """Whether late subscriptions receive earlier messages."""

    SYSTEM_DEFAULT = 0
    TRANSIENT_LOCAL = 1
    VOLATILE = 2
    UNKNOWN = 3
    BEST_AVAILABLE = 4


class LivelinessPolicy(QoSPolicyEnum):
    """The way in which a publisher shows that it is alive."""

    SYSTEM_DEFAULT = 0
    AUTOMATIC = 1
    MANUAL_BY_TOPIC = 3
    UNKNOWN = 4
    BEST_AVAILABLE = 5


class _OldName:
    """A former name of a policy's value: returns the value, with a warning."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __set_name__(self, owner: type, name: str) -> None:
        self._old_name = name

    def __get__(self, instance: Any, policy: Any) -> Any:
        warnings.warn(
            f'{policy.__name__}.{self._old_name} is deprecated: use'
            f' {policy.__name__}.{self._name}', stacklevel=2)
        return policy[self._name]


def _keep_old_names(policy: Any, kind: str) -> None:
    for value in policy:
        if value.name != 'BEST_AVAILABLE':
            old = _OldName(value.name)
            old.__set_name__(policy, f'RMW_QOS_POLICY_{kind}_{value.name}')
            type.__setattr__(policy, old._old_name, old)


_keep_old_names(HistoryPolicy, 'HISTORY')
_keep_old_names(ReliabilityPolicy, 'RELIABILITY')
_keep_old_names(DurabilityPolicy, 'DURABILITY')
_keep_old_names(LivelinessPolicy, 'LIVELINESS')

QoSHistoryPolicy = HistoryPolicy
QoSReliabilityPolicy = ReliabilityPolicy
QoSDurabilityPolicy = DurabilityPolicy
QoSLivelinessPolicy = LivelinessPolicy

_DEPTH_ZERO = (
    "A zero depth with KEEP_LAST doesn't make sense; no data could be stored. "
    'This will be interpreted as SYSTEM_DEFAULT'
)


class QoSProfile:
    """All policies of an endpoint; policies that are not given have the default of rmw."""

    __slots__ = [
        '_history',
        '_depth',
        '_reliability',
        '_durability',
        '_lifespan',
        '_deadline',
        '_liveliness',
        '_liveliness_lease_duration',
        '_avoid_ros_namespace_conventions',
    ]

    def __init__(
        self,
        history: Union[HistoryPolicy, int, None] = None,
        depth: Optional[int] = None,
        reliability: Union[ReliabilityPolicy, int, None] = None,
        durability: Union[DurabilityPolicy, int, None] = None,
        lifespan: Optional[Duration] = None,
        deadline: Optional[Duration] = None,
        liveliness: Union[LivelinessPolicy, int, None] = None,
        liveliness_lease_duration: Optional[Duration] = None,
        avoid_ros_namespace_conventions: Optional[bool] = None,
    ) -> None:
        if history is None and depth is None:
            raise InvalidQoSProfileException('History and/or depth settings are required.')
        self.history = HistoryPolicy.KEEP_LAST if history is None else history
        if self.history == HistoryPolicy.KEEP_LAST and depth is None:
            raise InvalidQoSProfileException('History set to KEEP_LAST without a depth setting.')
        self.depth = 10 if depth is None else depth
        self.reliability = ReliabilityPolicy.RELIABLE if reliability is None else reliability
        self.durability = DurabilityPolicy.VOLATILE if durability is None else durability
        self.lifespan = _UNSPECIFIED if lifespan is None else lifespan
        self.deadline = _UNSPECIFIED if deadline is None else deadline
        self.liveliness = LivelinessPolicy.SYSTEM_DEFAULT if liveliness is None else liveliness
        self.liveliness_lease_duration = (
            _UNSPECIFIED if liveliness_lease_duration is None else liveliness_lease_duration
        )
        self.avoid_ros_namespace_conventions = (
            False if avoid_ros_namespace_conventions is None else avoid_ros_namespace_conventions
        )

    history = checked(
        'history', int, 'The number of messages that are kept, a `HistoryPolicy`.', HistoryPolicy)
    reliability = checked(
        'reliability', int, 'Whether lost messages are sent again, a `ReliabilityPolicy`.',
        ReliabilityPolicy)
    durability = checked(
        'durability', int, 'The messages that late subscriptions receive, a `DurabilityPolicy`.',
        DurabilityPolicy)
    lifespan = checked(
        'lifespan', Duration, 'The time after which a message is no longer delivered.')
    deadline = checked(
        'deadline', Duration,
        'The maximum pause between two messages; a longer pause counts as a missed deadline.')
    liveliness = checked(
        'liveliness', int,
        'The way in which the publisher shows that it is alive, a `LivelinessPolicy`.',
        LivelinessPolicy)
    liveliness_lease_duration = checked(
        'liveliness_lease_duration', Duration,
        'The time after which a silent publisher counts as dead.')
    avoid_ros_namespace_conventions = checked(
        'avoid_ros_namespace_conventions', bool,
        'Whether the engine uses the name without the prefix of ROS.')

    @property
    def depth(self) -> int:
        """The number of messages that KEEP_LAST keeps."""
        return self._depth

    @depth.setter
    def depth(self, value: int) -> None:
        assert isinstance(value, int)
        if self.history == HistoryPolicy.KEEP_LAST and value == 0:
            warnings.warn(_DEPTH_ZERO)
        self._depth = value

    def to_dict(self) -> dict:
        """Returns the policies by name, in the form that the constructor takes."""
        return {slot[1:]: getattr(self, slot) for slot in QoSProfile.__slots__}

    def get_c_qos_profile(self) -> 'QoSProfile':
        """Returns the profile itself: there is no C structure behind it."""
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, QoSProfile):
            return False
        return all(getattr(self, slot) == getattr(other, slot) for slot in QoSProfile.__slots__)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, slot) for slot in QoSProfile.__slots__))

    def __str__(self) -> str:
        policies = ', '.join(f'{slot[1:]}={getattr(self, slot)}' for slot in QoSProfile.__slots__)
        return f'{type(self).__name__}({policies})'


DeadlineBestAvailable = Duration(nanoseconds=_BEST_AVAILABLE_NANOSECONDS)
LivelinessLeaseDurationeBestAvailable = Duration(nanoseconds=_BEST_AVAILABLE_NANOSECONDS)

# The profiles of rmw/qos_profiles.h and rcl_action/default_qos.h.
qos_profile_unknown = QoSProfile(
    history=HistoryPolicy.UNKNOWN,
    depth=0,
    reliability=ReliabilityPolicy.UNKNOWN,
    durability=DurabilityPolicy.UNKNOWN,
    liveliness=LivelinessPolicy.UNKNOWN,
)
qos_profile_default = QoSProfile(depth=10)
qos_profile_system_default = QoSProfile(
    history=HistoryPolicy.SYSTEM_DEFAULT,
    depth=0,
    reliability=ReliabilityPolicy.SYSTEM_DEFAULT,
    durability=DurabilityPolicy.SYSTEM_DEFAULT,
)
qos_profile_sensor_data = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
qos_profile_services_default = QoSProfile(depth=10)
qos_profile_parameters = QoSProfile(depth=1000)
qos_profile_parameter_events = QoSProfile(depth=1000)
qos_profile_best_available = QoSProfile(
    depth=10,
    reliability=ReliabilityPolicy.BEST_AVAILABLE,
    durability=DurabilityPolicy.BEST_AVAILABLE,
    deadline=DeadlineBestAvailable,
    liveliness=LivelinessPolicy.BEST_AVAILABLE,
    liveliness_lease_duration=LivelinessLeaseDurationeBestAvailable,
)
qos_profile_action_status_default = QoSProfile(
    depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
qos_profile_rosout_default = QoSProfile(
    depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL, lifespan=Duration(seconds=10)
)


class QoSPresetProfiles(_ShortKeys, Enum):
    """The profiles by their common names."""

    UNKNOWN = qos_profile_unknown
    DEFAULT = qos_profile_default
    SYSTEM_DEFAULT = qos_profile_system_default
    SENSOR_DATA = qos_profile_sensor_data
    SERVICES_DEFAULT = qos_profile_services_default
    PARAMETERS = qos_profile_parameters
    PARAMETER_EVENTS = qos_profile_parameter_events
    ACTION_STATUS_DEFAULT = qos_profile_action_status_default
    BEST_AVAILABLE = qos_profile_best_available
    ROSOUT_DEFAULT = qos_profile_rosout_default


class QoSCompatibility(IntEnum):
    """The answer of `qos_check_compatible`."""

    OK = 0
    WARNING = 1
    ERROR = 2


def qos_check_compatible(
    publisher_qos: QoSProfile, subscription_qos: QoSProfile
) -> Tuple[QoSCompatibility, str]:
    """Returns whether a publisher and a subscription match, and the reasons if they do not or may
    not."""
    answer, reason = check_compatible(publisher_qos, subscription_qos)
    return QoSCompatibility(answer), reason


