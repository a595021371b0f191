"""Handlers of events."""

from .._missing import absent
from .._modules import provide
from ..event_handler import BaseEventHandler, EventHandler  # noqa: F401
from ._classes import (
    OnActionEventBase,
    OnExecutionComplete,
    OnIncludeLaunchDescription,
    OnProcessExit,
    OnProcessIO,
    OnProcessStart,
    OnShutdown,
    event_named,
)

__all__ = [
    'OnActionEventBase', 'OnExecutionComplete', 'OnIncludeLaunchDescription', 'OnProcessExit',
    'OnProcessIO', 'OnProcessStart', 'OnShutdown', 'event_named',
]

provide(__name__, globals(), {
    'event_named': 'event_named',
    'on_action_event_base': 'OnActionEventBase',
    'on_execution_complete': 'OnExecutionComplete',
    'on_include_launch_description': 'OnIncludeLaunchDescription',
    'on_process_exit': 'OnProcessExit',
    'on_process_io': 'OnProcessIO',
    'on_process_start': 'OnProcessStart',
    'on_shutdown': 'OnShutdown',
})

__getattr__ = absent(__name__, globals(), {
    'OnStateTransition': 'import it from `launch_ros.event_handlers`',
    'OnProcessOutput': 'write `OnProcessIO`',
})
