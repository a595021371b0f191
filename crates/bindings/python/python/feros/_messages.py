"""Classes of messages, services and actions, created from their definitions at the first use."""

import glob
import os
import sys
import threading
from importlib.machinery import PathFinder

from feros import _definition as definition
from feros._companions import foreign_rclpy, refuse_beside_foreign
from feros._feros import Interfaces

_CHECKS = os.environ.get("ROS_PYTHON_CHECK_FIELDS", "") == "1"
_known = {}  # classes by full name
_namespaces = {}  # names of types by module
_KINDS = {"msg": "messages", "srv": "services", "action": "actions"}
_lock = threading.RLock()
_interfaces = None


def interfaces():
    """Returns the known definitions: those shipped with Feros, and those in folders named by
    environment variables."""
    global _interfaces
    if _interfaces is None:
        with _lock:
            if _interfaces is None:
                _interfaces = Interfaces()
    return _interfaces


class MessageMeta(type):
    """The metaclass of message classes, which protects constants from assignment."""

    def __setattr__(cls, name, value):
        if name in cls.__dict__.get("_feros_constants", ()):
            raise AttributeError(f"{name} is a constant of {cls.__name__}")
        super().__setattr__(name, value)


class Message(metaclass=MessageMeta):
    """The base class of all message classes."""

    __slots__ = ()
    _fields_and_field_types = {}
    SLOT_TYPES = ()

    def __init__(self, **kwargs):
        checks = kwargs.get("check_fields", _CHECKS)
        if checks:
            wrong = sorted(
                key for key in kwargs
                if f"_{key}" not in self.__slots__ and key != "check_fields"
            )
            assert not wrong, f"Invalid arguments passed to constructor: {', '.join(wrong)}"
        self._feros_type.initialize(self, kwargs or None, bool(checks))

    def __repr__(self):
        parts = type(self).__module__.split(".")[:-1] + [type(self).__name__]
        if parts[0] == "feros":
            parts = parts[2:]
        fields = []
        for name, slot_type in zip(self._fields_and_field_types, self.SLOT_TYPES):
            value = getattr(self, name)
            if _is_number_sequence(slot_type):
                text = repr(value.tolist() if hasattr(value, "tolist") else list(value))
            else:
                text = repr(value)
            fields.append(f"{name}={text}")
        return f"{'.'.join(parts)}({', '.join(fields)})"

    def __eq__(self, other):
        if not isinstance(other, type(self)):
            return False
        return all(
            _are_equal(getattr(self, name), getattr(other, name))
            for name in self._fields_and_field_types
        )

    __hash__ = None

    def __copy__(self):
        new = type(self).__new__(type(self))
        for slot in self.__slots__:
            setattr(new, slot, getattr(self, slot))
        return new

    def __deepcopy__(self, memo):
        import copy

        new = type(self).__new__(type(self))
        memo[id(self)] = new
        for slot in self.__slots__:
            setattr(new, slot, copy.deepcopy(getattr(self, slot), memo))
        return new

    def __reduce__(self):
        return _restore, (self._feros_name, self._feros_type.encode(self))

    @classmethod
    def get_fields_and_field_types(cls):
        """Returns the IDL types of the fields, by field name."""
        return dict(cls._fields_and_field_types)


def _restore(name, data):
    return message_class(name)._feros_type.decode(data)


def _are_equal(one, other):
    if hasattr(one, "dtype") or hasattr(other, "dtype"):
        return len(one) == len(other) and all(a == b for a, b in zip(_plain(one), _plain(other)))
    return one == other


def _plain(values):
    return values.tolist() if hasattr(values, "tolist") else values


def _is_number_sequence(slot_type):
    return (
        isinstance(slot_type, definition.AbstractSequence)
        and isinstance(slot_type.value_type, definition.BasicType)
        and slot_type.value_type.typename not in ("boolean", "octet")
    )


def _slot_type(field):
    base, bound = field["base"], field["bound"]
    if base == "message":
        package, namespace, name = field["nested"].split("/")
        element, text = definition.NamespacedType([package, namespace], name), f"{package}/{name}"
    elif base == "string":
        element = definition.BoundedString(bound) if bound else definition.UnboundedString()
        text = f"string<{bound}>" if bound else "string"
    elif base == "wstring":
        element = definition.BoundedWString(bound) if bound else definition.UnboundedWString()
        text = f"wstring<{bound}>" if bound else "wstring"
    else:
        element, text = definition.BasicType(base), base
    size = field["size"]
    if field["shape"] == "array":
        return definition.Array(element, size), f"{text}[{size}]"
    if field["shape"] == "sequence" and size is not None:
        return definition.BoundedSequence(element, size), f"sequence<{text}, {size}>"
    if field["shape"] == "sequence":
        return definition.UnboundedSequence(element), f"sequence<{text}>"
    return element, text


