"""Policies that parameters may override, if an endpoint allows it."""

from typing import Any, Callable, Iterable, List, Optional

from rcl_interfaces.msg import ParameterDescriptor
from rcl_interfaces.msg import SetParametersResult as QosCallbackResult

from ._reexports import reexports
from .duration import Duration
from .exceptions import ParameterAlreadyDeclaredException
from .qos import (
    DurabilityPolicy, HistoryPolicy, LivelinessPolicy, QoSPolicyKind, QoSProfile,
    ReliabilityPolicy,
)


class InvalidQosOverridesError(Exception):
    """The callback refuses the policies."""


QosCallbackType = Callable[[QoSProfile], QosCallbackResult]

_NAMED = {
    QoSPolicyKind.DURABILITY: DurabilityPolicy, QoSPolicyKind.HISTORY: HistoryPolicy,
    QoSPolicyKind.LIVELINESS: LivelinessPolicy, QoSPolicyKind.RELIABILITY: ReliabilityPolicy,
}


class QoSOverridingOptions:
    """The policies that may be overridden, and the callback that checks the result."""

    def __init__(
        self,
        policy_kinds: Iterable[QoSPolicyKind],
        *,
        callback: Optional[QosCallbackType] = None,
        entity_id: Optional[str] = None,
    ) -> None:
        self._policy_kinds = policy_kinds
        self._callback = callback
        self._entity_id = entity_id

    @property
    def policy_kinds(self) -> Iterable[QoSPolicyKind]:
        """The kinds of policies that may be overridden."""
        return self._policy_kinds

    @property
    def callback(self) -> Optional[QosCallbackType]:
        """The callback that checks the result."""
        return self._callback

    @property
    def entity_id(self) -> Optional[str]:
        """Distinguishes endpoints of a node on the same topic."""
        return self._entity_id

    @classmethod
    def with_default_policies(
        cls, *, callback: Optional[QosCallbackType] = None, entity_id: Optional[str] = None
    ) -> 'QoSOverridingOptions':
        """Allows overrides of the history, the depth and the reliability."""
        kinds = [QoSPolicyKind.HISTORY, QoSPolicyKind.DEPTH, QoSPolicyKind.RELIABILITY]
        return cls(kinds, callback=callback, entity_id=entity_id)


def declare_qos_parameters(
    kind: str, node: Any, topic_name: str, qos: QoSProfile, options: QoSOverridingOptions
) -> None:
    """Declares a parameter for each policy, and copies the values that have been set into `qos`.

    `kind` is `publisher` or `subscription`. Raises `InvalidQosOverridesError` if the callback
    refuses the policies.
    """
    suffix = f'_{options.entity_id}' if options.entity_id else ''
    prefix = f'qos_overrides.{topic_name}.{kind}{suffix}'
    for policy in _allowed(kind):
        if policy not in options.policy_kinds:
            continue
        name = f'{prefix}.{policy.name.lower()}'
        descriptor = ParameterDescriptor(
            description=f'{policy.name.lower()} of the {kind} of {topic_name}', read_only=True)
        try:
            value = _get_qos_policy_parameter(qos, policy)
            parameter = node.declare_parameter(name, value, descriptor)
        except ParameterAlreadyDeclaredException:
            parameter = node.get_parameter(name)
        _override(qos, policy, parameter.value)
    if options.callback is not None:
        result = options.callback(qos)
        if not result.successful:
            raise InvalidQosOverridesError(
                f"{result.reason}: qos profile {qos} was refused by the callback")


def _declare_qos_parameters(
    entity_type: type, node: Any, topic_name: str, qos: QoSProfile, options: QoSOverridingOptions
) -> None:
    """Like `declare_qos_parameters`, for the class of an endpoint."""
    declare_qos_parameters(entity_type.__name__.lower(), node, topic_name, qos, options)


def _allowed(kind: str) -> List[QoSPolicyKind]:
    kinds = [k for k in QoSPolicyKind if k is not QoSPolicyKind.INVALID]
    if kind == 'subscription':
        kinds.remove(QoSPolicyKind.LIFESPAN)
    return kinds


def _get_qos_policy_parameter(qos: QoSProfile, policy: QoSPolicyKind) -> Any:
    value = getattr(qos, policy.name.lower())
    if policy in _NAMED:
        return _NAMED[policy](value).short_key
    return value.nanoseconds if isinstance(value, Duration) else value


def _override(qos: QoSProfile, policy: QoSPolicyKind, value: Any) -> None:
    name = policy.name.lower()
    if policy in _NAMED:
        value = _NAMED[policy].get_from_short_key(value)
    elif isinstance(getattr(qos, name), Duration):
        value = Duration(nanoseconds=value)
    setattr(qos, name, value)


__getattr__ = reexports(__name__)
