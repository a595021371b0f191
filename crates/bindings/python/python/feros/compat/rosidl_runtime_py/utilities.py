"""Classes of messages, services and actions by names such as `std_msgs/msg/String`."""

from typing import Any, Optional

from rosidl_parser.definition import NamespacedType

from .import_message import import_message_from_namespaced_type


def get_interface(identifier: str) -> Any:
    """Returns the class of an interface, by its full name."""
    return import_message_from_namespaced_type(get_namespaced_type(identifier))


def get_message(identifier: str) -> Any:
    """Returns the class of a message, whose name may omit `msg`; raises `ValueError` for another
    name."""
    interface = import_message_from_namespaced_type(get_message_namespaced_type(identifier))
    if not is_message(interface):
        raise ValueError(f"Expected the full name of a message, got '{identifier}'")
    return interface


def get_service(identifier: str) -> Any:
    """Returns the class of a service, whose name may omit `srv`; raises `ValueError` for another
    name."""
    interface = import_message_from_namespaced_type(get_service_namespaced_type(identifier))
    if not is_service(interface):
        raise ValueError(f"Expected the full name of a service, got '{identifier}'")
    return interface


def get_action(identifier: str) -> Any:
    """Returns the class of an action, whose name may omit `action`; raises `ValueError` for another
    name."""
    interface = import_message_from_namespaced_type(get_action_namespaced_type(identifier))
    if not is_action(interface):
        raise ValueError(f"Expected the full name of an action, got '{identifier}'")
    return interface


def _namespaced(identifier: str, default: Optional[str] = None) -> NamespacedType:
    *namespaces, name = identifier.split('/')
    if not namespaces:
        # An empty namespace would fail in the import of the module, with another error text.
        raise ValueError(f"Expected the full name of an interface, got '{identifier}'")
    if len(namespaces) == 1 and default is not None:
        namespaces.append(default)
    return NamespacedType(namespaces, name)


def get_namespaced_type(identifier: str) -> NamespacedType:
    """Returns the description of the type with this full name."""
    return _namespaced(identifier)


def get_message_namespaced_type(identifier: str) -> NamespacedType:
    """Returns the description of a message, whose name may omit `msg`."""
    return _namespaced(identifier, 'msg')


def get_service_namespaced_type(identifier: str) -> NamespacedType:
    """Returns the description of a service, whose name may omit `srv`."""
    return _namespaced(identifier, 'srv')


def get_action_namespaced_type(identifier: str) -> NamespacedType:
    """Returns the description of an action, whose name may omit `action`."""
    return _namespaced(identifier, 'action')


def is_message(interface: Any) -> bool:
    """Returns whether `interface` is a message class."""
    return hasattr(interface, 'SLOT_TYPES')


def is_service(interface: Any) -> bool:
    """Returns whether `interface` is a service class."""
    return hasattr(interface, 'Request') and hasattr(interface, 'Response')


def is_action(interface: Any) -> bool:
    """Returns whether `interface` is an action class."""
    return all(hasattr(interface, part) for part in ('Goal', 'Result', 'Feedback'))
