"""Publishes transforms on `/tf`."""

from typing import Iterable, List, Union

from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from tf2_msgs.msg import TFMessage


def as_list(transform: Union[TransformStamped, Iterable[TransformStamped]]) -> List:
    """Returns one transform or several as a list."""
    return list(transform) if hasattr(transform, '__iter__') else [transform]


class TransformBroadcaster:
    """Publishes transforms of moving frames."""

    def __init__(self, node: Node, qos: Union[QoSProfile, int] = QoSProfile(depth=100)) -> None:
        self.pub_tf = node.create_publisher(TFMessage, '/tf', qos)

    def sendTransform(
        self, transform: Union[TransformStamped, Iterable[TransformStamped]]
    ) -> None:
        """Publishes one transform, or several in one message."""
        self.pub_tf.publish(TFMessage(transforms=as_list(transform)))
