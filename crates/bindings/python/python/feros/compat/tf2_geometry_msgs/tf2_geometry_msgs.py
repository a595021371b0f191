"""Transforms points, vectors and poses into other frames.

A quaternion of length zero does not rotate; other quaternions are normalized. The real part of a
result is never negative, as in stock.
"""

from copy import deepcopy
from math import sqrt
from typing import Any, Sequence, Tuple

import numpy as np
from geometry_msgs.msg import (
    PointStamped,
    Pose,
    PoseStamped,
    PoseWithCovarianceStamped,
    Quaternion,
    TransformStamped,
    Vector3Stamped,
)

import tf2_ros

_Quaternion = Tuple[float, float, float, float]  # w, x, y, z


def to_msg_msg(msg: Any) -> Any:
    """Returns the message itself."""
    return msg


from_msg_msg = to_msg_msg


def _unit(quaternion: Quaternion) -> _Quaternion:
    w, x, y, z = quaternion.w, quaternion.x, quaternion.y, quaternion.z
    length = sqrt(w * w + x * x + y * y + z * z)
    if length < 1e-8:
        return 1.0, 0.0, 0.0, 0.0
    return w / length, x / length, y / length, z / length


def _product(a: _Quaternion, b: _Quaternion) -> _Quaternion:
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


def _turned(by: _Quaternion, vector: Sequence[float]) -> Tuple[float, float, float]:
    w, *axis = by
    first = _cross(axis, vector)
    second = _cross(axis, first)
    x, y, z = (v + 2.0 * (w * a + b) for v, a, b in zip(vector, first, second))
    return x, y, z


def _cross(a: Sequence[float], b: Sequence[float]) -> Tuple[float, float, float]:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def _moved(transform: TransformStamped, point: Any) -> Tuple[float, float, float]:
    by = transform.transform
    x, y, z = _turned(_unit(by.rotation), (point.x, point.y, point.z))
    return x + by.translation.x, y + by.translation.y, z + by.translation.z


def do_transform_point(point: PointStamped, transform: TransformStamped) -> PointStamped:
    """Transforms a point."""
    result = PointStamped(header=deepcopy(transform.header))
    result.point.x, result.point.y, result.point.z = _moved(transform, point.point)
    return result


def do_transform_vector3(vector3: Vector3Stamped, transform: TransformStamped) -> Vector3Stamped:
    """Transforms a vector, which is rotated but not moved."""
    vector = vector3.vector
    by = _unit(transform.transform.rotation)
    result = Vector3Stamped(header=deepcopy(transform.header))
    result.vector.x, result.vector.y, result.vector.z = _turned(by, (vector.x, vector.y, vector.z))
    return result


def do_transform_pose(pose: Pose, transform: TransformStamped) -> Pose:
    """Transforms a pose."""
    result = Pose()
    result.position.x, result.position.y, result.position.z = _moved(transform, pose.position)
    turned = _product(_unit(transform.transform.rotation), _unit(pose.orientation))
    sign = -1.0 if turned[0] < 0.0 else 1.0
    # Adding 0.0 turns a negative zero into a positive zero.
    w, x, y, z = (sign * part + 0.0 for part in turned)
    result.orientation = Quaternion(w=w, x=x, y=y, z=z)
    return result


def do_transform_pose_stamped(pose: PoseStamped, transform: TransformStamped) -> PoseStamped:
    """Transforms a pose with a header."""
    return PoseStamped(
        header=deepcopy(transform.header), pose=do_transform_pose(pose.pose, transform))


def transform_covariance(cov_in: Any, transform: TransformStamped) -> np.ndarray:
    """Transforms the covariance of a pose (36 numbers, row by row)."""
    by = _unit(transform.transform.rotation)
    rotation = np.array([_turned(by, axis) for axis in np.eye(3)]).T
    both = np.zeros((6, 6))
    both[:3, :3] = both[3:, 3:] = rotation
    covariance = np.asarray(cov_in, dtype=float).reshape(6, 6)
    return (both @ covariance @ both.T).reshape(36)


def do_transform_pose_with_covariance_stamped(
    pose: PoseWithCovarianceStamped, transform: TransformStamped
) -> PoseWithCovarianceStamped:
    """Transforms a pose and its covariance."""
    result = PoseWithCovarianceStamped(header=deepcopy(transform.header))
    result.pose.pose = do_transform_pose(pose.pose.pose, transform)
    result.pose.covariance = transform_covariance(pose.pose.covariance, transform)
    return result


for _type, _function in (
    (PointStamped, do_transform_point),
    (Vector3Stamped, do_transform_vector3),
    (PoseStamped, do_transform_pose_stamped),
    (PoseWithCovarianceStamped, do_transform_pose_with_covariance_stamped),
):
    tf2_ros.TransformRegistration().add(_type, _function)
    tf2_ros.ConvertRegistration().add_to_msg(_type, to_msg_msg)
    tf2_ros.ConvertRegistration().add_from_msg(_type, from_msg_msg)
