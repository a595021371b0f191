"""Descriptions of nodes and parameters."""

from launch._missing import absent
from launch._modules import provide

from ..parameter_descriptions import Parameter, ParameterFile, ParameterValue
from ._composable_node import ComposableNode

__all__ = ['ComposableNode', 'Parameter', 'ParameterFile', 'ParameterValue']

provide(__name__, globals(), {'composable_node': 'ComposableNode'})

__getattr__ = absent(__name__, globals(), {
    'ComposableLifecycleNode':
        'write `ComposableNode`, and call `feros lifecycle set` or emit `ChangeState`',
})
