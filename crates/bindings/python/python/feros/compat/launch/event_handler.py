"""The bases of all event handlers."""

from typing import Any, Callable, Dict, List, Optional, Text, Tuple

from . import _wire
from ._entities import listed, reaction
from ._handler import Handler
from ._objects import number_of
from ._positions import is_method_of_ours
from .event import Event
from .launch_context import LaunchContext
from .some_entities_type import SomeEntitiesType


class BaseEventHandler(Handler):
    """Decides by a function which events it handles; a derived class defines `handle`."""

    def __init__(self, *, matcher: Callable[[Event], bool], handle_once: bool = False) -> None:
        if not callable(matcher):
            raise TypeError(
                f'`matcher` is {matcher!r:.80}: expected a function that takes an event')
        self.__matcher = matcher
        self.__handle_once = handle_once

    @property
    def handle_once(self) -> bool:
        """Whether the handler is removed after the first event."""
        return self.__handle_once

    @property
    def handler_description(self) -> Optional[Text]:
        """A text on what the handler does."""
        return None

    @property
    def matcher_description(self) -> Optional[Text]:
        """A text on the events that the handler takes."""
        return None

    def matches(self, event: Event) -> bool:
        """Returns whether the handler takes an event."""
        return bool(self.__matcher(event))

    def describe(self) -> Tuple[Text, List[Any]]:
        """Returns a text for people, and the actions of the handler."""
        return (
            f'{type(self).__name__}(matcher={self.matcher_description!r},'
            f' handler={self.handler_description!r}, handle_once={self.__handle_once})', [])

    def handle(self, event: Event, context: LaunchContext) -> Optional[SomeEntitiesType]:
        """Handles an event, and returns the entities that follow from it."""
        context.extend_locals({'event': event})
        if self.__handle_once:
            context.unregister_event_handler(self)
        return None

    def _feros_data(self) -> Dict[str, Any]:
        cls = type(self)
        data: Dict[str, Any] = {
            'id': number_of(self), 'at': _wire.at(self), 'once': self.__handle_once}
        if is_method_of_ours(cls, 'handle') and is_method_of_ours(cls, 'matches'):
            data.update(self._feros_event())
        else:
            # A handler of the user's own class removes itself if it calls `super().handle`.
            data.update(
                on='event', once=False,
                matcher={'py': number_of(self.matches), 'name': f'{cls.__name__}.matches'},
                reaction={'py': number_of(self.handle), 'name': f'{cls.__name__}.handle'})
        return _wire.present(data)

    def _feros_event(self) -> Dict[str, Any]:
        """The event and the reaction as data."""
        return {
            'on': 'event',
            'matcher': {'py': number_of(self.__matcher), 'name': _wire.name_of(self.__matcher)},
            'reaction': {'entities': []},
        }


class EventHandler(BaseEventHandler):
    """Handles the events that a function chooses with a list of entities."""

    def __init__(
        self,
        *,
        matcher: Callable[[Event], bool],
        entities: Optional[SomeEntitiesType] = None,
        handle_once: bool = False,
    ) -> None:
        super().__init__(matcher=matcher, handle_once=handle_once)
        self.__entities = entities

    @property
    def entities(self) -> Optional[SomeEntitiesType]:
        """The entities that follow the event."""
        return self.__entities

    def describe(self) -> Tuple[Text, List[Any]]:
        """Returns a text for people, and the actions of the handler."""
        return super().describe()[0], listed(self.__entities)

    def handle(self, event: Event, context: LaunchContext) -> Optional[SomeEntitiesType]:
        """Returns the entities."""
        super().handle(event, context)
        return self.__entities

    def _feros_event(self) -> Dict[str, Any]:
        return {
            **super()._feros_event(),
            'reaction': reaction(self.__entities) or {'entities': []},
        }
