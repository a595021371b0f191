"""Profiles on their way to the extension and back, and whether two of them match."""

from typing import Any, Tuple

_INFINITE = 2**63 - 1
_BEST_AVAILABLE = 2**63 - 2


def _nanoseconds(duration: Any) -> int:
    """Zero is "not said" in rmw, and the extension takes a negative number for no limit."""
    nanoseconds = duration.nanoseconds
    return -1 if nanoseconds <= 0 or nanoseconds >= _BEST_AVAILABLE else nanoseconds


def to_tuple(profile: Any) -> Tuple[Any, ...]:
    """A profile as the extension takes it."""
    return (
        int(profile.history), profile.depth, int(profile.reliability), int(profile.durability),
        _nanoseconds(profile.deadline), _nanoseconds(profile.lifespan), int(profile.liveliness),
        _nanoseconds(profile.liveliness_lease_duration), profile.avoid_ros_namespace_conventions,
    )


def from_tuple(policies: Tuple[Any, ...]) -> Any:
    """The profile of what the extension tells."""
    from ..duration import Duration
    from ..qos import QoSProfile

    history, depth, reliability, durability, deadline, lifespan, liveliness, lease, raw = policies

    def span(nanoseconds: int) -> Duration:
        return Duration(nanoseconds=_INFINITE if nanoseconds < 0 else nanoseconds)

    return QoSProfile(
        history=history, depth=depth, reliability=reliability, durability=durability,
        deadline=span(deadline), lifespan=span(lifespan), liveliness=liveliness,
        liveliness_lease_duration=span(lease), avoid_ros_namespace_conventions=raw,
    )


def check_compatible(publisher: Any, subscription: Any) -> Tuple[int, str]:
    """0, 1 or 2 for a match, a doubt and a mismatch, and the reasons."""
    errors, warnings = [], []

    def unsure(value: Any) -> bool:
        return value.name in ('SYSTEM_DEFAULT', 'UNKNOWN')

    offered, wanted = publisher.reliability, subscription.reliability
    if offered.name == 'BEST_EFFORT' and wanted.name == 'RELIABLE':
        errors.append('Best effort publisher and reliable subscription;')
    elif (unsure(offered) and wanted.name != 'BEST_EFFORT') or (
        unsure(wanted) and offered.name == 'BEST_EFFORT'
    ):
        warnings.append(f'Reliability of publisher is {offered.name} and of subscription'
                        f' is {wanted.name};')
    offered, wanted = publisher.durability, subscription.durability
    if offered.name == 'VOLATILE' and wanted.name == 'TRANSIENT_LOCAL':
        errors.append('Volatile publisher and transient local subscription;')
    elif (unsure(offered) and wanted.name != 'VOLATILE') or (
        unsure(wanted) and offered.name == 'VOLATILE'
    ):
        warnings.append(f'Durability of publisher is {offered.name} and of subscription'
                        f' is {wanted.name};')
    _check_durations(publisher, subscription, errors)
    offered, wanted = publisher.liveliness, subscription.liveliness
    if offered.name == 'AUTOMATIC' and wanted.name == 'MANUAL_BY_TOPIC':
        errors.append("Publisher's liveliness is automatic and subscription's is manual by topic;")
    elif unsure(offered) and wanted.name == 'MANUAL_BY_TOPIC' or (
        unsure(wanted) and offered.name == 'AUTOMATIC'
    ):
        warnings.append(f'Liveliness of publisher is {offered.name} and of subscription'
                        f' is {wanted.name};')
    if errors:
        return 2, ''.join(f'ERROR: {error}' for error in errors)
    if warnings:
        return 1, ''.join(f'WARNING: {warning}' for warning in warnings)
    return 0, ''


def _check_durations(publisher: Any, subscription: Any, errors: list) -> None:
    for field, said in (('deadline', 'deadline'), ('liveliness_lease_duration', 'lease duration')):
        offered = _nanoseconds(getattr(publisher, field))
        wanted = _nanoseconds(getattr(subscription, field))
        if wanted < 0:
            continue
        if offered < 0:
            errors.append(f'Subscription has a {said}, but publisher does not;')
        elif offered > wanted:
            errors.append(f"Subscription's {said} is less than publisher's;")
