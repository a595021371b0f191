"""Point clouds as numpy arrays, read without a copy if possible."""

import sys
from collections import namedtuple
from typing import Any, Iterable, List, NamedTuple, Optional

import numpy as np
from numpy.lib.recfunctions import structured_to_unstructured, unstructured_to_structured
from sensor_msgs.msg import PointCloud2, PointField
from std_msgs.msg import Header

_DATATYPES = {
    PointField.INT8: np.dtype(np.int8),
    PointField.UINT8: np.dtype(np.uint8),
    PointField.INT16: np.dtype(np.int16),
    PointField.UINT16: np.dtype(np.uint16),
    PointField.INT32: np.dtype(np.int32),
    PointField.UINT32: np.dtype(np.uint32),
    PointField.FLOAT32: np.dtype(np.float32),
    PointField.FLOAT64: np.dtype(np.float64),
}
DUMMY_FIELD_PREFIX = 'unnamed_field'


def dtype_from_fields(
    fields: Iterable[PointField], point_step: Optional[int] = None
) -> np.dtype:
    """Returns the type of one point. A field with several values becomes several fields, numbered
    from zero; `point_step` is the number of bytes of a point, if it is not the sum of its fields.

    Raises `AssertionError` for two fields with the same name.
    """
    names: List[str] = []
    formats, offsets = [], []
    for index, field in enumerate(fields):
        element = _DATATYPES[field.datatype]
        name = field.name or f'{DUMMY_FIELD_PREFIX}_{index}'
        for part in range(max(field.count, 1)):
            names.append(f'{name}_{part}' if field.count > 1 else name)
            formats.append(element.str)
            offsets.append(field.offset + part * element.itemsize)
    assert len(set(names)) == len(names), 'Duplicate field names are not allowed!'
    described: dict = {'names': names, 'formats': formats, 'offsets': offsets}
    if point_step is not None:
        described['itemsize'] = point_step
    return np.dtype(described)


def read_points(
    cloud: PointCloud2,
    field_names: Optional[Iterable[str]] = None,
    skip_nans: bool = False,
    uvs: Optional[Iterable[int]] = None,
    reshape_organized_cloud: bool = False,
) -> np.ndarray:
    """Returns the points as a structured array, a view of the message's data.

    The array has all fields, or the fields in `field_names`. With `skip_nans`, points with NaNs are
    omitted if the cloud is not dense. `uvs` are the indices of the wanted points. With
    `reshape_organized_cloud`, a cloud with several rows gives an array with two dimensions.

    Raises `AssertionError` if `cloud` is not a cloud, or does not have the fields.
    """
    assert isinstance(cloud, PointCloud2), 'Cloud is not a sensor_msgs.msg.PointCloud2'
    points = np.ndarray(
        shape=(cloud.width * cloud.height,),
        dtype=dtype_from_fields(cloud.fields, cloud.point_step), buffer=cloud.data)
    if cloud.is_bigendian != (sys.byteorder == 'big'):
        points = points.view(points.dtype.newbyteorder()).astype(points.dtype)
    if field_names is not None:
        wanted = list(field_names)
        unknown = [name for name in wanted if name not in points.dtype.names]
        assert not unknown, f'Requests field {unknown[0]} is not in the fields of the PointCloud!'
        points = points[wanted]
    if skip_nans and not cloud.is_dense:
        is_number = np.ones(len(points), dtype=bool)
        for name in points.dtype.names:
            is_number &= ~np.isnan(points[name])
        points = points[is_number]
    if uvs is not None:
        points = points[uvs if isinstance(uvs, np.ndarray) else np.fromiter(uvs, int)]
    if reshape_organized_cloud and cloud.height > 1:
        # If points were skipped, the rest do not form a rectangle.
        assert len(points) == cloud.width * cloud.height, 'The cloud is no longer complete'
        points = points.reshape(cloud.width, cloud.height)
    return points


def read_points_numpy(
    cloud: PointCloud2,
    field_names: Optional[Iterable[str]] = None,
    skip_nans: bool = False,
    uvs: Optional[Iterable[int]] = None,
    reshape_organized_cloud: bool = False,
) -> np.ndarray:
    """Like `read_points`, but returns an array of numbers with one row per point.

    Raises `AssertionError` if the wanted fields have different types.
    """
    assert isinstance(cloud, PointCloud2), 'Cloud is not a sensor_msgs.msg.PointCloud2'
    wanted = None if field_names is None else list(field_names)
    types = {field.datatype for field in cloud.fields if wanted is None or field.name in wanted}
    assert len(types) <= 1, (
        'All fields need to have the same datatype. Use `read_points()` otherwise.')
    return structured_to_unstructured(
        read_points(cloud, wanted, skip_nans, uvs, reshape_organized_cloud))


def read_points_list(
    cloud: PointCloud2,
    field_names: Optional[Iterable[str]] = None,
    skip_nans: bool = False,
    uvs: Optional[Iterable[int]] = None,
) -> List[NamedTuple]:
    """Like `read_points`, but returns named tuples, which are convenient, but slow."""
    points = read_points(cloud, field_names, skip_nans, uvs)
    point = namedtuple('Point', points.dtype.names)  # type: ignore[misc]
    return [point._make(one) for one in points.tolist()]


def create_cloud(
    header: Header,
    fields: Iterable[PointField],
    points: Any,
    step: Optional[int] = None,
) -> PointCloud2:
    """Creates a point cloud from a structured array with the layout of `fields`, or from rows of
    numbers. Three dimensions make an organized cloud. `step` is the number of bytes of a point.

    Raises `AssertionError` for points that do not fit the fields.
    """
    fields = list(fields)
    if isinstance(points, np.ndarray) and points.dtype.names is not None:
        of_fields = dtype_from_fields(fields, points.dtype.itemsize if step is None else step)
        assert of_fields == points.dtype, (
            f'PointFields and structured NumPy array dtype do not match for all fields: the fields'
            f' say {of_fields}, the array {points.dtype}')
    else:
        of_fields = dtype_from_fields(fields, step)
        numbers = np.asarray(points)
        assert numbers.ndim >= 2 and numbers.shape[-1] == len(of_fields.names), (
            f'The points need to have as many values as the fields, {len(of_fields.names)}')
        points = unstructured_to_structured(numbers, of_fields)
    assert points.ndim <= 2, (
        f'An organized cloud has two dimensions besides that of the values, not {points.ndim}')
    width = points.shape[0]
    height = points.shape[1] if points.ndim == 2 else 1
    return PointCloud2(
        header=header, height=height, width=width, is_dense=False,
        is_bigendian=sys.byteorder != 'little', fields=fields, point_step=points.dtype.itemsize,
        row_step=points.dtype.itemsize * width, data=points.tobytes())


def create_cloud_xyz32(
    header: Header, points: Any, step: Optional[int] = None
) -> PointCloud2:
    """Creates a point cloud with three 32-bit coordinates."""
    fields = [
        PointField(name=name, offset=4 * index, datatype=PointField.FLOAT32, count=1)
        for index, name in enumerate('xyz')
    ]
    return create_cloud(header, fields, points, step)
