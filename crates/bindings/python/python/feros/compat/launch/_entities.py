"""Entities, and reactions to events, as the data that `feros launch` evaluates."""

from typing import Any, Iterable, List, Optional

from ._objects import number_of
from ._wire import Data, name_of
from .launch_description_entity import LaunchDescriptionEntity


def entities(some: Any) -> List[Data]:
    """The actions of a launch description, or of a list of entities."""
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
    if isinstance(one, LaunchDescriptionEntity):
        return one._feros_entities()
    if isinstance(one, (list, tuple)):
        raise TypeError('a list stands where an action is expected: write `*` before it')
    if isinstance(one, type) and issubclass(one, LaunchDescriptionEntity):
        raise TypeError(f'the class `{one.__name__}` itself stands where an action is expected: '
                        f'write `{one.__name__}(...)`')
    raise TypeError(f'{_shown(one)} stands where an action is expected')


def reaction(some: Any) -> Optional[Data]:
    """The actions that follow an event, or the function that gives them."""
    if some is None:
        return None
    if callable(some) and not isinstance(some, LaunchDescriptionEntity):
        return {'py': number_of(some), 'name': name_of(some)}
    return {'entities': entities(some)}


def listed(reaction: Any) -> List[Any]:
    """The entities of a reaction; a function gives them later."""
    if isinstance(reaction, LaunchDescriptionEntity):
        return [reaction]
    return [] if reaction is None or callable(reaction) else list(reaction)
