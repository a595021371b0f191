from enum import IntEnum

class History(IntEnum):
    SYSTEM_DEFAULT = 0
    KEEP_LAST = 1
    KEEP_ALL = 2
    UNKNOWN = 3

class Reliability(IntEnum):
    SYSTEM_DEFAULT = 0
    RELIABLE = 1
    BEST_EFFORT = 2
    UNKNOWN = 3
    BEST_AVAILABLE = 4

class Durability(IntEnum):
    SYSTEM_DEFAULT = 0
    TRANSIENT_LOCAL = 1
    VOLATILE = 2
    UNKNOWN = 3
    BEST_AVAILABLE = 4

class Liveliness(IntEnum):
    SYSTEM_DEFAULT = 0
    AUTOMATIC = 1
    MANUAL_BY_TOPIC = 3
    UNKNOWN = 4
    BEST_AVAILABLE = 5

class QoSProfile:
    depth: int
    history: History
    reliability: Reliability
    durability: Durability
    deadline: float | None
    lifespan: float | None
    liveliness: Liveliness
    liveliness_lease_duration: float | None
    avoid_ros_namespace_conventions: bool
    def __init__(
        self,
        depth: int = ...,
        *,
        history: History = ...,
        reliability: Reliability = ...,
        durability: Durability = ...,
        deadline: float | None = ...,
        lifespan: float | None = ...,
        liveliness: Liveliness = ...,
        liveliness_lease_duration: float | None = ...,
        avoid_ros_namespace_conventions: bool = ...,
    ) -> None: ...
    @classmethod
    def sensor_data(cls) -> QoSProfile: ...
    @classmethod
    def latched(cls, depth: int = ...) -> QoSProfile: ...
    @classmethod
    def keep_all(cls) -> QoSProfile: ...
    @classmethod
    def best_available(cls) -> QoSProfile: ...
