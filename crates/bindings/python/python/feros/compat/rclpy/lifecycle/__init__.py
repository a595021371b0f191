"""Managed nodes: nodes that other programs configure, activate, deactivate and clean up."""

from .. import _rclpy_pybind11 as _rclpy
from .managed_entity import ManagedEntity, SimpleManagedEntity, TransitionCallbackReturn
from .node import LifecycleNode, LifecycleNodeMixin, LifecycleState
from .publisher import LifecyclePublisher

Node = LifecycleNode
NodeMixin = LifecycleNodeMixin
State = LifecycleState
Publisher = LifecyclePublisher

__all__ = [
    'LifecycleNode', 'LifecycleNodeMixin', 'LifecyclePublisher', 'LifecycleState', 'ManagedEntity',
    'Node', 'NodeMixin', 'Publisher', 'SimpleManagedEntity', 'State', 'TransitionCallbackReturn',
]
