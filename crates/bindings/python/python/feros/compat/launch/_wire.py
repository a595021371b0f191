"""Launch descriptions as the data that `feros launch` evaluates."""

from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Sequence, Tuple

from ._objects import number_of
from ._positions import Place, position
from ._text import TextSubstitution
from .substitution import KnownSubstitution, Substitution

if TYPE_CHECKING:
    from .action import Action
    from .condition import Condition

Data = Dict[str, Any]

_MOST_LEVELS = 110
"""The limit on the nesting of a message; the command accepts 120 levels."""

_level = 0


def at(made: Any) -> Optional[Tuple[str, int, int]]:
    """The position at which an object was made."""
    place: Optional[Place] = getattr(made, '_feros_at', None)
    return None if place is None else position(place)


class _Nested:
    """Counts the levels of a message, since too many levels would end the process."""

    def __init__(self, levels: int) -> None:
        self._levels = levels

    def __enter__(self) -> None:
        global _level
        _level += self._levels
        if _level > _MOST_LEVELS:
            raise ValueError('the launch description is nested too deeply for one file')

    def __exit__(self, *error: Any) -> None:
        global _level
        _level -= self._levels


_in_call = _Nested(3)
_in_entity = _Nested(2)


def template(parts: Sequence[Substitution]) -> Any:
    """A text with substitutions."""
    found: List[Any] = []
    for part in parts:
        if type(part) is not TextSubstitution:
            found.append(_part(part))
        elif found and isinstance(found[-1], str):
            found[-1] += part.text
        else:
            found.append(part.text)
    if not found:
        return ''
    return found[0] if len(found) == 1 and isinstance(found[0], str) else found


def _part(part: Substitution) -> Any:
    where = at(part)
    call: Data = {} if where is None else {'at': where}
    if isinstance(part, KnownSubstitution) and part._feros_is_known():
        with _in_call:
            call['s'] = part._FEROS_KIND
            call['a'] = [template(argument) for argument in part._feros_arguments()]
        return part._feros_completed(call)
    return {**call, 'py': number_of(part), 'describe': described(part)}


def described(part: Substitution) -> str:
    """The text for people of a substitution; a class of the user may fail to give it."""
    try:
        return str(part.describe())[:200]
    except Exception:
        return type(part).__name__


def optional(parts: Optional[Sequence[Substitution]]) -> Any:
    """A text that may be missing."""
    return None if parts is None else template(parts)


def flag(value: Any) -> Any:
    """A boolean, or a text that gives one."""
    return value if value is None or isinstance(value, bool) else template(value)


def pairs(entries: Iterable[Tuple[Sequence[Substitution], Sequence[Substitution]]]) -> List[Any]:
    """Pairs of texts."""
    return [[template(first), template(second)] for first, second in entries]


def scalar(value: Any) -> Any:
    """A boolean, number or text."""
    if isinstance(value, bool):
        return bool(value)
    if isinstance(value, int):
        return int(value) if -2**63 <= value < 2**63 else {'int': str(int(value))}
    if isinstance(value, float):
        value = float(value)
        if value - value != 0:
            return {'float': 'nan' if value != value else 'inf' if value > 0 else '-inf'}
        return value
    return str(value)


def constant(data: Any) -> Any:
    """The value of a scalar of the command."""
    if isinstance(data, dict):
        if 'float' in data:
            return float(data['float'])
        return int(data['int'])
    return data


def condition(value: Optional['Condition']) -> Optional[Data]:
    """The condition of an action."""
    if value is None:
        return None
    known = getattr(value, '_feros_condition', None)
    data: Optional[Data] = known() if known is not None else None
    return {'py': number_of(value)} if data is None else data


def entities(some: Any) -> List[Data]:
    """The actions of a launch description, or of a list of entities."""
    from .launch_description_entity import LaunchDescriptionEntity

    if some is None:
        return []
    if isinstance(some, LaunchDescriptionEntity):
        some = [some]
    if isinstance(some, (str, bytes, dict)) or not isinstance(some, Iterable):
        raise TypeError(f'{_shown(some)} stands where actions are expected')
    found: List[Data] = []
    for one in some:
        found.extend(_entity(one))
    return found


def _shown(value: Any) -> str:
    return f'{value!r:.80} of the type {type(value).__name__}'


def _entity(one: Any) -> List[Data]:
    from .action import Action, Performed
    from .launch_description import LaunchDescription
    from .launch_description_entity import LaunchDescriptionEntity

    if isinstance(one, Action):
        return [action(one)]
    if isinstance(one, Performed):
        return [one.data]
    if isinstance(one, LaunchDescription):
        with _in_entity:
            return one._feros_entities()
    if isinstance(one, LaunchDescriptionEntity):
        return [called(one)]
    if isinstance(one, (list, tuple)):
        raise TypeError('a list stands where an action is expected: write `*` before it')
    if isinstance(one, type) and issubclass(one, LaunchDescriptionEntity):
        raise TypeError(f'the class `{one.__name__}` itself stands where an action is expected: '
                        f'write `{one.__name__}(...)`')
    raise TypeError(f'{_shown(one)} stands where an action is expected')


def called(one: Any) -> Data:
    """An entity whose method the command asks for."""
    return {'do': 'python', 'id': number_of(one), 'at': at(one), 'name': type(one).__name__}


def action(one: 'Action', is_base: bool = False) -> Data:
    """An action; with `is_base`, as its class in these packages does it, without its condition."""
    with _in_entity:
        data = None if not is_base and not one._feros_is_known() else one._feros_data()
        data = called(one) if data is None else {
            'do': data.pop('do'), 'id': number_of(one), 'at': at(one), **data}
        if not is_base:
            data['if'] = condition(one.condition)
        return {key: value for key, value in data.items() if value is not None}


def reaction(some: Any) -> Optional[Data]:
    """The actions that follow an event, or the function that gives them."""
    from .launch_description_entity import LaunchDescriptionEntity

    if some is None:
        return None
    if callable(some) and not isinstance(some, LaunchDescriptionEntity):
        return {'py': number_of(some), 'name': name_of(some)}
    return {'entities': entities(some)}


def name_of(function: Any) -> str:
    """The name of a function for people."""
    while hasattr(function, 'func'):  # functools.partial
        function = function.func
    return str(getattr(function, '__name__', None) or type(function).__name__)
