"""Checks of types."""

from typing import Any, Iterable, Optional, Text, Union


def isclassinstance(obj: Any) -> bool:
    """Returns whether an object is neither a class, a function nor a module."""
    return not isinstance(obj, type) and not hasattr(obj, '__name__')


def is_a(obj: Any, entity_type: Any) -> bool:
    """Returns whether an object is of a type."""
    return isinstance(obj, entity_type)


def is_a_subclass(obj: Any, entity_type: Any) -> bool:
    """Returns whether an object is of a type, or a class is derived from it."""
    if isinstance(obj, type):
        return issubclass(obj, entity_type)
    return isinstance(obj, entity_type)


def ensure_argument_type(
    argument: Any,
    types: Union[Any, Iterable[Any]],
    argument_name: Text,
    caller: Optional[Text] = None,
) -> None:
    """Raises `TypeError` if an argument is of no type among `types`."""
    expected = tuple(types) if isinstance(types, (list, tuple)) else (types,)
    if isinstance(argument, expected):
        return
    names = ', '.join(getattr(one, '__name__', str(one)) for one in expected)
    of = f' of `{caller}`' if caller else ''
    raise TypeError(
        f'`{argument_name}`{of} is {argument!r:.80} of the type {type(argument).__name__}:'
        f' expected {names}')
