"""Profiles on their way to the extension."""

from typing import Any, Tuple

INFINITE = 2**63 - 1
"""Nanoseconds of what has no limit."""

_BEST_AVAILABLE = 2**63 - 2


def nanoseconds_of(duration: Any) -> int:
    """Zero is "not said" in rmw, and the extension takes a negative number for no limit."""
    nanoseconds = duration.nanoseconds
    return -1 if nanoseconds <= 0 or nanoseconds >= _BEST_AVAILABLE else nanoseconds


def to_tuple(profile: Any) -> Tuple[Any, ...]:
    """A profile as the extension takes it."""
    return (
        int(profile.history), profile.depth, int(profile.reliability), int(profile.durability),
        nanoseconds_of(profile.deadline), nanoseconds_of(profile.lifespan), int(profile.liveliness),
        nanoseconds_of(profile.liveliness_lease_duration), profile.avoid_ros_namespace_conventions,
    )
