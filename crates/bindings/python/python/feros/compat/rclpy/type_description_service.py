"""The service `~/get_type_description`. The extension offers it on each node whose parameter
enables it; this module only has the names of the stock module."""

import weakref
from typing import Any

from . import _rclpy_pybind11 as _rclpy

START_TYPE_DESCRIPTION_SERVICE_PARAM = 'start_type_description_service'


class TypeDescriptionService:
    """Shows whether a node describes the types of its endpoints."""

    def __init__(self, node: Any) -> None:
        self._node = weakref.ref(node)
        self.service_name = f'{node.get_name()}/get_type_description'
        self.enabled = bool(node.get_parameter(START_TYPE_DESCRIPTION_SERVICE_PARAM).value)

    def destroy(self) -> None:
        """Does nothing: the service ends with its node."""
