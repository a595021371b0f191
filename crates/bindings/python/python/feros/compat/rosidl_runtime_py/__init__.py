"""Finds interfaces by name, and converts messages to dictionaries and text, with the names of stock
`rosidl_runtime_py`."""

from feros._companions import refuse_beside_foreign

refuse_beside_foreign(__name__)

from .convert import (  # noqa: E402
    get_message_slot_types,
    message_to_csv,
    message_to_ordereddict,
    message_to_yaml,
)
from .get_interfaces import (  # noqa: E402
    get_action_interfaces,
    get_interface_packages,
    get_interface_path,
    get_interfaces,
    get_message_interfaces,
    get_service_interfaces,
)
from .set_message import set_message_fields  # noqa: E402

__all__ = [
    'get_action_interfaces', 'get_interface_packages', 'get_interface_path', 'get_interfaces',
    'get_message_interfaces', 'get_message_slot_types', 'get_service_interfaces',
    'message_to_csv', 'message_to_ordereddict', 'message_to_yaml', 'set_message_fields',
]
