"""Messages as dictionaries, YAML, and lines of values."""

import array
import sys
from collections import OrderedDict
from functools import lru_cache
from typing import Any, Optional, Tuple

import numpy
from rosidl_parser.definition import (
    AbstractNestedType,
    AbstractString,
    AbstractWString,
    Array,
    BasicType,
    BoundedSequence,
    NamespacedType,
)


def get_message_slot_types(msg: Any) -> 'OrderedDict[str, Any]':
    """Returns the types of the fields of a message, by name."""
    return OrderedDict(zip(msg.get_fields_and_field_types(), msg.SLOT_TYPES))


def _type_name(value_type: Any) -> str:
    if isinstance(value_type, BasicType):
        return value_type.typename
    if isinstance(value_type, AbstractString):
        return 'string'
    if isinstance(value_type, AbstractWString):
        return 'wstring'
    if isinstance(value_type, NamespacedType):
        return '/'.join(value_type.namespaced_name())
    return 'unknown'


def _array_info(value: Any, slot_type: AbstractNestedType) -> str:
    """Returns the text that stands for the elements of an array or sequence."""
    element = _type_name(slot_type.value_type)
    if isinstance(slot_type, Array):
        return f'<array type: {element}[{slot_type.size}]>'
    if isinstance(slot_type, BoundedSequence):
        element = f'{element}[{slot_type.maximum_size}]'
    return f'<sequence type: {element}, length: {len(value)}>'


@lru_cache(maxsize=None)
def _yaml() -> Tuple[Any, Any]:
    """Returns PyYAML, and a dumper for messages."""
    try:
        import yaml
    except ImportError as error:
        raise ImportError('message_to_yaml needs PyYAML: `pip install pyyaml`') from error

    class Dumper(yaml.SafeDumper):
        """A dumper that writes messages, and does not use aliases for equal values."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    Dumper.add_representer(OrderedDict, Dumper.represent_dict)
    Dumper.add_representer(tuple, Dumper.represent_list)
    return yaml, Dumper


def message_to_yaml(
    msg: Any,
    *,
    truncate_length: Optional[int] = None,
    no_arr: bool = False,
    no_str: bool = False,
    flow_style: bool = False,
) -> str:
    """Returns a message in YAML; the arguments are those of `message_to_ordereddict`.

    Raises `ImportError` if PyYAML is not installed.
    """
    content = message_to_ordereddict(
        msg, truncate_length=truncate_length, no_arr=no_arr, no_str=no_str)
    yaml, dumper = _yaml()
    return yaml.dump(
        content, Dumper=dumper, allow_unicode=True, width=sys.maxsize,
        default_flow_style=flow_style, sort_keys=False)


def message_to_csv(
    msg: Any,
    *,
    truncate_length: Optional[int] = None,
    no_arr: bool = False,
    no_str: bool = False,
) -> str:
    """Returns the values of a message, separated by commas; the arguments are those of
    `message_to_ordereddict`."""
    if isinstance(msg, bytes):
        return str(msg)
    limits = {'truncate_length': truncate_length, 'no_arr': no_arr, 'no_str': no_str}

    def text(value: Any, slot_type: Any = None) -> str:
        if isinstance(value, (list, tuple, array.array, numpy.ndarray)):
            if no_arr and slot_type is not None:
                return _array_info(value, slot_type)
            shown = [text(one) for one in value[:truncate_length]]
            if truncate_length is not None and len(value) > truncate_length:
                shown.append('...')
            return ','.join(shown)
        if isinstance(value, str) and no_str:
            return f'<string length: <{len(value)}>>'
        if isinstance(value, (str, bytes)):
            is_longer = truncate_length is not None and len(value) > truncate_length
            dots = '...' if isinstance(value, str) else b'...'
            return str(value[:truncate_length] + dots if is_longer else value)
        if isinstance(value, (bool, int, float, numpy.number)):
            return str(value)
        return message_to_csv(value, **limits)

    return ','.join(
        text(getattr(msg, name), slot_type)
        for name, slot_type in get_message_slot_types(msg).items())


def message_to_ordereddict(
    msg: Any,
    *,
    truncate_length: Optional[int] = None,
    no_arr: bool = False,
    no_str: bool = False,
) -> 'OrderedDict[str, Any]':
    """Returns the fields of a message in their order, as plain Python values.

    At most `truncate_length` elements of each string and array are kept; with `no_arr` and
    `no_str`, only the lengths of arrays and strings. A serialized message becomes its `bytes`.
    """
    if isinstance(msg, bytes):
        return OrderedDict(bytes=msg)
    return OrderedDict(
        (name, _convert_value(
            getattr(msg, name, None), field_type=slot_type, truncate_length=truncate_length,
            no_arr=no_arr, no_str=no_str))
        for name, slot_type in get_message_slot_types(msg).items())


def _convert_value(
    value: Any,
    *,
    field_type: Any = None,
    truncate_length: Optional[int] = None,
    no_arr: bool = False,
    no_str: bool = False,
) -> Any:
    limits = {'truncate_length': truncate_length, 'no_arr': no_arr, 'no_str': no_str}
    is_longer = (
        truncate_length is not None and hasattr(value, '__len__') and len(value) > truncate_length)
    if isinstance(value, (bytes, str)):
        if isinstance(value, str) and no_str:
            return f'<string length: <{len(value)}>>'
        text = value if isinstance(value, str) else value.decode('latin-1')
        return f'{text[:truncate_length]}...' if is_longer else text
    if isinstance(value, (list, tuple, array.array, numpy.ndarray, memoryview)):
        if no_arr and field_type is not None:
            return _array_info(value, field_type)
        kept = value[:truncate_length]
        if isinstance(kept, (array.array, numpy.ndarray, memoryview)):
            converted = kept.tolist()
        else:
            converted = [_convert_value(one, **limits) for one in kept]
        if is_longer:
            converted.append('...')
        return tuple(converted) if isinstance(value, tuple) else converted
    if isinstance(value, dict):
        # Keys are not truncated, since two of them could become equal.
        pairs = ((_convert_value(k), _convert_value(v, **limits)) for k, v in value.items())
        return type(value)(pairs)
    if isinstance(value, numpy.number):
        return value.item()
    if isinstance(value, (bool, float, int)):
        return value
    return message_to_ordereddict(value, **limits)
