"""Actions on nodes."""

from launch._missing import absent
from launch._modules import provide

from ._container import ComposableNodeContainer, LoadComposableNodes
from ._lifecycle import LifecycleNode, LifecycleTransition
from ._node import Node
from ._settings import (
    PushROSNamespace,
    ROSTimer,
    SetParameter,
    SetParametersFromFile,
    SetRemap,
    SetROSLogDir,
    SetUseSimTime,
)

PushRosNamespace = PushROSNamespace
RosTimer = ROSTimer

__all__ = [
    'ComposableNodeContainer', 'LifecycleNode', 'LifecycleTransition', 'LoadComposableNodes',
    'Node', 'PushROSNamespace', 'PushRosNamespace', 'ROSTimer', 'RosTimer', 'SetParameter',
    'SetParametersFromFile', 'SetROSLogDir', 'SetRemap', 'SetUseSimTime',
]

provide(__name__, globals(), {
    'composable_node_container': 'ComposableNodeContainer',
    'lifecycle_node': 'LifecycleNode',
    'lifecycle_transition': 'LifecycleTransition',
    'load_composable_nodes': 'LoadComposableNodes',
    'node': 'Node',
    'push_ros_namespace': 'PushROSNamespace PushRosNamespace',
    'ros_timer': 'ROSTimer RosTimer',
    'set_parameter': 'SetParameter',
    'set_parameters_from_file': 'SetParametersFromFile',
    'set_remap': 'SetRemap',
    'set_ros_log_dir': 'SetROSLogDir',
    'set_use_sim_time': 'SetUseSimTime',
})

_LAUNCH = 'import it from `launch.actions`'
__getattr__ = absent(__name__, globals(), {
    'ComposableNode': 'import it from `launch_ros.descriptions`',
    'SetParameters': 'write a `SetParameter` for each parameter, or `SetParametersFromFile`',
    **{name: _LAUNCH for name in (
        'DeclareLaunchArgument', 'ExecuteProcess', 'GroupAction', 'IncludeLaunchDescription',
        'SetEnvironmentVariable')},
})
