"""Geometry messages in other frames, with the names of stock `tf2_geometry_msgs`."""

from feros._companions import refuse_beside_foreign

refuse_beside_foreign(__name__)

from .tf2_geometry_msgs import (  # noqa: E402
    do_transform_point,
    do_transform_pose,
    do_transform_pose_stamped,
    do_transform_pose_with_covariance_stamped,
    do_transform_vector3,
    from_msg_msg,
    to_msg_msg,
    transform_covariance,
)

__all__ = [
    'do_transform_point', 'do_transform_pose', 'do_transform_pose_stamped',
    'do_transform_pose_with_covariance_stamped', 'do_transform_vector3', 'from_msg_msg',
    'to_msg_msg', 'transform_covariance',
]
