"""Publishes static transforms on `/tf_static`."""

from copy import deepcopy
from typing import Dict, Iterable, Optional, Union

from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

from .transform_broadcaster import as_list


class StaticTransformBroadcaster:
    """Publishes static transforms. Each message contains all transforms so far, since late
    subscriptions get only the last message."""

    def __init__(self, node: Node, qos: Optional[Union[QoSProfile, int]] = None) -> None:
        if qos is None:
            qos = QoSProfile(
                depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL,
                history=HistoryPolicy.KEEP_LAST)
        self.pub_tf = node.create_publisher(TFMessage, '/tf_static', qos)
        self._said: Dict[str, TransformStamped] = {}

    def sendTransform(
        self, transform: Union[TransformStamped, Iterable[TransformStamped]]
    ) -> None:
        """Publishes one transform or several. A later transform of a frame replaces an earlier
        transform."""
        for one in as_list(transform):
            self._said[one.child_frame_id] = deepcopy(one)
        self.pub_tf.publish(TFMessage(transforms=list(self._said.values())))
