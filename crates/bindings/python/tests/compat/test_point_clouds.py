"""The module sensor_msgs_py.point_cloud2 of Feros behaves like the stock module."""

import sys

import numpy as np
import pytest
from sensor_msgs.msg import PointCloud2, PointField
from sensor_msgs_py import point_cloud2
from std_msgs.msg import Header

XYZ = np.array([[0, 1, 2], [3, np.nan, 5], [6, 7, 8], [9, 10, 11]], dtype=np.float32)


def field(name, offset, datatype=PointField.FLOAT32, count=1):
    return PointField(name=name, offset=offset, datatype=datatype, count=count)


def test_points_are_read_in_place_and_selected():
    cloud = point_cloud2.create_cloud_xyz32(Header(frame_id="a"), XYZ)
    points = point_cloud2.read_points(cloud)
    assert points.dtype.names == ("x", "y", "z") and len(points) == cloud.width == 4
    assert np.shares_memory(points, np.frombuffer(cloud.data, dtype=np.uint8))
    assert np.array_equal(point_cloud2.read_points_numpy(cloud), XYZ, equal_nan=True)
    some = point_cloud2.read_points_numpy(cloud, ["y", "x"], skip_nans=True, uvs=[0, 2])
    assert some.tolist() == [[1, 0], [10, 9]]
    assert len(point_cloud2.read_points(cloud, ["x"], skip_nans=True)) == 4
    assert point_cloud2.read_points_list(cloud, ["x"])[3].x == 9.0
    with pytest.raises(AssertionError, match="field w"):
        point_cloud2.read_points(cloud, ["w"])
    with pytest.raises(AssertionError, match="not a sensor_msgs"):
        point_cloud2.read_points(Header())


def test_points_of_several_types_and_paddings():
    layout = np.dtype({
        "names": ["a", "b_0", "b_1", "unnamed_field_2"], "formats": ["<f8", "<u2", "<u2", "u1"],
        "offsets": [0, 10, 12, 15], "itemsize": 24})
    points = np.array([(1.5, 2, 3, 4), (5.5, 6, 7, 8)], dtype=layout)
    fields = [
        field("a", 0, PointField.FLOAT64), field("b", 10, PointField.UINT16, 2),
        field("", 15, PointField.UINT8)]
    cloud = point_cloud2.create_cloud(Header(), fields, points)
    assert (cloud.point_step, cloud.row_step) == (24, 48)
    assert point_cloud2.read_points(cloud).tolist() == points.tolist()
    with pytest.raises(AssertionError, match="same datatype"):
        point_cloud2.read_points_numpy(cloud)
    assert point_cloud2.read_points_numpy(cloud, ["b_0"]).tolist() == [[2], [6]]
    with pytest.raises(AssertionError, match="do not match"):
        point_cloud2.create_cloud(Header(), fields, points, 32)
    with pytest.raises(AssertionError, match="Duplicate"):
        point_cloud2.dtype_from_fields([field("a", 0), field("a", 4)])


def test_organized_clouds_and_the_other_order_of_bytes():
    cloud = point_cloud2.create_cloud_xyz32(Header(), XYZ.reshape(2, 2, 3))
    assert (cloud.width, cloud.height) == (2, 2)
    assert point_cloud2.read_points(cloud, reshape_organized_cloud=True).shape == (2, 2)
    assert point_cloud2.read_points(cloud).shape == (4,)
    swapped = PointCloud2(
        header=cloud.header, width=4, height=1, fields=cloud.fields, point_step=12, row_step=48,
        is_bigendian=sys.byteorder == "little", data=XYZ.byteswap().tobytes())
    assert np.array_equal(point_cloud2.read_points_numpy(swapped), XYZ, equal_nan=True)
    assert swapped.data.tobytes() == XYZ.byteswap().tobytes()  # reading does not change it
    with pytest.raises(AssertionError, match="as many values"):
        point_cloud2.create_cloud_xyz32(Header(), [[1.0, 2.0]])


def test_data_that_is_too_short_is_no_crash():
    cloud = point_cloud2.create_cloud_xyz32(Header(), XYZ)
    cloud.width = 2**31
    with pytest.raises((TypeError, ValueError)):
        point_cloud2.read_points(cloud)
