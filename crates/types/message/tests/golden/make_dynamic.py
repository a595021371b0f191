#!/usr/bin/env python3
"""Makes the golden files of the tests of dynamic messages with the real ROS 2 Kilted and PyYAML.

    python3 make_dynamic.py            in an environment with ros-rclpy, ros-test-msgs and ros-sensor-msgs

dynamic_cdr.tsv:   type, serialized message in hexadecimal, the same message in JSON
dynamic_yaml.json: texts and numbers with how PyYAML writes them, as `ros2 topic echo` does
"""

import array
import importlib
import json
import math
import pathlib
import random
import sys

import numpy
import yaml

HERE = pathlib.Path(__file__).resolve().parent

INTEGERS = {
    "int8": (-(2**7), 2**7 - 1), "uint8": (0, 2**8 - 1), "int16": (-(2**15), 2**15 - 1), "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1), "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}
TEXTS = ["", "plain", "aé😀", "two\nlines", "tab\t\"quoted\" 'too' \\ #", "0"]


def value_of(ty, rng):
    """A value for a field, from the type description that the generated class carries."""
    from rosidl_parser import definition as d

    if isinstance(ty, d.BasicType):
        name = ty.typename
        if name == "boolean":
            return rng.random() < 0.5
        if name == "octet":
            return bytes([rng.randrange(256)])
        if name in ("float", "double"):
            value = rng.choice([0.0, -0.0, 1.5, -1e10, math.inf, -math.inf, math.nan, 0.1, 3.4028234663852886e38])
            return float(numpy.float32(value)) if name == "float" else value
        low, high = INTEGERS[name]
        return rng.choice([low, high, 0, rng.randint(low, high)])
    if isinstance(ty, (d.BoundedString, d.BoundedWString)):
        return rng.choice([text for text in TEXTS if len(text.encode()) <= ty.maximum_size])
    if isinstance(ty, (d.AbstractString, d.AbstractWString)):
        return rng.choice(TEXTS)
    if isinstance(ty, d.Array):
        return [value_of(ty.value_type, rng) for _ in range(ty.size)]
    if isinstance(ty, d.BoundedSequence):
        return [value_of(ty.value_type, rng) for _ in range(rng.randint(0, ty.maximum_size))]
    if isinstance(ty, d.UnboundedSequence):
        return [value_of(ty.value_type, rng) for _ in range(rng.randint(0, 4))]
    if isinstance(ty, d.NamespacedType):
        return fill(load("/".join(ty.namespaced_name())), rng)
    raise TypeError(ty)


def load(name):
    package, kind, type_ = name.split("/")
    module = importlib.import_module(f"{package}.{kind}")
    if type_.endswith(("_Request", "_Response")):
        service, part = type_.rsplit("_", 1)
        return getattr(getattr(module, service), part)
    return getattr(module, type_)


def fill(cls, rng):
    message = cls()
    for name, ty in zip(message.get_fields_and_field_types(), message.SLOT_TYPES):
        value = value_of(ty, rng)
        current = getattr(message, name)
        if isinstance(current, array.array):
            value = array.array(current.typecode, value)
        elif isinstance(current, numpy.ndarray):
            value = numpy.array(value, dtype=current.dtype)
        setattr(message, name, value)
    return message


def plain(value):
    """A message as JSON: bytes as numbers, what JSON cannot count as texts."""
    if isinstance(value, (bool, numpy.bool_)):
        return bool(value)
    if isinstance(value, bytes):
        return value[0]
    if isinstance(value, (int, numpy.integer)):
        return int(value)
    if isinstance(value, (float, numpy.floating)):
        value = float(value)
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return value
    if isinstance(value, str):
        return value
    if isinstance(value, (list, array.array, numpy.ndarray)):
        return [plain(item) for item in value]
    return {name: plain(getattr(value, name)) for name in value.get_fields_and_field_types()}


def cdr():
    from rclpy.serialization import serialize_message

    rng = random.Random(20)
    names = [f"test_msgs/msg/{n}" for n in (
        "Arrays BasicTypes BoundedPlainSequences BoundedSequences Builtins Constants Defaults Empty MultiNested Nested "
        "Strings UnboundedSequences WStrings").split()]
    names += ["test_msgs/srv/Arrays_Request", "test_msgs/srv/Empty_Response"]
    names += [f"sensor_msgs/msg/{n}" for n in "Imu LaserScan PointCloud2 JointState CameraInfo NavSatFix".split()]
    rows = []
    for name in names:
        cls = load(name)
        for message in (cls(), fill(cls, rng), fill(cls, rng)):
            data = bytes(serialize_message(message)).hex()
            rows.append(f"{name}\t{data}\t{json.dumps(plain(message), ensure_ascii=False)}\n")
    (HERE / "dynamic_cdr.tsv").write_text("".join(rows))


def yaml_texts():
    rng = random.Random(21)
    texts = TEXTS + """yes No TRUE yEs on off y n null ~ NULL nil = << 1 -1 +1 1_000 0x1f 0b101 0o17 017 08 1. .5 -.5
        1.5e3 1.5e+3 1e5 1e+5 .inf -.Inf .nan .NaN -.nan 1:30 1:75 1:30.5 2024-01-31 2024-1-1 2024-01-31T10:20:30Z
        192.168.0.1 1.2.3 a:b a: :a a#b #a -a - -- --- ---a ... ?a ? a? &a *a !a |a >a %a @a `a [a a] {a a} ,a a,b 'a
        "a a'b a"b a\\b /topic ~/name ü 日本 😀 1,5 5% 1_ 0 00 -0 0. 0.0 +.5 . .. e5 1e 0x 0b _1 1__2 True False""".split()
    texts += [" a", "a ", "a b", "a: b", "a #b", "a, b", "- a", "? a", "a\n", "\na", "a\nb", "a\n\nb", "a \nb",
              "a\n b", "\t", "a\tb", "\x00", "\x7f", "\x1b[0m", "a\rb", "\u00a0", "\ufeff", "\ue000", ": a",
              "<sequence type: uint8, length: 5>", "<array type: double[36]>", "<string length: <5>>", "x" * 200]
    alphabet = "ab01 :-#,'\"[]{}\n.\\é?&*!|>%@`_+=~"
    texts += ["".join(rng.choice(alphabet) for _ in range(rng.randint(1, 7))) for _ in range(600)]
    floats = [0.0, -0.0, 1.0, 0.1, 1e16, 1e15, 1.5e16, 1e17, 1e-4, 1e-5, 1.5e-5, 1e300, 5e-324, math.pi, -1e22]
    dump = lambda value, flow: yaml.dump(
        value, allow_unicode=True, width=sys.maxsize, default_flow_style=flow, sort_keys=False)
    rows = {
        # As the fields of a message inside a list, so that indentation counts.
        "texts": [{
            "text": text,
            "block": dump({"data": text}, False),
            "flow": dump({"data": text}, True),
            "items": dump({"strings": [text, "-"]}, False),
        } for text in texts],
        "floats": [{"value": value.hex(), "block": dump({"data": value}, False)} for value in floats],
    }
    (HERE / "dynamic_yaml.json").write_text(json.dumps(rows, indent=0) + "\n")


if __name__ == "__main__":
    cdr()
    yaml_texts()
