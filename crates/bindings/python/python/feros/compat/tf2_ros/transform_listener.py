"""Fills a buffer with the transforms from `/tf` and `/tf_static`."""

from threading import Thread
from typing import Any, Optional, Union

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile
from tf2_msgs.msg import TFMessage
from tf2_py import TransformException

DEFAULT_TF_TOPIC = '/tf'
DEFAULT_STATIC_TF_TOPIC = '/tf_static'
_AUTHORITY = 'default_authority'
"""The authority of transforms: a subscription does not know the real one."""


class TransformListener:
    """Listens on the node's executor or, with `spin_thread`, spins the node on a separate thread.
    The topics and their QoS can be changed."""

    def __init__(
        self,
        buffer: Any,
        node: Optional[Node],
        *,
        spin_thread: bool = False,
        qos: Optional[Union[QoSProfile, int]] = None,
        static_qos: Optional[Union[QoSProfile, int]] = None,
        tf_topic: str = DEFAULT_TF_TOPIC,
        tf_static_topic: str = DEFAULT_STATIC_TF_TOPIC,
        static_only: bool = False,
    ) -> None:
        self.buffer = buffer
        self.node = node if node is not None else self._own_node()
        # The listener has a separate group, since callbacks in the node's default group may wait
        # for a transform.
        self.group = ReentrantCallbackGroup()
        self.tf_sub = None
        if not static_only:
            self.tf_sub = self.node.create_subscription(
                TFMessage, tf_topic, self.callback, 100 if qos is None else qos,
                callback_group=self.group)
        if static_qos is None:
            static_qos = QoSProfile(
                depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL,
                history=HistoryPolicy.KEEP_LAST)
        self.tf_static_sub = self.node.create_subscription(
            TFMessage, tf_static_topic, self.static_callback, static_qos,
            callback_group=self.group)
        if spin_thread:
            self.executor = SingleThreadedExecutor(context=self.node.context)
            self.executor.add_node(self.node)
            # The thread keeps the executor alive, but not the listener. The listener ends the
            # executor when it is destroyed.
            self.dedicated_listener_thread = Thread(
                target=_spin, args=(self.executor, self.node), name='tf2_listener', daemon=True)
            self.dedicated_listener_thread.start()

    def _own_node(self) -> Node:
        return Node(
            f'transform_listener_impl_{id(self):x}', enable_rosout=False,
            start_parameter_services=False,
            parameter_overrides=[Parameter('use_sim_time', value=False)])

    def __del__(self) -> None:
        executor = getattr(self, 'executor', None)
        if executor is not None:
            executor.shutdown()
        if hasattr(self, 'tf_static_sub'):
            self.unregister()

    def unregister(self) -> None:
        """Stops listening."""
        if self.tf_sub is not None:
            self.node.destroy_subscription(self.tf_sub)
        self.node.destroy_subscription(self.tf_static_sub)

    def callback(self, data: TFMessage) -> None:
        """Stores the transforms of a message from `/tf`."""
        self._take(data, self.buffer.set_transform)

    def static_callback(self, data: TFMessage) -> None:
        """Stores the transforms of a message from `/tf_static`."""
        self._take(data, self.buffer.set_transform_static)

    def _take(self, data: TFMessage, set_transform: Any) -> None:
        for transform in data.transforms:
            try:
                set_transform(transform, _AUTHORITY)
            except TransformException as error:
                # An invalid transform does not affect the others.
                self.node.get_logger().error(str(error), throttle_duration_sec=10.0)


def _spin(executor: SingleThreadedExecutor, node: Node) -> None:
    try:
        executor.spin()
    except ExternalShutdownException:
        pass
    executor.remove_node(node)
