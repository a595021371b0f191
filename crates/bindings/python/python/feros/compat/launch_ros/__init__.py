"""Actions on nodes with the names of stock `launch_ros`, which `feros launch` evaluates."""

from launch._missing import absent

from . import actions, descriptions, event_handlers, events, parameter_descriptions, substitutions

__all__ = [
    'actions', 'descriptions', 'event_handlers', 'events', 'parameter_descriptions',
    'substitutions',
]

_NODE = 'Feros does not need a node to launch; write an `ExecuteProcess` with `feros service call`'
__getattr__ = absent(__name__, globals(), {
    'ros_adapters': _NODE,
    'get_ros_node': _NODE,
    **{name: 'import it from `launch_ros.actions`' for name in actions.__all__},
})
