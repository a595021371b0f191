"""Converts QoS profiles for the extension."""

from typing import Any, Tuple

INFINITE = 2**63 - 1
"""The nanoseconds of an infinite duration."""

_BEST_AVAILABLE = 2**63 - 2


def nanoseconds_of(duration: Any) -> int:
    """Converts a duration for the extension. In rmw, zero means unspecified; in the extension, a
    negative number means no limit."""
    nanoseconds = duration.nanoseconds
    return -1 if nanoseconds <= 0 or nanoseconds >= _BEST_AVAILABLE else nanoseconds


def to_tuple(profile: Any) -> Tuple[Any, ...]:
    """Converts a profile to the tuple that the extension takes."""
    return (
        int(profile.history), profile.depth, int(profile.reliability), int(profile.durability),
        nanoseconds_of(profile.deadline), nanoseconds_of(profile.lifespan), int(profile.liveliness),
        nanoseconds_of(profile.liveliness_lease_duration), profile.avoid_ros_namespace_conventions,
    )
