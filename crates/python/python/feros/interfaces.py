"""Interface definitions: which there are, what they say, and more of them from folders."""

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


def add_folder(folder):
    """Adds a package (a folder with `msg`, `srv` or `action`), or all packages of a folder.

    Returns the names of the packages. Neither colcon nor a build is needed. Classes that were made
    of an earlier package of the same name stay what they are.
    """
    return _interfaces().add_folder(folder)


def packages():
    """The names of all packages."""
    return _interfaces().packages()


def definition(name):
    """The text of a definition, such as that of `std_msgs/msg/String`."""
    return _interfaces().text(name)


def type_hash(name):
    """The hash by which nodes find out that they mean the same type, as `RIHS01_...`."""
    return _interfaces().hash(name)
