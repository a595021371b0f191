"""Stock ROS 2 serializes and deserializes given values, one JSON object per line."""

import importlib
import json
import sys

from rclpy.serialization import deserialize_message, serialize_message
from values import fill


def resolve(package, namespace, name):
    module = importlib.import_module(f"{package}.{namespace}")
    if not hasattr(module, name):
        base = name.split("_")[0]
        return getattr(getattr(module, base), name.rsplit("_", 1)[1])
    return getattr(module, name)


def plain(value):
    return value if isinstance(value, str) else repr(value)


for line in sys.stdin:
    task = json.loads(line)
    cls = resolve(*task["type"].split("/"))
    message = fill(cls, task["seed"], resolve)
    answer = {
        "repr": repr(message),
        "default": repr(cls()),
        "cdr": serialize_message(message).hex(),
        "decoded": repr(deserialize_message(bytes.fromhex(task["cdr"]), cls)),
        "types": cls.get_fields_and_field_types(),
        "slot_types": [
            [type(t).__name__, getattr(t, "size", None), getattr(t, "maximum_size", None)]
            for t in cls.SLOT_TYPES
        ],
        "containers": [type(getattr(message, f)).__name__ for f in cls.get_fields_and_field_types()],
    }
    print(json.dumps(answer), flush=True)
