"""Quality of service policies, with the names and numbers of `rmw`."""

from enum import IntEnum


class History(IntEnum):
    """The number of messages that are kept."""

    SYSTEM_DEFAULT = 0
    KEEP_LAST = 1
    KEEP_ALL = 2
    UNKNOWN = 3


class Reliability(IntEnum):
    """Whether lost messages are sent again."""

    SYSTEM_DEFAULT = 0
    RELIABLE = 1
    BEST_EFFORT = 2
    UNKNOWN = 3
    BEST_AVAILABLE = 4


class Durability(IntEnum):
    """Whether late subscriptions get earlier messages."""

    SYSTEM_DEFAULT = 0
    TRANSIENT_LOCAL = 1
    VOLATILE = 2
    UNKNOWN = 3
    BEST_AVAILABLE = 4


class Liveliness(IntEnum):
    """The way in which a publisher shows that it is alive."""

    SYSTEM_DEFAULT = 0
    AUTOMATIC = 1
    MANUAL_BY_TOPIC = 3
    UNKNOWN = 4
    BEST_AVAILABLE = 5


class QoSProfile:
    """The policies of one endpoint. Durations are in seconds; `None` means no limit."""

    __slots__ = (
        "depth", "history", "reliability", "durability", "deadline", "lifespan", "liveliness",
        "liveliness_lease_duration", "avoid_ros_namespace_conventions",
    )

    def __init__(
        self,
        depth: int = 10,
        *,
        history: History = History.KEEP_LAST,
        reliability: Reliability = Reliability.RELIABLE,
        durability: Durability = Durability.VOLATILE,
        deadline: float | None = None,
        lifespan: float | None = None,
        liveliness: Liveliness = Liveliness.SYSTEM_DEFAULT,
        liveliness_lease_duration: float | None = None,
        avoid_ros_namespace_conventions: bool = False,
    ) -> None:
        self.depth = depth
        self.history = history
        self.reliability = reliability
        self.durability = durability
        self.deadline = deadline
        self.lifespan = lifespan
        self.liveliness = liveliness
        self.liveliness_lease_duration = liveliness_lease_duration
        self.avoid_ros_namespace_conventions = avoid_ros_namespace_conventions

    @classmethod
    def sensor_data(cls) -> "QoSProfile":
        """Keeps the last 5 messages, with best effort."""
        return cls(5, reliability=Reliability.BEST_EFFORT)

    @classmethod
    def latched(cls, depth: int = 1) -> "QoSProfile":
        """Is reliable, and sends the last messages to late subscriptions."""
        return cls(depth, durability=Durability.TRANSIENT_LOCAL)

    @classmethod
    def keep_all(cls) -> "QoSProfile":
        """Keeps all messages until they are taken."""
        return cls(0, history=History.KEEP_ALL)

    @classmethod
    def best_available(cls) -> "QoSProfile":
        """Chooses the policies that match the most existing endpoints."""
        return cls(
            10,
            reliability=Reliability.BEST_AVAILABLE,
            durability=Durability.BEST_AVAILABLE,
            liveliness=Liveliness.BEST_AVAILABLE,
        )

    def _tuple(self):
        def nanos(seconds):
            return -1 if seconds is None else round(seconds * 1_000_000_000)

        return (
            int(self.history), int(self.depth), int(self.reliability), int(self.durability),
            nanos(self.deadline), nanos(self.lifespan), int(self.liveliness),
            nanos(self.liveliness_lease_duration), bool(self.avoid_ros_namespace_conventions),
        )

    @classmethod
    def _of(cls, values):
        def seconds(nanos):
            return None if nanos < 0 else nanos / 1_000_000_000

        history, depth, reliability, durability, deadline, lifespan, liveliness, lease, avoid = (
            values
        )
        return cls(
            depth,
            history=History(history),
            reliability=Reliability(reliability),
            durability=Durability(durability),
            deadline=seconds(deadline),
            lifespan=seconds(lifespan),
            liveliness=Liveliness(liveliness),
            liveliness_lease_duration=seconds(lease),
            avoid_ros_namespace_conventions=avoid,
        )

    def __eq__(self, other):
        return isinstance(other, QoSProfile) and self._tuple() == other._tuple()

    def __hash__(self):
        return hash(self._tuple())

    def __repr__(self):
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"QoSProfile({fields})"


def as_tuple(qos):
    """Returns the numbers of a profile. If `qos` is a number, this is the default profile with that
    depth."""
    if isinstance(qos, bool) or not isinstance(qos, (int, QoSProfile)):
        if hasattr(qos, "_tuple"):
            return qos._tuple()
        raise TypeError(f"expected a QoSProfile or a depth, not {qos!r}")
    if isinstance(qos, int):
        if qos < 0:
            raise ValueError(f"the depth of a QoSProfile cannot be {qos}")
        return QoSProfile(qos)._tuple()
    return qos._tuple()