def private_module(name):
    """Returns the name of the private module that stock ROS 2 has for a definition: `LoadMap` is in
    `_load_map`."""
    parts = [name[:1]]
    for index, letter in enumerate(name[1:], 1):
        before, after = name[index - 1], name[index + 1:index + 2]
        begins_word = before.islower() or before.isdigit() or after.islower()
        parts.append(f"_{letter}" if letter.isupper() and begins_word else letter)
    return f"_{''.join(parts).lower()}"


def _module_of(package, namespace, name):
    # The name of a definition contains no underscore, and the names of its parts begin with the
    # name of the definition.
    return f"{package}.{namespace}.{private_module(name.split('_')[0])}"


def message_class(name):
    """Returns the class of a message type, by a full name such as `std_msgs/msg/String`."""
    known = _known.get(name)
    if known is not None:
        return known
    with _lock:
        return _known.get(name) or _make(name)


def _make(name):
    described = interfaces().definition(name)
    name = described["name"]
    if name in _known:
        return _known[name]
    package, namespace, short = name.split("/")
    slot_types, field_types, nested, slots = [], {}, {}, []
    constants = dict(described["constants"])
    for field in described["fields"]:
        slot_type, text = _slot_type(field)
        slot_types.append(slot_type)
        field_types[field["name"]] = text
        slots.append(f"_{field['name']}")
        if field["nested"]:
            nested[field["nested"]] = message_class(field["nested"])._feros_type
        if field["default"] is not None:
            constants[f"{field['name'].upper()}__DEFAULT"] = field["default"]
    message_type = interfaces().message_type(name)
    made = MessageMeta(short, (Message,), {
        "__slots__": [*slots, "_check_fields"],
        "__module__": _module_of(package, namespace, short),
        "__doc__": _documentation(short, described, field_types),
        "_fields_and_field_types": field_types,
        "SLOT_TYPES": tuple(slot_types),
        "_feros_type": message_type,
        "_feros_name": name,
        "_feros_constants": frozenset(constants),
        **constants,
    })
    message_type.bind(made, nested)
    _known[name] = made
    return made


def _documentation(short, described, field_types):
    """Returns the text that `help` shows: the comments of the definition or, for types that Feros
    ships, its own words about meaning and units."""
    lines = [f"Message class '{short}'."]
    if described["comment"]:
        lines += ["", described["comment"]]
    fields, constants = _entries(described, field_types)
    for title, entries in (("Fields:", fields), ("Constants:", constants)):
        if entries:
            lines += ["", title, *entries]
    return "\n".join(lines)


def _entries(described, field_types):
    """Returns a line for each field and a line for each constant that has a comment."""
    fields = [
        f"    {field['name']} ({field_types[field['name']]}): {field['comment']}"
        for field in described["fields"] if field["comment"]
    ]
    constants = [
        f"    {name}: {comment}" for name, comment in described["constant_comments"].items()
        if comment
    ]
    return fields, constants


def _documentation_of(heading, parts):
    """Returns the text that `help` shows for a service or an action. What is said about its first
    part, such as the goal, is said about the whole."""
    comments, paragraphs = [], []
    for title, part in parts.items():
        described = interfaces().definition(part._feros_name)
        fields, constants = _entries(described, part._fields_and_field_types)
        comments.append(described["comment"])
        about = described["comment"] if len(comments) > 1 else ""
        if about or fields or constants:
            paragraphs.append([f"{title}: {about}".rstrip(), *fields, *constants])
    whole = [[comments[0]]] if comments[0] else []
    return "\n\n".join("\n".join(lines) for lines in [[heading], *whole, *paragraphs])


class InterfaceMeta(type):
    """The metaclass of service and action classes."""


def _refuse(kind):
    def __init__(self):
        raise NotImplementedError(f"{kind} classes can not be instantiated")

    return __init__


def service_class(name):
    """Returns the class of a service type, by a full name such as `std_srvs/srv/SetBool`."""
    name = interfaces().find(name) if name not in _known else name
    with _lock:
        if name in _known:
            return _known[name]
        package, namespace, short = name.split("/")
        parts = {part: message_class(f"{name}_{part}") for part in ("Request", "Response")}
        made = InterfaceMeta(short, (), {
            "__module__": _module_of(package, namespace, short),
            "__doc__": _documentation_of(f"Service class '{short}'.", parts),
            "__init__": _refuse("Service"),
            **parts,
            "Event": message_class(f"{name}_Event"),
            "_feros_name": name,
        })
        _known[name] = made
        return made


