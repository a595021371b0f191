"""Parameters of nodes: names, types and values, in messages and in files."""

import array
from enum import IntEnum
from typing import Any, Callable, Dict, Generic, List, Optional, Tuple, TypeVar

from rcl_interfaces.msg import Parameter as ParameterMsg
from rcl_interfaces.msg import ParameterType, ParameterValue

PARAMETER_SEPARATOR_STRING = '.'

AllowableParameterValue = Any
AllowableParameterValueT = TypeVar('AllowableParameterValueT')

_SEQUENCES = (list, tuple, array.array)



def _all_are(kind: type) -> Callable[[Any], bool]:
    return lambda values: isinstance(values, _SEQUENCES) and all(
        isinstance(value, kind) for value in values
    )


def _are_bytes(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and all(
        isinstance(value, bytes) and len(value) == 1 for value in values
    )


class Parameter(Generic[AllowableParameterValueT]):
    """A name, a type and a value."""

    class Type(IntEnum):
        """The types; the numbers are those of `rcl_interfaces/msg/ParameterType`."""

        NOT_SET = ParameterType.PARAMETER_NOT_SET
        BOOL = ParameterType.PARAMETER_BOOL
        INTEGER = ParameterType.PARAMETER_INTEGER
        DOUBLE = ParameterType.PARAMETER_DOUBLE
        STRING = ParameterType.PARAMETER_STRING
        BYTE_ARRAY = ParameterType.PARAMETER_BYTE_ARRAY
        BOOL_ARRAY = ParameterType.PARAMETER_BOOL_ARRAY
        INTEGER_ARRAY = ParameterType.PARAMETER_INTEGER_ARRAY
        DOUBLE_ARRAY = ParameterType.PARAMETER_DOUBLE_ARRAY
        STRING_ARRAY = ParameterType.PARAMETER_STRING_ARRAY

        @classmethod
        def from_parameter_value(cls, parameter_value: Any) -> 'Parameter.Type':
            """Returns the type of a Python value; raises `TypeError` if no type fits."""
            if parameter_value is None:
                return cls.NOT_SET
            # A bool is an int in Python, so the order matters.
            for kind, type_ in _SCALARS:
                if isinstance(parameter_value, kind):
                    return cls(type_)
            if not isinstance(parameter_value, _SEQUENCES):
                raise TypeError(
                    f"The given value is not one of the allowed types '{parameter_value}'."
                )
            for kind, type_ in _ELEMENTS:
                if all(isinstance(value, kind) for value in parameter_value):
                    return cls(type_)
            raise TypeError(
                'The given value is not a list of one of the allowed types'
                f" '{parameter_value}'."
            )

        def check(self, parameter_value: Any) -> bool:
            """Returns whether a Python value can be the value of a parameter of this type."""
            return _CHECKS[self](parameter_value)

    @classmethod
    def from_parameter_msg(cls, param_msg: ParameterMsg) -> 'Parameter[Any]':
        """Returns the parameter in a message."""
        type_ = Parameter.Type(param_msg.value.type)
        return cls(param_msg.name, type_, parameter_value_to_python(param_msg.value))

    def __init__(
        self, name: str, type_: Optional['Parameter.Type'] = None, value: Any = None
    ) -> None:
        if type_ is None:
            # Raises for a value that no parameter can hold.
            type_ = Parameter.Type.from_parameter_value(value)
        if not isinstance(type_, Parameter.Type):
            raise TypeError('type must be an instance of `Parameter.Type`')
        if not type_.check(value):
            raise ValueError(f"Type '{type_}' and value '{value}' do not agree")
        self._name = name
        self._type_ = type_
        self._value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parameter):
            return NotImplemented
        mine = (self._name, self._type_, self._value)
        return mine == (other._name, other._type_, other._value)

    __hash__ = object.__hash__

    @property
    def name(self) -> str:
        """The name, with dots between its parts."""
        return self._name

    @property
    def type_(self) -> 'Parameter.Type':
        """The type of the value."""
        return self._type_

    @property
    def value(self) -> AllowableParameterValueT:
        """The value; `None` if it is not set."""
        return self._value

    def get_parameter_value(self) -> ParameterValue:
        """Returns the value as a message."""
        message = ParameterValue(type=self._type_.value)
        if self._type_ != Parameter.Type.NOT_SET:
            setattr(message, _FIELDS[self._type_], self._value)
        return message

    def to_parameter_msg(self) -> ParameterMsg:
        """Returns the name and the value as a message."""
        return ParameterMsg(name=self._name, value=self.get_parameter_value())


