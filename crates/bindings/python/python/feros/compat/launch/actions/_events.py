"""Actions that emit events, and register and remove handlers; reactions to events."""

from typing import Any, Dict, Iterable, List, Text, Tuple, Union

from .. import _wire
from .._handler import checked_handler
from .._shutdown import Shutdown as ShutdownEvent
from .._text import normalize_to_list_of_substitutions
from ..action import KnownAction
from ..event import Event, checked_event
from ..event_handler import BaseEventHandler
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType


class EmitEvent(KnownAction):
    """Emits an event."""

    def __init__(self, *, event: Event, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__event = checked_event(event)

    @property
    def event(self) -> Event:
        """The event."""
        return self.__event

    def _feros_data(self) -> Dict[str, Any]:
        return self.__event._feros_emission()


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
        self.__event_handler = checked_handler(event_handler, 'RegisterEventHandler')

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
        return self.__event_handler._feros_registration()


class UnregisterEventHandler(KnownAction):
    """Removes a handler of events."""

    def __init__(self, event_handler: BaseEventHandler, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__event_handler = checked_handler(event_handler, 'UnregisterEventHandler')

    @property
    def event_handler(self) -> BaseEventHandler:
        """The handler."""
        return self.__event_handler

    def _feros_data(self) -> Dict[str, Any]:
        return self.__event_handler._feros_removal()


def checked_reaction(reaction: Any, name: str) -> Any:
    """Refuses what is no reaction: actions, or a function. A list is kept as it is now."""
    if isinstance(reaction, LaunchDescriptionEntity) or callable(reaction):
        return reaction
    if isinstance(reaction, Event):
        # The events and the actions have a class with the name Shutdown.
        return EmitEvent(event=reaction)
    if isinstance(reaction, (str, bytes, dict)) or not hasattr(reaction, '__iter__'):
        raise TypeError(
            f'`{name}` is {reaction!r:.80}: expected actions, for example `Shutdown()` of'
            ' `launch.actions`, or a function')
    reaction = list(reaction)
    for entity in reaction:
        if not isinstance(entity, LaunchDescriptionEntity):
            raise TypeError(f'`{name}` has {entity!r:.80} where an action is expected')
    return reaction
