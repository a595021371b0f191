"""The rules of namespaces."""

from . import _rclpy_pybind11 as _rclpy
from . import _names
from .exceptions import InvalidNamespaceException


def validate_namespace(namespace: str) -> bool:
    """Returns `True` for a valid namespace; otherwise raises `InvalidNamespaceException`."""
    wrong = _names.namespace(namespace)
    if wrong is not None:
        raise InvalidNamespaceException(namespace, *wrong)
    return True
