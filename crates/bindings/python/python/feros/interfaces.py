"""Interface definitions: lists them, shows them, and adds more from folders."""

from __future__ import annotations

import os

from feros._messages import (
    action_class as get_action,
    interface_class as get_interface,
    interfaces as _interfaces,
    message_class as get_message,
    service_class as get_service,
)

__all__ = [
    "add_folder", "definition", "get_action", "get_interface", "get_message", "get_service",
    "packages", "type_hash",
]


def add_folder(folder: str | os.PathLike[str]) -> list[str]:
    """Adds a package (a folder with `msg`, `srv` or `action`), or all packages of a folder.

    Returns the names of the packages. Neither colcon nor a build is needed. Classes that were made
    from an earlier package with the same name do not change.
    """
    return _interfaces().add_folder(folder)


def packages() -> list[str]:
    """Returns the names of all packages."""
    return _interfaces().packages()


def definition(name: str) -> str:
    """Returns the text of a definition, such as that of `std_msgs/msg/String`."""
    return _interfaces().text(name)


def type_hash(name: str) -> str:
    """Returns the hash with which nodes check that they use the same type, as `RIHS01_...`."""
    return _interfaces().hash(name)
