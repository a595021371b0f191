"""Fills a buffer with the transforms from `/tf_static` only."""

from typing import Any, Optional, Union

from rclpy.node import Node
from rclpy.qos import QoSProfile

from .transform_listener import DEFAULT_STATIC_TF_TOPIC, DEFAULT_TF_TOPIC, TransformListener


class StaticTransformListener(TransformListener):
    """A listener that ignores moving frames."""

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
    ) -> None:
        super().__init__(
            buffer, node, spin_thread=spin_thread, qos=qos, static_qos=static_qos,
            tf_topic=tf_topic, tf_static_topic=tf_static_topic, static_only=True)
