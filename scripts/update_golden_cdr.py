#!/usr/bin/env python3
"""Regenerates the golden CDR bytes and the golden hashes of examples/own_package with an installed ROS 2 Kilted.

    python3 -m venv kilted
    kilted/bin/pip install -r scripts/requirements-ros2-kilted.txt
    kilted/bin/python scripts/update_golden_cdr.py

crates/types/msgs/tests/golden/cdr.tsv has a line for each message type of the installed packages and each variant (as
constructed, or filled with a value in every field). A line has the type, the variant, the bytes that rclpy serializes in
hexadecimal, and the value as Rust's `{:?}` shows it, with which the test checks that the bytes are read correctly.
Padding and trailing bytes can have any value.
"""

import importlib
import itertools
import json
import os
import pathlib
import sys
import tempfile

# The results must not depend on the caller's environment; wheels install below the prefix of Python.
os.environ["AMENT_PREFIX_PATH"] = sys.prefix
os.environ["RMW_IMPLEMENTATION"] = "rmw_fastrtps_cpp"

from ament_index_python.packages import get_package_share_directory, get_resources
from rclpy.serialization import serialize_message
from rosidl_adapter import convert_to_idl
from rosidl_generator_type_description import generate_type_hash
from rosidl_parser import definition

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "crates/types/msgs/tests/golden/cdr.tsv"
EXAMPLE = ROOT / "examples/own_package"
INTERFACES = ROOT / "interfaces"


class Filler:
    """Gives every field a value that no other field of the message has, as far as its type allows that."""

    def __init__(self):
        self.counter = itertools.count(1)

    def message(self, message):
        for name, ty in zip(message.get_fields_and_field_types(), message.SLOT_TYPES, strict=True):
            setattr(message, name, self.value(ty))
        return message

    def value(self, ty):
        if isinstance(ty, definition.Array):
            return self.container(ty.value_type, ty.size)
        if isinstance(ty, definition.BoundedSequence):
            return self.container(ty.value_type, min(ty.maximum_size, 3))
        if isinstance(ty, definition.AbstractNestedType):
            return self.container(ty.value_type, 3)
        if isinstance(ty, definition.NamespacedType):
            return self.message(message_class("/".join(ty.namespaced_name()))())
        number = next(self.counter)
        if isinstance(ty, definition.AbstractGenericString):
            text = f"é😀{number}" if isinstance(ty, definition.AbstractWString) else f"é{number}"
            bound = getattr(ty, "maximum_size", None)
            return text[: bound // 2] if bound else text
        return {
            "boolean": lambda: number % 2 == 1,
            "octet": lambda: bytes([number % 251]),
            "float": lambda: number + 0.5,
            "double": lambda: number + 0.25,
            "int8": lambda: -(number % 127),
            "int16": lambda: -number - 256,
            "int32": lambda: -number - (1 << 20),
            "int64": lambda: -number - (1 << 40),
            "uint16": lambda: number + 256,
            "uint32": lambda: number + (1 << 31),
            "uint64": lambda: number + (1 << 63),
        }.get(ty.typename, lambda: number % 251)()

    def container(self, ty, length):
        return [self.value(ty) for _ in range(length)]


def message_class(type_name):
    package, namespace, name = type_name.split("/")
    # The message types of services and actions are only in the module of their file.
    outer = getattr(importlib.import_module(f"{package}.{namespace}"), name.split("_")[0])
    return getattr(sys.modules[outer.__module__], name)


def rust_debug(value, ty):
    """Returns the value as Rust's derived `Debug` shows it."""
    if isinstance(ty, definition.AbstractNestedType):
        items = [rust_debug(bytes([v]) if isinstance(v, int) and octet(ty) else v, ty.value_type) for v in value]
        return f"[{', '.join(items)}]"
    if isinstance(ty, definition.NamespacedType):
        return rust_struct(value)
    if isinstance(ty, definition.AbstractGenericString):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bytes):
        return str(value[0])
    if isinstance(value, bool):
        return "true" if value else "false"
    if ty.typename in ("float", "double"):
        return rust_float(value)
    return str(int(value))


def octet(ty):
    return getattr(ty.value_type, "typename", "") == "octet"


def rust_float(value):
    text = repr(float(value))
    assert "e" not in text or text in ("inf", "-inf"), f"Rust may write {text} differently"
    return text.replace("nan", "NaN")


def rust_struct(message):
    fields = list(zip(message.get_fields_and_field_types(), message.SLOT_TYPES, strict=True))
    shown = [f"{name}: {rust_debug(getattr(message, name), ty)}" for name, ty in fields]
    name = type(message).__name__
    return f"{name} {{ {', '.join(shown)} }}" if shown else name


# The messages that a definition file defines.
PARTS = {
    ".msg": [""],
    ".srv": ["_Request", "_Response", "_Event"],
    ".action": ["_Goal", "_Result", "_Feedback", "_FeedbackMessage"]
    + [f"_{service}_{part}" for service in ("SendGoal", "GetResult") for part in ("Request", "Response", "Event")],
}


def golden_lines():
    for package in sorted(get_resources("rosidl_interfaces")):
        for file in sorted((INTERFACES / package).glob("*/*.*")):
            if file.suffix not in PARTS:
                continue
            for suffix in PARTS[file.suffix]:
                type_name = f"{package}/{file.suffix[1:]}/{file.stem}{suffix}"
                cls = message_class(type_name)
                for variant, message in (("constructed", cls()), ("filled", Filler().message(cls()))):
                    data = serialize_message(message).hex()
                    yield f"{type_name}\t{variant}\t{data}\t{rust_struct(message)}\n"


def example_hashes():
    package = EXAMPLE / "interfaces/robot_interfaces"
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        tuples = []
        for file in sorted(package.glob("*/*.*")):
            relative = file.relative_to(package)
            convert_to_idl(package, package.name, relative, scratch)
            tuples.append(f"{scratch}:{relative.with_suffix('.idl')}")
        arguments = scratch / "arguments.json"
        includes = [f"{name}:{get_package_share_directory(name)}" for name in get_resources("rosidl_interfaces")]
        out = scratch / "out"
        arguments.write_text(
            json.dumps(
                {
                    "package_name": package.name,
                    "output_dir": str(out),
                    "idl_tuples": tuples,
                    "include_paths": includes,
                }
            )
        )
        generate_type_hash(str(arguments))
        for file in sorted(package.glob("*/*.*")):
            made = json.loads((out / file.relative_to(package).with_suffix(".json")).read_text())
            yield file.stem, made["type_hashes"][0]["hash_string"]


def main():
    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    GOLDEN.write_text("".join(golden_lines()))
    hashes = EXAMPLE / "tests/hashes"
    hashes.mkdir(parents=True, exist_ok=True)
    for name, text in example_hashes():
        (hashes / name).write_text(text + "\n")


if __name__ == "__main__":
    main()
