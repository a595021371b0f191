"""Handlers of the events of a launch."""

from typing import Any, Callable, Dict, List, Optional, Text, Tuple, Type

from .. import _wire
from .._entities import listed, reaction
from .._objects import number_of
from .._shutdown import Shutdown
from ..action import Action
from ..actions import ExecuteLocal
from ..actions._events import checked_reaction
from ..event import Event
from ..event_handler import BaseEventHandler, EventHandler
from ..events import ExecutionComplete, IncludeLaunchDescription
from ..events.process import ProcessExited, ProcessIO, ProcessStarted
from ..launch_context import LaunchContext
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_entities_type import SomeEntitiesType

Target = Any
"""An action, a function that takes an action, or `None` for all actions."""

Reaction = Any
"""Entities, or a function that takes the event and the context, and returns entities."""


def _handled(some: Reaction, event: Event, context: LaunchContext) -> Any:
    is_function = callable(some) and not isinstance(some, LaunchDescriptionEntity)
    return some(event, context) if is_function else some


class OnActionEventBase(BaseEventHandler):
    """Handles an event of one action, or of the actions that a function chooses."""

    _FEROS_ON = ''
    _FEROS_KEYWORD = 'on_event'

    def __init__(
        self,
        *,
        action_matcher: Target,
        on_event: Reaction,
        target_event_cls: Type[Event],
        target_action_cls: Type[Action],
        **kwargs: Any,
    ) -> None:
        if not issubclass(target_event_cls, Event):
            raise TypeError(f'`target_event_cls` is {target_event_cls!r}, which is no event')
        is_action = isinstance(action_matcher, target_action_cls)
        if action_matcher is not None and not is_action and not callable(action_matcher):
            raise TypeError(
                f'the target of `{type(self).__name__}` is {action_matcher!r:.80}: expected an'
                f' action of the type {target_action_cls.__name__}, or a function')
        self.__matcher = action_matcher
        self.__is_action = is_action
        self.__event_cls = target_event_cls
        self.__on_event = checked_reaction(on_event, self._FEROS_KEYWORD)
        super().__init__(matcher=self.__matches, **kwargs)

    def __matches(self, event: Any) -> bool:
        if not isinstance(event, self.__event_cls):
            return False
        matcher = self.__matcher
        if matcher is None or self.__is_action:
            return matcher is None or event.action is matcher  # type: ignore[attr-defined]
        return bool(matcher(event.action))  # type: ignore[attr-defined]

    def handle(self, event: Event, context: LaunchContext) -> Optional[SomeEntitiesType]:
        """Returns the entities that follow the event."""
        super().handle(event, context)
        entities: Optional[SomeEntitiesType] = _handled(self.__on_event, event, context)
        return entities

    def describe(self) -> Tuple[Text, List[Any]]:
        """Returns a text for people, and the actions of the handler."""
        return super().describe()[0], listed(self.__on_event)

    @property
    def handler_description(self) -> Text:
        """A text on what the handler does."""
        return '<actions>' if listed(self.__on_event) else str(self.__on_event)

    @property
    def matcher_description(self) -> Text:
        """A text on the events that the handler takes."""
        return f'event == {self.__event_cls.__name__}'

    def _feros_target(self) -> Any:
        """The actions whose events are handled, as data."""
        if self.__matcher is None:
            return None
        if self.__is_action:
            return [number_of(self.__matcher)]
        return {'py': number_of(self.__matcher), 'name': _wire.name_of(self.__matcher)}

    def _feros_event(self) -> Dict[str, Any]:
        if not self._FEROS_ON:
            # A class of the user chooses the event.
            return {**super()._feros_event(), 'reaction': reaction(self.__on_event)}
        return {
            'on': self._FEROS_ON,
            'target': self._feros_target(),
            'reaction': reaction(self.__on_event),
        }


class OnProcessExit(OnActionEventBase):
    """Handles the end of a process."""

    _FEROS_ON = 'process_exit'
    _FEROS_KEYWORD = 'on_exit'

    def __init__(
        self, *, target_action: Target = None, on_exit: Reaction, **kwargs: Any,
    ) -> None:
        super().__init__(
            action_matcher=target_action, on_event=on_exit, target_event_cls=ProcessExited,
            target_action_cls=ExecuteLocal, **kwargs)


