"""The names of types in XML and YAML files."""

from typing import Any, List, Text

from ..utilities.type_utils import extract_type  # noqa: F401
from ._classes import Entity

_TYPES = {
    'int': int, 'float': float, 'bool': bool, 'str': str, 'list_of_int': List[int],
    'list_of_float': List[float], 'list_of_bool': List[bool], 'list_of_str': List[str],
}


def get_data_type_from_identifier(type_identifier: Text) -> Any:
    """Returns the type with a name.

    Raises `ValueError` if there is no such type.
    """
    if type_identifier not in _TYPES:
        raise ValueError(f"`{type_identifier}` is no type: expected {', '.join(_TYPES)}")
    return _TYPES[type_identifier]


def check_is_list_entity(data_type: Any) -> bool:
    """Returns whether a type is a list of tags."""
    return bool(data_type == List[Entity])
