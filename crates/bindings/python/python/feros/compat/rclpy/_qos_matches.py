"""Whether the profiles of a publisher and a subscription match."""

from typing import Any, Tuple

from ._native.qos import nanoseconds_of


def check_compatible(publisher: Any, subscription: Any) -> Tuple[int, str]:
    """Returns 0 for a match, 1 for a doubt or 2 for a mismatch, with the reasons."""
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
        offered = nanoseconds_of(getattr(publisher, field))
        wanted = nanoseconds_of(getattr(subscription, field))
        if wanted < 0:
            continue
        if offered < 0:
            errors.append(f'Subscription has a {said}, but publisher does not;')
        elif offered > wanted:
            errors.append(f"Subscription's {said} is less than publisher's;")
