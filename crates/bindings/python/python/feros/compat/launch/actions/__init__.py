"""Actions: what a launch does."""

from .._declarations import DeclareBooleanLaunchArgument, DeclareLaunchArgument
from .._missing import absent
from .._modules import provide
from ._environment import (
    AppendEnvironmentVariable,
    PopEnvironment,
    PushEnvironment,
    ResetEnvironment,
    SetEnvironmentVariable,
    UnsetEnvironmentVariable,
)
from ._events import EmitEvent, RegisterEventHandler, Shutdown, UnregisterEventHandler
from ._include import IncludeLaunchDescription
from ._log import Log, LogDebug, LogError, LogInfo, LogWarning
from ._process import ExecuteLocal, ExecuteProcess
from ._structure import (
    ForEach,
    ForLoop,
    GroupAction,
    OpaqueCoroutine,
    OpaqueFunction,
    TimerAction,
)
from ._variables import (
    PopLaunchConfigurations,
    PushLaunchConfigurations,
    ResetLaunchConfigurations,
    SetLaunchConfiguration,
    UnsetLaunchConfiguration,
)

__all__ = [
    'AppendEnvironmentVariable', 'DeclareBooleanLaunchArgument', 'DeclareLaunchArgument',
    'EmitEvent', 'ExecuteLocal', 'ExecuteProcess', 'ForEach', 'ForLoop', 'GroupAction',
    'IncludeLaunchDescription', 'Log', 'LogDebug', 'LogError', 'LogInfo', 'LogWarning',
    'OpaqueCoroutine', 'OpaqueFunction', 'PopEnvironment', 'PopLaunchConfigurations',
    'PushEnvironment', 'PushLaunchConfigurations', 'RegisterEventHandler', 'ResetEnvironment',
    'ResetLaunchConfigurations', 'SetEnvironmentVariable', 'SetLaunchConfiguration', 'Shutdown',
    'TimerAction', 'UnregisterEventHandler', 'UnsetEnvironmentVariable',
    'UnsetLaunchConfiguration',
]

provide(__name__, globals(), {
    'append_environment_variable': 'AppendEnvironmentVariable',
    'declare_boolean_launch_argument': 'DeclareBooleanLaunchArgument',
    'declare_launch_argument': 'DeclareLaunchArgument',
    'emit_event': 'EmitEvent',
    'execute_local': 'ExecuteLocal',
    'execute_process': 'ExecuteProcess',
    'for_loop': 'ForEach ForLoop',
    'group_action': 'GroupAction',
    'include_launch_description': 'IncludeLaunchDescription',
    'log': 'Log LogDebug LogError LogInfo LogWarning',
    'log_info': 'LogInfo',
    'opaque_coroutine': 'OpaqueCoroutine',
    'opaque_function': 'OpaqueFunction',
    'pop_environment': 'PopEnvironment',
    'pop_launch_configurations': 'PopLaunchConfigurations',
    'push_environment': 'PushEnvironment',
    'push_launch_configurations': 'PushLaunchConfigurations',
    'register_event_handler': 'RegisterEventHandler',
    'reset_environment': 'ResetEnvironment',
    'reset_launch_configurations': 'ResetLaunchConfigurations',
    'set_environment_variable': 'SetEnvironmentVariable',
    'set_launch_configuration': 'SetLaunchConfiguration',
    'shutdown_action': 'Shutdown',
    'timer_action': 'TimerAction',
    'unregister_event_handler': 'UnregisterEventHandler',
    'unset_environment_variable': 'UnsetEnvironmentVariable',
    'unset_launch_configuration': 'UnsetLaunchConfiguration',
})

_ROS = 'import it from `launch_ros.actions`'
__getattr__ = absent(__name__, globals(), {
    **{name: _ROS for name in (
        'ComposableNodeContainer', 'LifecycleNode', 'LoadComposableNodes', 'Node',
        'PushROSNamespace', 'PushRosNamespace', 'SetParameter', 'SetParametersFromFile',
        'SetRemap', 'SetUseSimTime')},
    'ScopedIncludeLaunchDescription':
        'write `GroupAction([IncludeLaunchDescription(...)])`',
    'ReplaceEnvironmentVariables':
        'write `ResetEnvironment`, and `SetEnvironmentVariable` for each variable',
})
