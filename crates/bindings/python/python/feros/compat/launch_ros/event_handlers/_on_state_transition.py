"""The handler of the states of managed nodes."""

from typing import Any, Callable, Dict, Optional, Text

from launch._entities import reaction
from launch._objects import number_of
from launch.event import Event
from launch.event_handler import EventHandler
from launch.some_entities_type import SomeEntitiesType

from ..actions import LifecycleNode
from ..events.lifecycle import StateTransition


class OnStateTransition(EventHandler):
    """Handles a change of the state of a managed node."""

    def __init__(
        self,
        *,
        entities: SomeEntitiesType,
        target_lifecycle_node: Optional[LifecycleNode] = None,
        transition: Optional[Text] = None,
        start_state: Optional[Text] = None,
        goal_state: Optional[Text] = None,
        matcher: Optional[Callable[[Event], bool]] = None,
        **kwargs: Any,
    ) -> None:
        if target_lifecycle_node is not None and not isinstance(
                target_lifecycle_node, LifecycleNode):
            raise TypeError(f'`target_lifecycle_node` is {target_lifecycle_node!r:.80}: expected a'
                            ' LifecycleNode')
        self.__node = target_lifecycle_node
        self.__wanted = {
            'transition': transition, 'start': start_state, 'goal': goal_state}
        self.__is_custom = matcher is not None
        super().__init__(
            matcher=self.__matches if matcher is None else matcher, entities=entities, **kwargs)

    def __matches(self, event: Event) -> bool:
        if not isinstance(event, StateTransition):
            return False
        told = {
            'transition': event.transition, 'start': event.start_state, 'goal': event.goal_state}
        return self.__node in (None, event.action) and all(
            value in (None, told[name]) for name, value in self.__wanted.items())

    @property
    def handler_description(self) -> Text:
        """A text on what the handler does."""
        return '<actions>'

    @property
    def matcher_description(self) -> Text:
        """A text on the events that the handler takes."""
        return 'event == StateTransition'

    def _feros_event(self) -> Dict[str, Any]:
        if self.__is_custom:
            return super()._feros_event()
        wanted = {
            name: str(value) for name, value in self.__wanted.items() if value is not None}
        return {
            'on': 'state',
            'node': None if self.__node is None else number_of(self.__node),
            'reaction': reaction(self.entities),
            **wanted,
        }
