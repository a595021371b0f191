"""Events of nodes."""

from launch._missing import absent

from . import lifecycle
from .matchers import matches_node_name

__all__ = ['lifecycle', 'matches_node_name']

_LIFECYCLE = 'import it from `launch_ros.events.lifecycle`'
__getattr__ = absent(__name__, globals(), {
    'ChangeState': _LIFECYCLE,
    'StateTransition': _LIFECYCLE,
})
