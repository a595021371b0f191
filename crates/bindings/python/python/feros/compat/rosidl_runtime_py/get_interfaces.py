"""The known interfaces: those shipped with Feros, and those in folders named by environment
variables."""

import os
from typing import Dict, Iterable, List

from ament_index_python import get_resources, has_resource

from feros._messages import interfaces

_NAMESPACES = ('action', 'msg', 'srv')


def get_interface_packages() -> Dict[str, str]:
    """Returns the prefixes of packages with interfaces, by name; empty for packages that Feros
    ships."""
    try:
        installed = get_resources('rosidl_interfaces')
    except OSError:  # the environment names no prefix
        installed = {}
    return {name: installed.get(name, '') for name in interfaces().packages()}


def get_interfaces(package_names: Iterable[str] = ()) -> Dict[str, List[str]]:
    """Returns names such as `msg/String`, by package, for some packages or for all.

    Raises `LookupError` for an unknown package.
    """
    return _interfaces(package_names, _NAMESPACES)


def get_message_interfaces(package_names: Iterable[str] = ()) -> Dict[str, List[str]]:
    """Like `get_interfaces`, for messages only."""
    return _interfaces(package_names, ('msg',))


def get_service_interfaces(package_names: Iterable[str] = ()) -> Dict[str, List[str]]:
    """Like `get_interfaces`, for services only."""
    return _interfaces(package_names, ('srv',))


def get_action_interfaces(package_names: Iterable[str] = ()) -> Dict[str, List[str]]:
    """Like `get_interfaces`, for actions only."""
    return _interfaces(package_names, ('action',))


def _interfaces(
    package_names: Iterable[str], namespaces: Iterable[str]
) -> Dict[str, List[str]]:
    known = interfaces().packages()
    wanted = list(package_names)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise LookupError(f"Unknown package '{unknown[0]}'")
    found = {
        package: sorted(
            f'{namespace}/{name}'
            for namespace in namespaces for name in interfaces().names(package, namespace))
        for package in wanted or known
    }
    return {package: names for package, names in found.items() if names or wanted}


def get_interface_path(interface_name: str) -> str:
    """Returns the file of an interface such as `std_msgs/msg/String`; an `.idl` file if the name
    has no suffix.

    Raises `LookupError` if there is no file: interfaces that Feros ships have no files, but
    `feros interface show` prints them. Raises `ValueError` for a name with fewer than two parts.
    """
    parts = interface_name.split('/')
    if len(parts) < 2 or not all(parts):
        raise ValueError(
            f"Invalid name '{interface_name}'. Expected at least two parts separated by '/'")
    try:
        prefix = has_resource('packages', parts[0])
    except OSError:  # the environment names no prefix
        prefix = False
    if not prefix:
        raise LookupError(
            f"There is no file of '{interface_name}': no prefix of the environment has the package"
            f" '{parts[0]}'. `feros interface show` prints what Feros ships.")
    file = '/'.join(parts) if '.' in parts[-1] else f"{'/'.join(parts)}.idl"
    path = os.path.join(prefix, 'share', file)
    if not os.path.exists(path):
        raise LookupError(f"Could not find the interface '{path}'")
    return path
