"""The base of all that a launch description contains."""

from typing import Any, Dict, Iterable, List, Optional, Text, Tuple

from . import _wire
from ._positions import Placed
from .launch_context import LaunchContext


class LaunchDescriptionEntity(Placed):
    """A part of a launch description."""

    def describe(self) -> Text:
        """Returns a text for people."""
        return repr(self)

    def describe_sub_entities(self) -> List['LaunchDescriptionEntity']:
        """Returns the entities within this entity."""
        return []

    def describe_conditional_sub_entities(
        self,
    ) -> List[Tuple[Text, Iterable['LaunchDescriptionEntity']]]:
        """Returns the entities that depend on a condition or an event, with a text for each."""
        return []

    def visit(self, context: LaunchContext) -> Optional[List['LaunchDescriptionEntity']]:
        """Performs the entity, and returns the entities that follow from it."""
        return None

    def get_asyncio_future(self) -> None:
        """Returns `None`: `feros launch` waits for processes, timers and reactions itself."""
        return None

    def _feros_gets(self, value: Any) -> bool:
        """Whether the entity calls a function that gets a value, and so may change it."""
        return False

    def _feros_entities(self) -> List[Dict[str, Any]]:
        """The entity as the data of actions; the command asks for its method."""
        return [_wire.called(self)]
