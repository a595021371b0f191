"""Fills messages from dictionaries, such as those from YAML."""

import array
from functools import partial
from typing import Any, Callable, List

import numpy
from rosidl_parser.definition import AbstractNestedType, NamespacedType

from .convert import get_message_slot_types
from .import_message import import_message_from_namespaced_type


def set_message_fields(
    msg: Any, values: Any, expand_header_auto: bool = False, expand_time_now: bool = False
) -> List[Callable[[Any], None]]:
    """Sets the fields that a dictionary names.

    With expansion, a header may be `auto` and a time `now`; the returned functions set these fields
    to a time.

    Raises `AttributeError` for unknown fields, `TypeError` and `ValueError` for values that do not
    fit.
    """
    filling = _Filling(expand_header_auto, expand_time_now)
    filling.fill(msg, values)
    return filling.stamps


class _Filling:
    """Fills one message, and keeps the functions that set its stamps afterwards."""

    def __init__(self, expand_header_auto: bool, expand_time_now: bool) -> None:
        self.expand_header_auto = expand_header_auto
        self.expand_time_now = expand_time_now
        self.stamps: List[Callable[[Any], None]] = []

    def fill(self, msg: Any, values: Any) -> None:
        if not hasattr(values, 'items'):
            raise TypeError(
                f"Value '{values}' is expected to be a dictionary but is a"
                f' {type(values).__name__}')
        slot_types = get_message_slot_types(msg)
        for name, value in values.items():
            before = getattr(msg, name)
            if self._is_header(before) and value == 'auto' and self.expand_header_auto:
                self.stamps.append(partial(setattr, before, 'stamp'))
            elif self._is_time(before) and value == 'now' and self.expand_time_now:
                self.stamps.append(partial(setattr, msg, name))
            else:
                setattr(msg, name, self._converted(before, slot_types[name], value))

    @staticmethod
    def _is_header(field: Any) -> bool:
        return getattr(field, '_feros_name', None) == 'std_msgs/msg/Header'

    @staticmethod
    def _is_time(field: Any) -> bool:
        return getattr(field, '_feros_name', None) == 'builtin_interfaces/msg/Time'

    def _converted(self, before: Any, slot_type: Any, value: Any) -> Any:
        if isinstance(slot_type, AbstractNestedType):
            return self._several(before, slot_type.value_type, value)
        if isinstance(slot_type, NamespacedType):
            return self._message(type(before), value)
        return value if type(value) is type(before) else type(before)(value)

    def _several(self, before: Any, element: Any, value: Any) -> Any:
        if isinstance(before, array.array):
            return array.array(before.typecode, value)
        if isinstance(before, numpy.ndarray):
            return numpy.array(value, dtype=before.dtype)
        if isinstance(element, NamespacedType):
            message_class = import_message_from_namespaced_type(element)
            return [self._message(message_class, one) for one in value]
        return value if type(value) is type(before) else type(before)(value)

    def _message(self, message_class: Any, value: Any) -> Any:
        if isinstance(value, message_class):
            return value
        made = message_class()
        self.fill(made, value)
        return made
