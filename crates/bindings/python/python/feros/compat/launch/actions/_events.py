"""Actions that emit events, and register and remove handlers."""

from typing import Any, Dict, Iterable, List, Text, Tuple, Union

from .. import _wire
from .._objects import number_of
from .._text import normalize_to_list_of_substitutions
from ..action import KnownAction
from ..event import Event
from ..event_handler import BaseEventHandler
from ..events import Shutdown as ShutdownEvent
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType


class EmitEvent(KnownAction):
    """Emits an event."""

    def __init__(self, *, event: Event, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(event, Event):
            kind = 'the class itself' if isinstance(event, type) else 'no event'
            raise TypeError(f'`event` of `EmitEvent` is {event!r:.80}, {kind}: write for example'
                            ' `event=Shutdown()` of `launch.events`')
        self.__event = event

    @property
    def event(self) -> Event:
        """The event."""
        return self.__event

    def _feros_data(self) -> Dict[str, Any]:
        event = self.__event
        if isinstance(event, ShutdownEvent):
            return {'do': 'shutdown', 'reason': str(event.reason)}
        return {'do': 'emit', 'event': event._feros_data()}


class Shutdown(EmitEvent):
    """Ends the launch."""

    def __init__(
        self, *, reason: Union[Text, SomeSubstitutionsType] = 'reason not given', **kwargs: Any,
    ) -> None:
        text = reason if isinstance(reason, str) else ''
        super().__init__(event=ShutdownEvent(reason=text), **kwargs)
        self.__reason = normalize_to_list_of_substitutions(reason)

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': 'shutdown', 'reason': _wire.template(self.__reason)}


class RegisterEventHandler(KnownAction):
    """Registers a handler of events."""

    def __init__(self, event_handler: BaseEventHandler, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__event_handler = _checked(event_handler, 'RegisterEventHandler')

    @property
    def event_handler(self) -> BaseEventHandler:
        """The handler."""
        return self.__event_handler

    def describe_conditional_sub_entities(
        self,
    ) -> List[Tuple[Text, Iterable[LaunchDescriptionEntity]]]:
        """Returns the actions of the handler, with a text for people."""
        text, actions = self.__event_handler.describe()
        return [(text, actions)] if actions else []

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': 'register', 'handler': self.__event_handler._feros_data()}


class UnregisterEventHandler(KnownAction):
    """Removes a handler of events."""

    def __init__(self, event_handler: BaseEventHandler, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__event_handler = _checked(event_handler, 'UnregisterEventHandler')

    @property
    def event_handler(self) -> BaseEventHandler:
        """The handler."""
        return self.__event_handler

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': 'unregister', 'handler': number_of(self.__event_handler)}


def _checked(handler: BaseEventHandler, name: str) -> BaseEventHandler:
    if not isinstance(handler, BaseEventHandler):
        raise TypeError(f'`event_handler` of `{name}` is {handler!r:.80}: expected a handler, for'
                        ' example `OnProcessExit(...)` of `launch.event_handlers`')
    return handler
