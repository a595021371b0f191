"""The numbers by which `feros launch` and its Python process name objects."""

from typing import Any, Dict

_objects: Dict[int, Any] = {}
_numbers: Dict[int, int] = {}


def number_of(one: Any) -> int:
    """The number of an object; an object keeps its number, and lives as long as the process."""
    number = _numbers.get(id(one))
    if number is None:
        number = _numbers[id(one)] = len(_objects) + 1
        _objects[number] = one
    return number


def object_of(number: Any) -> Any:
    """The object with a number.

    Raises `LookupError` if the number was never given.
    """
    if not isinstance(number, int) or number not in _objects:
        raise LookupError(f'no object has the number {number!r}')
    return _objects[number]
