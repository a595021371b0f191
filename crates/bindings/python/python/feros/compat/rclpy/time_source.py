"""Gives clocks the simulated time from `/clock`, if the parameter `use_sim_time` of a node is set.
The extension does this for a node's own clock; this module does it for other clocks."""

import weakref
from typing import Any, Callable, List, Optional, Set

import rosgraph_msgs.msg
from rcl_interfaces.msg import SetParametersResult

from .clock import ROSClock
from .clock_type import ClockType
from .parameter import Parameter
from .qos import QoSProfile, ReliabilityPolicy
from .time import Time

CLOCK_TOPIC = '/clock'
USE_SIM_TIME_NAME = 'use_sim_time'


def _nobody() -> None:
    return None


class TimeSource:
    """Overrides the time of its clocks while its node uses simulated time."""

    def __init__(self, *, node: Any = None) -> None:
        self._clock_sub: Any = None
        self._node: Callable[[], Any] = _nobody
        self._clocks: Set[ROSClock] = set()
        self._last = Time(clock_type=ClockType.ROS_TIME)
        self._is_active = False
        if node is not None:
            self.attach_node(node)

    @property
    def ros_time_is_active(self) -> bool:
        """Whether the clocks show the time of `/clock`."""
        return self._is_active

    @ros_time_is_active.setter
    def ros_time_is_active(self, enabled: bool) -> None:
        if enabled == self._is_active:
            return
        self._is_active = enabled
        for clock in self._clocks:
            clock._set_ros_time_is_active(enabled)
        if enabled:
            self._subscribe_to_clock_topic()
        else:
            self._unsubscribe()

    def _subscribe_to_clock_topic(self) -> None:
        node = self._node()
        if self._clock_sub is None and node is not None:
            self._clock_sub = node.create_subscription(
                rosgraph_msgs.msg.Clock, CLOCK_TOPIC, self.clock_callback,
                QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT))

    def _unsubscribe(self) -> None:
        node, subscription, self._clock_sub = self._node(), self._clock_sub, None
        if node is not None and subscription is not None:
            node.destroy_subscription(subscription)

    def attach_node(self, node: Any) -> None:
        """From now on, follows only the parameter of this node; raises `TypeError` if `node` is not
        a node."""
        from .node import Node

        if not isinstance(node, Node):
            raise TypeError('Node must be of type rclpy.node.Node')
        self.detach_node()
        self._node = weakref.ref(node)
        if not node.has_parameter(USE_SIM_TIME_NAME):
            node.declare_parameter(USE_SIM_TIME_NAME, False)
        parameter = node.get_parameter(USE_SIM_TIME_NAME)
        if parameter.type_ == Parameter.Type.BOOL:
            self.ros_time_is_active = parameter.value
        node.add_on_set_parameters_callback(self._on_parameter_event)

    def detach_node(self) -> None:
        """Follows no node; clocks keep their current time."""
        node = self._node()
        self._unsubscribe()
        if node is not None and self._on_parameter_event in node._on_set_parameters_callbacks:
            node.remove_on_set_parameters_callback(self._on_parameter_event)
        self._node = _nobody

    def attach_clock(self, clock: ROSClock) -> None:
        """Also overrides the time of this clock; raises `ValueError` for a clock of another
        type."""
        if not isinstance(clock, ROSClock):
            raise ValueError('Only clocks with type ROS_TIME can be attached.')
        clock.set_ros_time_override(self._last)
        clock._set_ros_time_is_active(self._is_active)
        self._clocks.add(clock)

    def clock_callback(self, msg: rosgraph_msgs.msg.Clock) -> None:
        """Sets the time from a message."""
        self._last = Time.from_msg(msg.clock)
        for clock in self._clocks:
            clock.set_ros_time_override(self._last)

    def _on_parameter_event(self, parameters: List[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            if parameter.name == USE_SIM_TIME_NAME:
                if parameter.type_ != Parameter.Type.BOOL:
                    return SetParametersResult(
                        successful=False,
                        reason=f'{USE_SIM_TIME_NAME} parameter set to something besides a bool')
                self.ros_time_is_active = parameter.value
        return SetParametersResult(successful=True)

    def _get_node(self) -> Optional[Any]:
        return self._node()