def action_class(name):
    """Returns the class of an action type, by a full name such as
    `example_interfaces/action/Fibonacci`."""
    name = interfaces().find(name) if name not in _known else name
    with _lock:
        if name in _known:
            return _known[name]
        package, namespace, short = name.split("/")
        impl = type("Impl", (), {
            "SendGoalService": service_class(f"{name}_SendGoal"),
            "GetResultService": service_class(f"{name}_GetResult"),
            "FeedbackMessage": message_class(f"{name}_FeedbackMessage"),
            "CancelGoalService": service_class("action_msgs/srv/CancelGoal"),
            "GoalStatusMessage": message_class("action_msgs/msg/GoalStatusArray"),
        })
        parts = {part: message_class(f"{name}_{part}") for part in ("Goal", "Result", "Feedback")}
        made = InterfaceMeta(short, (), {
            "__module__": _module_of(package, namespace, short),
            "__doc__": _documentation_of(f"Action class '{short}'.", parts),
            "__init__": _refuse("Action"),
            **parts,
            "Impl": impl,
            "_feros_name": name,
        })
        _known[name] = made
        return made


def interface_class(name):
    """Returns the class of a message, service or action, by its full name or `package/Name`."""
    if name in _known:
        return _known[name]
    name = interfaces().find(name)
    kind = interfaces().kind(name)
    if kind == "action":
        return action_class(name)
    if kind == "srv":
        return service_class(name)
    return message_class(name)


def message_type(cls):
    """Returns the object that encodes and decodes messages of a class.

    Raises `TypeError` if `cls` is not a message class.
    """
    try:
        return cls._feros_type
    except AttributeError:
        raise TypeError(
            f"{cls!r} is not a message class of feros: import a class from feros.msgs, for"
            " example feros.msgs.std_msgs.msg.String"
        ) from None


def package_module(package_name):
    """Returns the `__getattr__` for the module of a package, such as `std_msgs`. It imports the
    namespaces of the package when they are needed."""

    def __getattr__(name):
        if name in ("msg", "srv", "action"):
            import importlib

            try:
                return importlib.import_module(f"{package_name}.{name}")
            except ModuleNotFoundError:
                pass  # the package has no such interfaces
        raise AttributeError(f"module {package_name!r} has no attribute {name!r}")

    return __getattr__


def namespace_module(module_name, package, namespace):
    """Returns the `__getattr__`, `__dir__` and `__all__` for the module of a package's namespace,
    such as `std_msgs.msg`. They create classes when they are needed."""
    names = interfaces().names(package, namespace)
    parts = []
    for name in names:
        parts.append(name)
        if namespace == "srv":
            parts += [f"{name}_{part}" for part in ("Request", "Response", "Event")]
        elif namespace == "action":
            parts += [f"{name}_{part}" for part in ("Goal", "Result", "Feedback")]
            parts += [f"{name}_FeedbackMessage", f"{name}_SendGoal", f"{name}_GetResult"]
            for service in ("SendGoal", "GetResult"):
                parts += [f"{name}_{service}_{p}" for p in ("Request", "Response", "Event")]
    by_module = {private_module(name): name for name in names}
    known = frozenset(parts)
    _namespaces[module_name] = names

    def __getattr__(name):
        if name in known:
            made = interface_class(f"{package}/{namespace}/{name}")
        elif name in by_module:
            made = _private(f"{module_name}.{name}", package, namespace, by_module[name], parts)
        else:
            raise AttributeError(_unknown(module_name, name, names))
        setattr(sys.modules[module_name], name, made)
        return made

    return __getattr__, lambda: sorted(known), list(names)


def _unknown(module_name, name, names):
    what = f"module {module_name!r} has no type {name!r}"
    return f"{what}{_nearest(name, names)}; {where_types_are()}"


def unknown_package(name):
    """Returns the error text for a package that is not found."""
    near = _nearest(name, interfaces().packages())
    return f"there is no interface package {name!r}{near}; {where_types_are()}"


def unknown_namespace(package, namespace):
    """Returns the error text for a kind of interface that a package does not have."""
    kind = f"{_KINDS.get(namespace, 'interfaces')} ({namespace})"
    return f"the interface package {package!r} has no {kind}; {where_types_are()}"


def _nearest(name, names):
    import difflib

    near = difflib.get_close_matches(name, names, 3)
    return f" (did you mean {', '.join(near)}?)" if near else ""


def where_types_are():
    """Returns the places in which Feros looks for types, for error texts."""
    return interfaces().places()


