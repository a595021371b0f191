"""Point clouds in other frames, with the names of stock `tf2_sensor_msgs`."""

from feros._companions import refuse_beside_foreign

refuse_beside_foreign(__name__)

from .tf2_sensor_msgs import (  # noqa: E402
    do_transform_cloud,
    from_msg_msg,
    to_msg_msg,
    transform_points,
)

__all__ = ['do_transform_cloud', 'from_msg_msg', 'to_msg_msg', 'transform_points']
