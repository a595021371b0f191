"""Messages full of extreme values, made in the same way from classes of stock ROS 2 and Feros."""

import random

INTEGERS = {
    "int8": (-(2**7), 2**7 - 1), "uint8": (0, 2**8 - 1),
    "int16": (-(2**15), 2**15 - 1), "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1), "uint64": (0, 2**64 - 1),
}
FLOATS = {
    "float": [0.0, -0.0, 1.5, -2.25, float("inf"), float("-inf"), 2.0**127, 2.0**-126],
    "double": [0.0, -0.0, 1e308, -1e-308, float("inf"), float("-inf"), 0.1, 2.0**-1074],
}
TEXTS = ["", "a", "Grüße", "漢字", "\U0001f600", "tab\tand \"quotes\"", "x" * 20]
TYPES = [
    "msg/Arrays", "msg/BasicTypes", "msg/BoundedPlainSequences", "msg/BoundedSequences",
    "msg/Builtins", "msg/Constants", "msg/Defaults", "msg/Empty", "msg/KeyedLong",
    "msg/KeyedString", "msg/MultiNested", "msg/Nested", "msg/Strings", "msg/UnboundedSequences",
    "msg/WStrings", "srv/Arrays_Request", "srv/Arrays_Response", "srv/BasicTypes_Request",
    "srv/BasicTypes_Response", "srv/Empty_Request", "action/Fibonacci_Goal",
    "action/Fibonacci_Result", "action/Fibonacci_Feedback", "action/NestedMessage_Goal",
]


def fill(cls, seed, resolve):
    """A message of a class; `resolve(package, namespace, name)` finds other classes."""
    return _message(cls, random.Random(seed), resolve)


def _message(cls, rng, resolve):
    message = cls()
    for name, slot_type in zip(cls.get_fields_and_field_types(), cls.SLOT_TYPES):
        setattr(message, name, _value(slot_type, rng, resolve))
    return message


def _value(slot_type, rng, resolve):
    kind = type(slot_type).__name__
    if kind == "Array":
        return [_value(slot_type.value_type, rng, resolve) for _ in range(slot_type.size)]
    if kind in ("BoundedSequence", "UnboundedSequence"):
        count = rng.choice([0, 1, getattr(slot_type, "maximum_size", 5)])
        return [_value(slot_type.value_type, rng, resolve) for _ in range(count)]
    if kind == "NamespacedType":
        return _message(resolve(*slot_type.namespaces, slot_type.name), rng, resolve)
    if kind.endswith("String"):
        return rng.choice(TEXTS)[:getattr(slot_type, "maximum_size", 100) // 4]
    return _basic(slot_type.typename, rng)


def _basic(typename, rng):
    if typename == "boolean":
        return rng.random() < 0.5
    if typename == "octet":
        return bytes([rng.choice([0, 1, 127, 128, 255])])
    if typename in FLOATS:
        return rng.choice(FLOATS[typename])
    low, high = INTEGERS[typename]
    return rng.choice([low, high, 0, 1, rng.randint(low, high)])
