"""Makes relative names absolute."""

import re

from . import _rclpy_pybind11 as _rclpy
from .exceptions import NameValidationException
from .validate_namespace import validate_namespace
from .validate_node_name import validate_node_name
from .validate_topic_name import validate_topic_name


def expand_topic_name(topic_name: str, node_name: str, node_namespace: str) -> str:
    """Returns the absolute name.

    Raises `ValueError` if the name is invalid, `TypeError` if it is not a string.
    """
    for name in (topic_name, node_name, node_namespace):
        if not isinstance(name, str):
            raise TypeError(f'a name has to be a str, not {name!r}')
    try:
        validate_node_name(node_name)
        validate_namespace(node_namespace)
        validate_topic_name(topic_name)
    except NameValidationException as error:
        what = f"{error.name_type} '{error.name}'"
        raise ValueError(f'{what} is invalid: {error.error_msg}') from None
    below = '' if node_namespace == '/' else node_namespace
    known = {'node': node_name, 'ns': node_namespace, 'namespace': node_namespace}

    def replaced(found: 're.Match[str]') -> str:
        if found[1] not in known:
            raise ValueError(
                f"topic name '{topic_name}' is invalid: unknown substitution: {found[0]}")
        return known[found[1]]

    name = topic_name
    if name.startswith('~'):
        name = f'{below}/{node_name}{name[1:]}'
    name = re.sub(r'\{(\w*)\}', replaced, name)
    return name if name.startswith('/') else f'{below}/{name}'
