"""Resources: each type is a folder, in which each resource is a file."""

import os
from typing import Dict, Literal, Set, Tuple, Union

from .constants import RESOURCE_INDEX_SUBFOLDER
from .search_paths import command, get_search_paths


class InvalidResourceTypeNameError(ValueError):
    """A name that no type can have, since it contains a path separator."""


class InvalidResourceNameError(ValueError):
    """A name that no resource can have, since it contains a path separator."""


def _check_type(resource_type: str) -> None:
    assert resource_type, 'The resource type must not be empty'
    if '/' in resource_type or '\\' in resource_type:
        raise InvalidResourceTypeNameError(f"Resource type '{resource_type}' is invalid")


def _check_name(resource_name: str) -> None:
    assert resource_name, 'The resource name must not be empty'
    if '/' in resource_name or '\\' in resource_name:
        raise InvalidResourceNameError(f"Resource name '{resource_name}' is invalid")


def _listed(folder: str, *, folders: bool) -> Set[str]:
    """Returns the visible entries of a folder; empty if the folder does not exist."""
    try:
        with os.scandir(folder) as entries:
            return {
                entry.name for entry in entries
                if entry.is_dir() == folders and not entry.name.startswith('.')
            }
    except (FileNotFoundError, NotADirectoryError):
        return set()


def get_resource(resource_type: str, resource_name: str) -> Tuple[str, str]:
    """Returns the content of a resource, and the prefix that contains the resource.

    Raises `LookupError` if it does not exist, `OSError` if it cannot be read, and `ValueError` if
    the name is invalid.
    """
    prefix = has_resource(resource_type, resource_name)
    if not prefix:
        raise LookupError(
            f"Could not find the resource '{resource_name}' of type '{resource_type}'")
    path = os.path.join(prefix, RESOURCE_INDEX_SUBFOLDER, resource_type, resource_name)
    try:
        with open(path, encoding='utf-8') as file:
            return file.read(), prefix
    except OSError as error:
        raise OSError(
            f"Could not open the resource '{resource_name}' of type '{resource_type}':\n{error}"
        ) from error


def get_resources(resource_type: str) -> Dict[str, str]:
    """Returns the prefixes of all resources of a type, by resource name.

    Raises `ValueError` if the name is not a valid name of a type.
    """
    _check_type(resource_type)
    found: Dict[str, str] = {}
    for prefix in get_search_paths():
        folder = os.path.join(prefix, RESOURCE_INDEX_SUBFOLDER, resource_type)
        for name in _listed(folder, folders=False):
            found.setdefault(name, prefix)
    return found


def get_resource_types() -> Set[str]:
    """Returns all types with at least one resource."""
    found: Set[str] = set()
    for prefix in get_search_paths():
        found |= _listed(os.path.join(prefix, RESOURCE_INDEX_SUBFOLDER), folders=True)
    return found


def has_resource(resource_type: str, resource_name: str) -> Union[str, Literal[False]]:
    """Returns the prefix of a resource; `False` if there is no such resource.

    Raises `ValueError` for invalid names.
    """
    _check_type(resource_type)
    _check_name(resource_name)
    for prefix in get_search_paths():
        path = os.path.join(prefix, RESOURCE_INDEX_SUBFOLDER, resource_type, resource_name)
        if os.path.isfile(path):
            return prefix
    launch = command() if resource_type == 'packages' else None
    if launch is not None:
        found: Union[str, Literal[False]] = dict(launch.ask({'ask': 'packages'})).get(
            resource_name, False)
        return found
    return False
