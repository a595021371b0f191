"""Values that are given as a value of a type, or as a text that gives one."""

from collections.abc import Iterable
from typing import Any, Dict, List, Optional, Sequence, Tuple, Type, Union

from .. import _wire
from .._text import normalize_to_list_of_substitutions
from ..launch_context import LaunchContext, current
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution

ScalarTypesTuple = (int, float, bool, str)
AllowedTypesTuple = (
    *ScalarTypesTuple, List[int], List[float], List[bool], List[str])

AllowedTypesType = Any
ScalarTypesType = Any
AllowedValueType = Any
SomeValueType = Union[
    int, float, bool, str, SomeSubstitutionsType, List[int], List[float], List[bool], List[str]]
NormalizedValueType = Any
StrSomeValueType = Any


def is_typing_list(data_type: Any) -> bool:
    """Returns whether a type is `List` or a list of one type."""
    return data_type in (List, list) or getattr(data_type, '__origin__', None) in (List, list)


def is_valid_scalar_type(data_type: Any) -> bool:
    """Returns whether a type is int, float, bool or str."""
    return data_type in ScalarTypesTuple


def extract_type(data_type: Any) -> Tuple[Any, bool]:
    """Returns a type, and whether it is the type of the items of a list.

    Raises `ValueError` if it is no type of a parameter.
    """
    inner, is_list = data_type, False
    if is_typing_list(data_type) and getattr(data_type, '__args__', None):
        inner, is_list = data_type.__args__[0], True
    if not is_valid_scalar_type(inner):
        raise ValueError(f'{data_type!r} is no type of a value: expected int, float, bool, str, or'
                         ' List of one of these')
    return inner, is_list


def name_of_type(data_type: Any) -> Optional[str]:
    """Returns the name of a type in XML files; `None` if there is no type."""
    if data_type is None:
        return None
    inner, is_list = extract_type(data_type)
    return f'list_of_{inner.__name__}' if is_list else str(inner.__name__)


def is_instance_of_valid_type(value: Any, *, can_be_str: bool = False) -> bool:
    """Returns whether a value is a value of a parameter."""
    if isinstance(value, list):
        kinds = {type(item) for item in value}
        if can_be_str and len(kinds) > 1:
            kinds.discard(str)
        return not kinds or len(kinds) == 1 and kinds.pop() in ScalarTypesTuple
    return isinstance(value, ScalarTypesTuple)


def is_instance_of(
    value: Any, data_type: Any = None, *, can_be_str: bool = False,
) -> bool:
    """Returns whether a value is of a type; without a type, whether it is a parameter's."""
    if data_type is None:
        return is_instance_of_valid_type(value, can_be_str=can_be_str)
    inner, is_list = extract_type(data_type)
    kinds = (inner, str) if can_be_str else inner
    if not is_list:
        return isinstance(value, kinds)
    return isinstance(value, list) and all(isinstance(item, kinds) for item in value)


def is_substitution(x: Any) -> bool:
    """Returns whether a value is a substitution, or texts with at least one substitution."""
    if isinstance(x, Substitution):
        return True
    if not isinstance(x, Iterable) or isinstance(x, (str, bytes, dict)):
        return False
    items = list(x)
    return all(isinstance(item, (Substitution, str)) for item in items) and any(
        isinstance(item, Substitution) for item in items)


is_normalized_substitution = is_substitution


def normalize_typed_substitution(value: Any, data_type: Any) -> Any:
    """Returns a value of a type; the parts of a text instead of a substitution.

    Raises `TypeError` if the value can give no value of the type.
    """
    if isinstance(value, ScalarTypesTuple):
        if not is_instance_of(value, data_type):
            raise TypeError(f'{value!r:.80} is not of the type {name_of_type(data_type)}')
        return value
    if is_substitution(value):
        return normalize_to_list_of_substitutions(value)
    if not isinstance(value, Iterable) or isinstance(value, (bytes, dict)):
        raise TypeError(f'{value!r:.80} of the type {type(value).__name__} is no value: expected a'
                        ' boolean, a number, a text, a substitution, or a list of these')
    inner = None
    if data_type is not None:
        inner, is_list = extract_type(data_type)
        if not is_list:
            raise TypeError(f'{value!r:.80} is a list: expected {inner.__name__}')
    found = [
        normalize_to_list_of_substitutions(item)
        if is_substitution(item) or isinstance(item, list) else item for item in value]
    _check_items(found, inner)
    return found


def _check_items(items: List[Any], inner: Any) -> None:
    constants = [item for item in items if not isinstance(item, list)]
    kinds = {type(item) for item in constants}
    if inner is not None:
        if not all(isinstance(item, inner) for item in constants):
            raise TypeError(f'{constants!r:.80} has items that are not of the type'
                            f' {inner.__name__}')
    elif len(kinds) > 1 or not kinds <= set(ScalarTypesTuple):
        raise TypeError(f'{constants!r:.80} has items of different types')


def typed_data(value: Any, data_type: Any) -> Dict[str, Any]:
    """Returns a normalized value as data."""
    name = name_of_type(data_type)
    data = untyped_data([value] if isinstance(value, Substitution) else value, list)
    return data if name is None else {**data, 'type': name}


def untyped_data(value: Any, several: Type[Sequence[Any]]) -> Dict[str, Any]:
    """Returns a value as data; `several` is the type of lists, and of texts with substitutions."""
    if not isinstance(value, several):
        return {'is': _wire.scalar(value)}
    if value and all(isinstance(item, Substitution) for item in value):
        return {'text': _wire.template(value)}
    if any(isinstance(item, several) for item in value):
        return {'list': [
            {'text': _wire.template(item)} if isinstance(item, several)
            else {'is': _wire.scalar(item)} for item in value]}
    return {'is': [_wire.scalar(item) for item in value]}


def evaluated(context: LaunchContext, data: Dict[str, Any]) -> Any:
    """Returns the value that data give."""
    answer = context._feros_ask({'ask': 'value', 'value': data})['is']
    if isinstance(answer, list):
        return [_wire.constant(item) for item in answer]
    return _wire.constant(answer)


def perform_typed_substitution(context: LaunchContext, value: Any, data_type: Any) -> Any:
    """Returns the value of a type that a normalized value gives."""
    return evaluated(context, typed_data(value, data_type))


def coerce_to_type(value: str, data_type: Any = None, *, can_be_str: bool = False) -> Any:
    """Returns the value of a type that a text gives by the rules of YAML.

    Raises `ValueError` if it gives no such value.
    """
    context = current()
    if context is None:
        raise RuntimeError('`coerce_to_type` works in files that `feros launch` starts only')
    try:
        return perform_typed_substitution(
            context, normalize_to_list_of_substitutions(value), data_type)
    except RuntimeError as error:
        if can_be_str:
            return value
        raise ValueError(str(error)) from error


def coerce_list(value: List[str], data_type: Any = None, *, can_be_str: bool = False) -> List[Any]:
    """Returns the values that texts give."""
    return [coerce_to_type(item, data_type, can_be_str=can_be_str) for item in value]


def get_typed_value(value: Any, data_type: Any = None, *, can_be_str: bool = False) -> Any:
    """Returns the value that a text or a list of texts gives."""
    if not isinstance(value, list):
        return coerce_to_type(value, data_type, can_be_str=can_be_str)
    inner = None if data_type is None else extract_type(data_type)[0]
    return coerce_list(value, inner, can_be_str=can_be_str)