class OnProcessStart(OnActionEventBase):
    """Handles the start of a process."""

    _FEROS_ON = 'process_start'
    _FEROS_KEYWORD = 'on_start'

    def __init__(
        self, *, target_action: Target = None, on_start: Reaction, **kwargs: Any,
    ) -> None:
        super().__init__(
            action_matcher=target_action, on_event=on_start, target_event_cls=ProcessStarted,
            target_action_cls=ExecuteLocal, **kwargs)


class OnExecutionComplete(OnActionEventBase):
    """Handles the completion of an action."""

    _FEROS_ON = 'execution_complete'
    _FEROS_KEYWORD = 'on_completion'

    def __init__(
        self, *, target_action: Target = None, on_completion: Reaction, **kwargs: Any,
    ) -> None:
        super().__init__(
            action_matcher=target_action, on_event=on_completion,
            target_event_cls=ExecutionComplete, target_action_cls=Action, **kwargs)


class OnProcessIO(OnActionEventBase):
    """Handles the output of a process, line by line, with functions that take the event.

    `on_stdin` gets the events `ProcessStdin` that a launch file emits.
    """

    _FEROS_ON = 'process_io'

    def __init__(
        self,
        *,
        target_action: Target = None,
        on_stdin: Optional[Callable[[ProcessIO], Optional[SomeEntitiesType]]] = None,
        on_stdout: Optional[Callable[[ProcessIO], Optional[SomeEntitiesType]]] = None,
        on_stderr: Optional[Callable[[ProcessIO], Optional[SomeEntitiesType]]] = None,
        **kwargs: Any,
    ) -> None:
        given = {'stdin': on_stdin, 'stdout': on_stdout, 'stderr': on_stderr}
        for name, function in given.items():
            if function is not None and not callable(function):
                raise TypeError(
                    f'`on_{name}` is {function!r:.80}: expected a function that takes the event')
        self.__functions = {
            name: function for name, function in given.items() if function is not None}
        super().__init__(
            action_matcher=target_action, on_event=self.__handle, target_event_cls=ProcessIO,
            target_action_cls=ExecuteLocal, **kwargs)

    def __handle(self, event: Any, context: LaunchContext) -> Optional[SomeEntitiesType]:
        stream = 'stdout' if event.from_stdout else 'stderr' if event.from_stderr else 'stdin'
        function = self.__functions.get(stream)
        entities: Optional[SomeEntitiesType] = None
        if function is not None:
            entities = function(event)
        return entities

    def _feros_event(self) -> Dict[str, Any]:
        names = sorted({_wire.name_of(function) for function in self.__functions.values()})
        return {
            'on': self._FEROS_ON,
            'target': self._feros_target(),
            'streams': list(self.__functions),
            'reaction': {'py': number_of(self.__handle), 'name': ', '.join(names) or 'nothing'},
        }


class OnShutdown(BaseEventHandler):
    """Handles the end of the launch."""

    def __init__(self, *, on_shutdown: Reaction, **kwargs: Any) -> None:
        self.__on_shutdown = checked_reaction(on_shutdown, 'on_shutdown')
        super().__init__(matcher=lambda event: isinstance(event, Shutdown), **kwargs)

    def handle(self, event: Event, context: LaunchContext) -> Optional[SomeEntitiesType]:
        """Returns the entities that follow the event."""
        super().handle(event, context)
        entities: Optional[SomeEntitiesType] = _handled(self.__on_shutdown, event, context)
        return entities

    def describe(self) -> Tuple[Text, List[Any]]:
        """Returns a text for people, and the actions of the handler."""
        return super().describe()[0], listed(self.__on_shutdown)

    @property
    def handler_description(self) -> Text:
        """A text on what the handler does."""
        return str(self.__on_shutdown)

    @property
    def matcher_description(self) -> Text:
        """A text on the events that the handler takes."""
        return 'event == Shutdown'

    def _feros_event(self) -> Dict[str, Any]:
        return {'on': 'shutdown', 'reaction': reaction(self.__on_shutdown)}


class OnIncludeLaunchDescription(EventHandler):
    """Stock's own handler of included descriptions, which `feros launch` includes itself."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            matcher=lambda event: isinstance(event, IncludeLaunchDescription), **kwargs)


def event_named(name: Text) -> Callable[[Event], bool]:
    """Returns a function that matches events with a name."""
    return lambda event: event.name == name
