"""Finds the class of an interface at run time by its name."""

from importlib import import_module
from typing import Any

from rosidl_parser.definition import NamespacedType


def import_message_from_namespaced_type(message_type: NamespacedType) -> Any:
    """Returns the class of an interface.

    Raises `ModuleNotFoundError` for an unknown package, `AttributeError` for an unknown name in it.
    """
    return getattr(import_module('.'.join(message_type.namespaces)), message_type.name)