class _LastFinder:
    """The import finder that Python asks for modules that no other finder has found.

    It finds packages of which only the definitions are installed, such as `my_robot.msg` for
    scripts of rclpy, and private modules such as `std_msgs.msg._string`. It also reports why
    `from std_msgs.msg import Strin` fails, since Python discards the error of the module's
    `__getattr__`.
    """

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        module_name, _, name = fullname.rpartition(".")
        package, _, kind = module_name.rpartition(".")
        if kind in _KINDS and module_name not in _namespaces and "." not in package:
            _complete_folder(module_name, package, kind, name)
        names = _namespaces.get(module_name)
        if names is None:
            return _own_spec(fullname)
        found = getattr(sys.modules.get(module_name), name, None)
        if found is None:
            raise ModuleNotFoundError(_unknown(module_name, name, names), name=name)
        if isinstance(found, type(sys)):
            return _Loader(_keep, found).spec(fullname, False)
        return None  # Python takes a class from the module by itself


class _FirstFinder:
    """The import finder that Python asks first. If a program uses the `rclpy` of Feros, it replaces
    the modules of interfaces that the generator of stock ROS 2 made, such as `my_robot.msg` of a
    workspace: their classes work only with stock `rclpy`."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        package, _, kind = fullname.rpartition(".")
        if kind not in _KINDS or not package or "." in package:
            return None
        if not _is_generated(PathFinder.find_spec(fullname, path)) or foreign_rclpy():
            return None
        return _own_spec(fullname)


def _is_generated(spec):
    """Whether the generator of stock ROS 2 made a module."""
    if spec is None or spec.origin is None:
        return False
    for part in glob.glob(os.path.join(glob.escape(os.path.dirname(spec.origin)), "_[!_]*.py")):
        with open(part, "rb") as text:
            return text.readline().startswith(b"# generated from rosidl_generator_py/")
    return False


class _Loader:
    """Fills a new module, or one that exists."""

    def __init__(self, fill, module=None):
        self.exec_module, self._module = fill, module

    def create_module(self, spec):
        return self._module

    def spec(self, fullname, is_package):
        """Returns what a finder returns for the module."""
        from importlib.machinery import ModuleSpec

        return ModuleSpec(fullname, self, is_package=is_package)


def _keep(module):
    """Leaves a module as it is."""


def _own_spec(fullname):
    """Returns the spec of `my_robot` or `my_robot.msg` if there are such definitions."""
    package, _, kind = fullname.partition(".")
    if not package.islower() or package not in interfaces().packages():
        return None
    if kind and (kind not in _KINDS or not interfaces().names(package, kind)):
        return None
    return _Loader(_fill).spec(fullname, True)


def _fill(module):
    """Gives a module what `feros interface stubs --modules` writes into its file."""
    package, _, kind = module.__name__.partition(".")
    refuse_beside_foreign(package)
    if kind:
        made = namespace_module(module.__name__, package, kind)
        module.__getattr__, module.__dir__, module.__all__ = made
    else:
        module.__getattr__ = package_module(package)


def _complete_folder(module_name, package, kind, name):
    """Fills the module that Python makes of the folder `my_robot/msg`, if the definitions of the
    package are known. If the folder itself has the definition that is looked for, raises
    `ModuleNotFoundError` with what to do."""
    module = sys.modules.get(module_name)
    if module is None or getattr(module, "__file__", None) is not None:
        return
    if _own_spec(module_name) is not None:
        _fill(module)
        return
    for folder in module.__path__:
        if os.path.isfile(os.path.join(folder, f"{name}.{kind}")):
            raise ModuleNotFoundError(
                f"{folder} has the definition of {name}, but the package {package} is not"
                f" installed: build it (`feros build`), or name {os.path.dirname(folder)} in"
                f" FEROS_INTERFACES; {where_types_are()}", name=name)


sys.meta_path.insert(0, _FirstFinder)
sys.meta_path.append(_LastFinder)


def _private(module_name, package, namespace, definition_name, parts):
    """Returns the module of a definition in stock ROS 2, such as `nav2_msgs.srv._load_map`."""
    import types

    module = types.ModuleType(module_name)
    for part in parts:
        if part == definition_name or part.startswith(f"{definition_name}_"):
            setattr(module, part, interface_class(f"{package}/{namespace}/{part}"))
    sys.modules[module_name] = module
    return module


def serialize(message):
    """Serializes a message to CDR, with its 4-byte header."""
    return message_type(type(message)).encode(message)


def deserialize(data, cls):
    """Deserializes bytes to a message of a class.

    Raises `DecodeError` if the bytes are not such a message.
    """
    return message_type(cls).decode(data)
