"""Transforms point clouds into other frames: all points at once, other fields unchanged."""

from copy import deepcopy
from typing import Any, Union

import numpy as np
from geometry_msgs.msg import Transform, TransformStamped
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import Header

import tf2_ros
from sensor_msgs_py.point_cloud2 import create_cloud, read_points


def to_msg_msg(msg: Any) -> Any:
    """Returns the message itself."""
    return msg


from_msg_msg = to_msg_msg


def _rotation(quaternion: Any) -> np.ndarray:
    """Returns the rotation matrix of a quaternion of any length; the identity for length zero."""
    real, axis = quaternion.w, np.array([quaternion.x, quaternion.y, quaternion.z])
    square = real * real + axis @ axis
    if square < np.finfo(float).eps:
        return np.eye(3)
    cross = np.cross(np.eye(3), axis)
    return np.eye(3) + (2.0 / square) * (cross @ cross - real * cross)


def transform_points(
    point_cloud: Any, transform: Union[Transform, TransformStamped]
) -> np.ndarray:
    """Transforms points, which are the rows of an array."""
    if isinstance(transform, TransformStamped):
        transform = transform.transform
    translation = transform.translation
    turned = np.asarray(point_cloud) @ _rotation(transform.rotation).T
    return turned + np.array([translation.x, translation.y, translation.z])


def do_transform_cloud(
    cloud: PointCloud2, transform: Union[Transform, TransformStamped]
) -> PointCloud2:
    """Returns the transformed cloud. The given cloud is not changed.

    Raises `AssertionError` if the cloud has no fields `x`, `y` and `z`.
    """
    points = read_points(cloud).copy()
    missing = [name for name in 'xyz' if name not in points.dtype.names]
    assert not missing, f'The cloud has no field {missing[0]}'
    moved = transform_points(np.stack([points[name] for name in 'xyz'], axis=1), transform)
    for column, name in enumerate('xyz'):
        points[name] = moved[:, column]
    is_stamped = isinstance(transform, TransformStamped)
    header = deepcopy(transform.header) if is_stamped else Header()
    result = create_cloud(header, cloud.fields, points, cloud.point_step)
    result.height, result.width, result.row_step = cloud.height, cloud.width, cloud.row_step
    result.is_dense = cloud.is_dense
    return result


tf2_ros.TransformRegistration().add(PointCloud2, do_transform_cloud)
tf2_ros.ConvertRegistration().add_to_msg(PointCloud2, to_msg_msg)
tf2_ros.ConvertRegistration().add_from_msg(PointCloud2, from_msg_msg)
