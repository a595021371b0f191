"""Converts messages to and from JSON values exactly, so that a test controls the values sent and reads the values received.

Beyond plain JSON:
  - NaN and infinities are the strings "nan", "inf", "-inf"
  - byte and octet fields are numbers from 0 to 255
  - uint8 and byte sequences of more than 256 elements are {"$base64": "..."} (accepted at any length)
  - {"$repeat": [VALUE, N]} is accepted for a string or a sequence of N times VALUE
"""
import array
import base64
import importlib
import math

from rosidl_parser import definition

LONGEST_PLAIN_BYTES = 256


def interface(name, kind):
    """The class of `package/KIND/Name`; kind is "msg", "srv" or "action"."""
    parts = name.split("/")
    if len(parts) != 3 or parts[1] != kind:
        raise ValueError(f"{name!r} is not of the form package/{kind}/Name")
    return getattr(importlib.import_module(f"{parts[0]}.{kind}"), parts[2])


def fields(message):
    """The names and types of the fields, without the dummy member of empty messages."""
    names = list(message.get_fields_and_field_types())
    return [(name, kind) for name, kind in zip(names, message.SLOT_TYPES)
            if name != "structure_needs_at_least_one_member"]


def fill(message, value):
    """Sets the fields that the JSON object `value` names. An unknown field is an error."""
    types = dict(fields(message))
    for name, field in value.items():
        if name not in types:
            raise ValueError(f"{type(message).__name__} has no field {name!r}, it has {sorted(types)}")
        setattr(message, name, from_json(types[name], field))
    return message


def from_json(kind, value):
    repeat = value.get("$repeat") if isinstance(value, dict) else None
    if isinstance(kind, (definition.AbstractNestedType)):
        if isinstance(value, dict) and "$base64" in value:
            return bytes_field(kind, base64.b64decode(value["$base64"]))
        if repeat is not None:
            value = [repeat[0]] * repeat[1]
        return [from_json(kind.value_type, element) for element in value]
    if isinstance(kind, definition.AbstractGenericString):
        return repeat[0] * repeat[1] if repeat is not None else value
    if isinstance(kind, definition.NamespacedType):
        module = importlib.import_module(".".join(kind.namespaces))
        return fill(getattr(module, kind.name)(), value)
    if kind.typename == "octet":
        return bytes([value])
    if kind.typename in definition.FLOATING_POINT_TYPES:
        return float(value)
    return value


def bytes_field(kind, content):
    """A large block of bytes, in the form that the generated setter accepts without checking every
    element."""
    if kind.value_type.typename == "octet":
        return [content[i:i + 1] for i in range(len(content))]
    if isinstance(kind, definition.Array):
        return list(content)
    return array.array("B", content)


def to_json(message):
    return {name: field_to_json(kind, getattr(message, name)) for name, kind in fields(message)}


def field_to_json(kind, value):
    if isinstance(kind, definition.AbstractNestedType):
        element = kind.value_type
        if isinstance(element, definition.BasicType) and element.typename in ("uint8", "octet") \
                and len(value) > LONGEST_PLAIN_BYTES:
            content = b"".join(value) if element.typename == "octet" else bytes(value)
            return {"$base64": base64.b64encode(content).decode()}
        return [field_to_json(element, item) for item in value]
    if isinstance(kind, definition.AbstractGenericString):
        return value
    if isinstance(kind, definition.NamespacedType):
        return to_json(value)
    if kind.typename == "octet":
        return value[0]
    if kind.typename == "boolean":
        return bool(value)
    if kind.typename in definition.FLOATING_POINT_TYPES:
        value = float(value)
        return value if math.isfinite(value) else str(value)
    return int(value)
