"""Events of managed nodes that `feros launch` tells about, as objects."""

from types import SimpleNamespace
from typing import Any, Dict

from launch._objects import object_of

from .lifecycle import StateTransition


def received(data: Dict[str, Any]) -> StateTransition:
    """Returns the event that data describe."""
    def named(name: str) -> SimpleNamespace:
        return SimpleNamespace(id=0, label=data.get(name) or '')

    message = SimpleNamespace(
        timestamp=data.get('timestamp', 0), transition=named('transition'),
        start_state=named('start'), goal_state=named('goal'))
    # A handler may watch all nodes, also those of other launches.
    action = object_of(data['action']) if data.get('action') else None
    return StateTransition(action=action, msg=message)
