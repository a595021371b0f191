"""Events: what happens in a launch."""

from .._missing import absent
from .._modules import provide
from .._shutdown import Shutdown
from . import process
from ._classes import (
    ExecutionComplete,
    IncludeLaunchDescription,
    TimerEvent,
    matches_action,
)

__all__ = [
    'ExecutionComplete', 'IncludeLaunchDescription', 'Shutdown', 'TimerEvent', 'matches_action',
    'process',
]

provide(__name__, globals(), {
    'execution_complete': 'ExecutionComplete',
    'include_launch_description': 'IncludeLaunchDescription',
    'matchers': 'matches_action',
    'shutdown': 'Shutdown',
    'timer_event': 'TimerEvent',
})

_PROCESS = 'import it from `launch.events.process`'
__getattr__ = absent(__name__, globals(), {
    name: _PROCESS for name in process.__all__
})
