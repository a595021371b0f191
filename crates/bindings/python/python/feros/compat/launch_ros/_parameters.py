"""The forms in which a launch file gives parameters and remappings."""

from collections.abc import Mapping, Sequence
from typing import Any, Dict, Iterable, List, Optional, Tuple

from launch import _wire
from launch._text import TextSubstitution, normalize_to_list_of_substitutions
from launch.substitution import Substitution
from launch.utilities.type_utils import untyped_data

from .parameter_descriptions import Parameter, ParameterFile, ParameterValue
from .remap_rule_type import RemapRule, SomeRemapRules

Data = Dict[str, Any]


def _name(name: Any) -> List[Substitution]:
    if not isinstance(name, (str, Substitution)) and not isinstance(name, Sequence):
        raise TypeError(f'{name!r:.80} is no name of a parameter: expected a str')
    return normalize_to_list_of_substitutions(name)


def _list_of(value: Any) -> Any:
    """Returns a tuple of values of one type, or of the parts of a text."""
    kinds = set()
    for item in value:
        kind = next((kind for kind in (Substitution, str, bool, int, float)
                     if isinstance(item, kind)), None)
        if kind is None and (not isinstance(item, Sequence) or isinstance(item, bytes)):
            raise TypeError(f'{item!r:.80} of the type {type(item).__name__} is an item of a'
                            ' parameter: expected a boolean, a number, a text or a substitution')
        kinds.add(kind)
    if kinds == {int, float}:
        return tuple(float(item) for item in value)
    if Substitution in kinds and kinds <= {Substitution, str}:
        return tuple(normalize_to_list_of_substitutions(value))
    if None not in kinds and Substitution not in kinds:
        return tuple(value)
    return tuple(
        tuple(normalize_to_list_of_substitutions(item))
        if isinstance(item, (Substitution, list, tuple)) else item for item in value)


def normalize_parameter_dict(
    parameters: Any, *, _prefix: Optional[Iterable[Substitution]] = None,
) -> Dict[Tuple[Substitution, ...], Any]:
    """Returns the parameters of a dict; the names of dicts in it are joined with `.`.

    Raises `TypeError` if a value is no value of a parameter.
    """
    if not isinstance(parameters, Mapping):
        raise TypeError(f'{parameters!r:.80} is no dict of parameters')
    found: Dict[Tuple[Substitution, ...], Any] = {}
    for key, value in parameters.items():
        name = _name(key)
        if _prefix:
            name = [*_prefix, TextSubstitution(text='.'), *name]
        if isinstance(value, Mapping):
            found.update(normalize_parameter_dict(value, _prefix=name))
        elif isinstance(value, (ParameterValue, bool, int, float, str)):
            found[tuple(name)] = value
        elif isinstance(value, Substitution):
            found[tuple(name)] = (value,)
        elif isinstance(value, Sequence) and not isinstance(value, bytes):
            found[tuple(name)] = _list_of(value)
        else:
            raise TypeError(
                f'the parameter {_shown(name)} is {value!r:.80} of the type'
                f' {type(value).__name__}: expected a boolean, a number, a text, a substitution, or'
                ' a list of these')
    return found


def _shown(name: Iterable[Substitution]) -> str:
    return '`' + ''.join(
        part.text if isinstance(part, TextSubstitution) else part.describe()
        for part in name) + '`'


def normalize_parameters(parameters: Any) -> Tuple[Any, ...]:
    """Returns the sources of parameters: dicts, parameters and files.

    Raises `TypeError` if `parameters` is no list, or has items of another type.
    """
    if isinstance(parameters, (str, bytes, Mapping, Substitution)) or not isinstance(
            parameters, Sequence):
        raise TypeError(f'`parameters` is {parameters!r:.80}: expected a list, of which each item'
                        ' is a dict or the path of a file; write `[...]` around it')
    found: List[Any] = []
    for source in parameters:
        if isinstance(source, Mapping):
            found.append(normalize_parameter_dict(source))
        elif isinstance(source, (Parameter, ParameterFile)):
            found.append(source)
        elif isinstance(source, ParameterValue):
            raise TypeError('a ParameterValue stands where a dict or the path of a file is'
                            ' expected: write `{NAME: ParameterValue(...)}`')
        else:
            found.append(ParameterFile(source))
    return tuple(found)


def value_data(value: Any) -> Data:
    """Returns a normalized value as data."""
    if isinstance(value, ParameterValue):
        return value._feros_data()
    return untyped_data(value, tuple)


def sources_data(sources: Optional[Iterable[Any]]) -> Optional[List[Data]]:
    """Returns normalized sources of parameters as data."""
    if sources is None:
        return None
    return [
        {'map': [[_wire.template(name), value_data(value)] for name, value in source.items()]}
        if isinstance(source, Mapping) else source._feros_source() for source in sources]


def normalize_remap_rule(remap_rule: Any) -> RemapRule:
    """Returns a pair of texts.

    Raises `TypeError` if it is no pair.
    """
    if not isinstance(remap_rule, (tuple, list)) or len(remap_rule) != 2:
        raise TypeError(f"{remap_rule!r:.80} is no remapping: expected a pair ('from', 'to')")
    before, after = remap_rule
    return (
        tuple(normalize_to_list_of_substitutions(before)),
        tuple(normalize_to_list_of_substitutions(after)))


def normalize_remap_rules(remap_rules: SomeRemapRules) -> List[RemapRule]:
    """Returns pairs of texts.

    Raises `TypeError` if there is no list of pairs.
    """
    if isinstance(remap_rules, (str, bytes)) or not hasattr(remap_rules, '__iter__'):
        raise TypeError(f'`remappings` is {remap_rules!r:.80}: expected a list of pairs')
    if isinstance(remap_rules, Mapping):
        raise TypeError('`remappings` is a dict: expected a list of pairs; write `.items()`')
    return [normalize_remap_rule(rule) for rule in remap_rules]
