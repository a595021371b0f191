"""The description of a launch."""

from typing import Any, Dict, Iterable, List, Optional, Text

from . import _wire
from ._declarations import DeclareLaunchArgument
from ._entities import entities
from ._positions import is_method_of_ours
from .launch_context import LaunchContext
from .launch_description_entity import LaunchDescriptionEntity


class LaunchDescription(LaunchDescriptionEntity):
    """The entities of a launch, in their order."""

    def __init__(
        self,
        initial_entities: Optional[Iterable[LaunchDescriptionEntity]] = None,
        *,
        deprecated_reason: Optional[Text] = None,
    ) -> None:
        self.__entities: List[LaunchDescriptionEntity] = []
        self.__deprecated_reason = deprecated_reason
        if isinstance(initial_entities, LaunchDescriptionEntity):
            raise TypeError(
                f'LaunchDescription takes a list of actions: write `[{_name(initial_entities)}'
                '(...)]`')
        for entity in initial_entities or ():
            self.add_entity(entity)

    @property
    def entities(self) -> List[LaunchDescriptionEntity]:
        """The entities; the list may be changed."""
        return self.__entities

    def add_entity(self, entity: LaunchDescriptionEntity) -> None:
        """Adds an entity at the end."""
        if not isinstance(entity, LaunchDescriptionEntity):
            raise TypeError(f'{entity!r:.80} of the type {_name(entity)} is no action'
                            + (': write `*` before the list' if _is_list(entity) else ''))
        self.__entities.append(entity)

    def add_action(self, action: LaunchDescriptionEntity) -> None:
        """Adds an action at the end."""
        self.add_entity(action)

    def visit(self, context: LaunchContext) -> Optional[List[LaunchDescriptionEntity]]:
        """Returns the entities."""
        return self.__entities

    def describe_sub_entities(self) -> List[LaunchDescriptionEntity]:
        """Returns the entities."""
        return self.__entities

    def get_launch_arguments(
        self, conditional_inclusion: bool = False,
    ) -> List[DeclareLaunchArgument]:
        """Returns the declarations of arguments, without those of included files."""
        found: List[DeclareLaunchArgument] = []

        def search(some: Iterable[LaunchDescriptionEntity], is_conditional: bool) -> None:
            for entity in some:
                if isinstance(entity, DeclareLaunchArgument):
                    entity._conditionally_included = is_conditional
                    if all(entity.name != known.name for known in found):
                        found.append(entity)
                search(entity.describe_sub_entities(), is_conditional)
                for _, inner in entity.describe_conditional_sub_entities():
                    search(inner, True)

        search(self.__entities, conditional_inclusion)
        return found

    @property
    def deprecated(self) -> bool:
        """Whether the file is deprecated."""
        return self.__deprecated_reason is not None

    @property
    def deprecated_reason(self) -> Optional[Text]:
        """What to use instead of the file."""
        return self.__deprecated_reason

    def _feros_entities(self) -> List[Dict[str, Any]]:
        if not is_method_of_ours(type(self), 'visit'):
            return super()._feros_entities()
        with _wire.in_entity:
            found = [*self.__warnings(), *entities(self.__entities)]
            if any(entity._feros_gets(self) for entity in self.__entities):
                found += entities(_Added(self))
            return found

    def __warnings(self) -> List[Dict[str, Any]]:
        if self.__deprecated_reason is None:
            return []
        return [_wire.present(_wire.numbered(self, {
            'do': 'log', 'level': 'WARNING',
            'message': f'this launch description is deprecated: {self.__deprecated_reason}'}))]


class _Added(LaunchDescriptionEntity):
    """What functions of a description add to it while it is performed."""

    def __init__(self, description: LaunchDescription) -> None:
        self._feros_at = description._feros_at
        self._description = description
        self._count = len(description.entities)

    def visit(self, context: LaunchContext) -> Optional[List[LaunchDescriptionEntity]]:
        """Returns what has been added, and this entity again, since that may add more."""
        added = self._description.entities[self._count:]
        self._count += len(added)
        return [*added, self] if added else None

    def _feros_entities(self) -> List[Dict[str, Any]]:
        return [{**_wire.called(self), 'name': type(self._description).__name__}]


def _name(value: Any) -> str:
    return type(value).__name__


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))
