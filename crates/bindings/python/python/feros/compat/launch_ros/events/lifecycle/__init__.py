"""Events of managed nodes."""

from launch._missing import absent
from launch._modules import provide

from ..matchers import matches_node_name
from ._classes import ChangeState, StateTransition

__all__ = ['ChangeState', 'StateTransition', 'matches_node_name']

provide(__name__, globals(), {
    'change_state': 'ChangeState',
    'lifecycle_node_matchers': 'matches_node_name',
    'state_transition': 'StateTransition',
})

__getattr__ = absent(__name__, globals(), {
    'matches_action': 'import it from `launch.events`',
})
