"""Launch descriptions as the data that `feros launch` evaluates."""

from typing import Any, Dict, Iterable, List, Optional, Protocol, Sequence, Tuple

from ._objects import number_of
from ._positions import Place, position

Data = Dict[str, Any]


class Part(Protocol):
    """A part of a text: a substitution."""

    def _feros_part(self) -> Any:
        """The part as data, which is a text if it is constant."""


_MOST_LEVELS = 110
"""The limit on the counted levels of a message. The command (serde_json) refuses 128 levels."""

_level = 0


def at(made: Any) -> Optional[Tuple[str, int, int]]:
    """The position at which an object was made."""
    place: Optional[Place] = getattr(made, '_feros_at', None)
    return None if place is None else position(place)


class _Nested:
    """Counts the levels of a message, since the command refuses a message with too many."""

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


in_call = _Nested(3)
"""The levels of a substitution."""

in_entity = _Nested(2)
"""The levels of an action or a launch description."""


def template(parts: Sequence[Part]) -> Any:
    """A text with substitutions."""
    found: List[Any] = []
    for part in parts:
        data = part._feros_part()
        if isinstance(data, str) and found and isinstance(found[-1], str):
            found[-1] += data
        else:
            found.append(data)
    if not found:
        return ''
    return found[0] if len(found) == 1 and isinstance(found[0], str) else found


def optional(parts: Optional[Sequence[Part]]) -> Any:
    """A text that may be missing."""
    return None if parts is None else template(parts)


def flag(value: Any) -> Any:
    """A boolean, or a text that gives one."""
    return value if value is None or isinstance(value, bool) else template(value)


def pairs(entries: Iterable[Tuple[Sequence[Part], Sequence[Part]]]) -> List[Any]:
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
    """The value of a scalar that the command has sent."""
    if isinstance(data, dict):
        if 'float' in data:
            return float(data['float'])
        return int(data['int'])
    return data


def condition(value: Any) -> Optional[Data]:
    """The condition of an action."""
    if value is None:
        return None
    known = getattr(value, '_feros_condition', None)
    data: Optional[Data] = known() if known is not None else None
    return {'py': number_of(value)} if data is None else data


def called(one: Any) -> Data:
    """An entity as data that make the command call its method."""
    return {'do': 'python', 'id': number_of(one), 'at': at(one), 'name': type(one).__name__}


def numbered(made: Any, data: Data) -> Data:
    """The data of an action, with the number and the position of the object that describes it."""
    return {'do': data['do'], 'id': number_of(made), 'at': at(made), **data}


def present(data: Data) -> Data:
    """The data without the entries whose value is `None`."""
    return {key: value for key, value in data.items() if value is not None}


def name_of(function: Any) -> str:
    """The name of a function, for messages."""
    while hasattr(function, 'func'):  # functools.partial
        function = function.func
    return str(getattr(function, '__name__', None) or type(function).__name__)