_Type = Parameter.Type
_SCALARS: Tuple[Tuple[type, IntEnum], ...] = (
    (bool, _Type.BOOL),
    (int, _Type.INTEGER),
    (float, _Type.DOUBLE),
    (str, _Type.STRING),
)
# An empty list counts as bytes, as in stock.
_ELEMENTS: Tuple[Tuple[type, IntEnum], ...] = (
    (bytes, _Type.BYTE_ARRAY),
    (bool, _Type.BOOL_ARRAY),
    (int, _Type.INTEGER_ARRAY),
    (float, _Type.DOUBLE_ARRAY),
    (str, _Type.STRING_ARRAY),
)
_CHECKS: Dict[IntEnum, Callable[[Any], bool]] = {
    _Type.NOT_SET: lambda value: value is None,
    _Type.BOOL: lambda value: isinstance(value, bool),
    _Type.INTEGER: lambda value: isinstance(value, int),
    _Type.DOUBLE: lambda value: isinstance(value, float),
    _Type.STRING: lambda value: isinstance(value, str),
    _Type.BYTE_ARRAY: _are_bytes,
    _Type.BOOL_ARRAY: _all_are(bool),
    _Type.INTEGER_ARRAY: _all_are(int),
    _Type.DOUBLE_ARRAY: _all_are(float),
    _Type.STRING_ARRAY: _all_are(str),
}
# The field of `rcl_interfaces/msg/ParameterValue` that holds a value of each type.
_FIELDS: Dict[IntEnum, str] = {
    type_: f'{type_.name.lower()}_value' for type_ in _Type if type_ != _Type.NOT_SET
}


def override_as_declared(override: 'Parameter[Any]', declared: IntEnum) -> 'Parameter[Any]':
    """Converts a value from a parameter file to the declared type. In YAML, an empty list has no
    element type, and bytes do not exist: an empty list becomes one of the declared type, and
    integers from 0 to 255 become bytes. Other values stay as they are."""
    value, type_ = override.value, _Type(declared)
    if type_ < _Type.BYTE_ARRAY or not isinstance(value, list):
        return override
    if not value:
        return Parameter(override.name, type_, [])
    are_bytes = override.type_ == _Type.INTEGER_ARRAY and all(0 <= one <= 255 for one in value)
    if type_ == _Type.BYTE_ARRAY and are_bytes:
        return Parameter(override.name, type_, [bytes([one]) for one in value])
    return override


def get_parameter_value(string_value: str) -> ParameterValue:
    """Parses a text by the rules of YAML. A text that is not another kind of value is a string."""
    import yaml

    try:
        value = yaml.safe_load(string_value)
    except yaml.YAMLError:
        value = string_value
    for kind, type_ in _SCALARS[:3]:
        if isinstance(value, kind):
            return Parameter('', _Type(type_), value).get_parameter_value()
    if isinstance(value, list):
        for kind, type_ in _ELEMENTS[1:]:
            if all(isinstance(element, kind) for element in value):
                return Parameter('', _Type(type_), value).get_parameter_value()
        value = string_value
    text = string_value if value is None else value
    return ParameterValue(type=_Type.STRING.value, string_value=text)


def parameter_value_to_python(parameter_value: ParameterValue) -> AllowableParameterValue:
    """Returns the Python value of a message; `None` if it is not set."""
    try:
        type_ = _Type(parameter_value.type)
    except ValueError:
        raise RuntimeError(f'unexpected parameter type {parameter_value.type}') from None
    if type_ == _Type.NOT_SET:
        return None
    value = getattr(parameter_value, _FIELDS[type_])
    return list(value) if type_ >= _Type.BYTE_ARRAY else value


def parameter_dict_from_yaml_file(
    parameter_file: str,
    use_wildcard: bool = False,
    target_nodes: Optional[List[str]] = None,
    namespace: str = '',
) -> Dict[str, ParameterMsg]:
    """Returns the parameters in a file, by name, with `namespace` before each name.

    The section `/**` is used if `use_wildcard` is set; sections of `target_nodes` override it.
    Raises `RuntimeError` if the file has no such section, or is not a parameter file.
    """
    import yaml

    with open(parameter_file, encoding='utf-8') as file:
        content = yaml.safe_load(file)
    found: Dict[str, Any] = {}
    if use_wildcard and '/**' in content:
        found.update(_parameters_of(content['/**'], 'wildcard(/**)'))
    for node in target_nodes or []:
        if node:
            found.update(_section(content, node if node.startswith('/') else f'/{node}'))
    if not found:
        raise RuntimeError('Param file does not contain any valid parameters')
    return _flatten(namespace, found)


def _section(content: Dict[str, Any], absolute_name: str) -> Dict[str, Any]:
    """Returns the section for one node in a file, which may have the node's full name, or the
    node's name within a section of its namespace."""
    found: Dict[str, Any] = {}
    if absolute_name in content:
        found.update(_parameters_of(content[absolute_name], f'node {absolute_name}'))
    namespace, base_name = absolute_name.rsplit('/', 1)
    if not namespace and base_name in content:
        found.update(_parameters_of(content[base_name], f'node {base_name}'))
    elif base_name in content.get(namespace, {}):
        where = f'namespace {namespace} node {base_name}'
        found.update(_parameters_of(content[namespace][base_name], where))
    return found


def _parameters_of(section: Any, where: str) -> Dict[str, Any]:
    if not isinstance(section, dict) or 'ros__parameters' not in section:
        raise RuntimeError(f'YAML file is not a valid ROS parameter file for {where}')
    return section['ros__parameters']


def _flatten(prefix: str, parameters: Dict[str, Any]) -> Dict[str, ParameterMsg]:
    flat: Dict[str, ParameterMsg] = {}
    for name, value in parameters.items():
        if isinstance(value, dict):
            flat.update(_flatten(f'{prefix}{name}{PARAMETER_SEPARATOR_STRING}', value))
        else:
            flat[prefix + name] = ParameterMsg(
                name=prefix + name, value=get_parameter_value(str(value))
            )
    return flat
