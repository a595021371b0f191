"""The amount of information that services and clients publish about their calls."""

from enum import IntEnum

from . import _rclpy_pybind11 as _rclpy


class ServiceIntrospectionState(IntEnum):
    """Whether services and clients publish nothing, the metadata of each call, or also the
    contents."""

    OFF = 0
    METADATA = 1
    CONTENTS = 2
