"""The base of all actions."""

from typing import Any, Dict, Iterable, List, Optional, Text, Tuple

from . import _wire
from ._missing import refuse_keywords
from ._positions import is_method_of_ours
from .condition import Condition
from .conditions import IfCondition, UnlessCondition
from .launch_context import LaunchContext
from .launch_description_entity import LaunchDescriptionEntity


class Action(LaunchDescriptionEntity):
    """What a launch does at its place in the description.

    A class of a launch file or of a package derives from it and defines `execute`.
    """

    def __init__(self, *, condition: Optional[Condition] = None, **unknown: Any) -> None:
        refuse_keywords(self, unknown)
        if condition is not None and not hasattr(condition, 'evaluate'):
            raise TypeError(
                f'`condition` of `{type(self).__name__}` is {condition!r:.80}: write IfCondition'
                '(...), UnlessCondition(...) or an object of a class derived from Condition')
        self.__condition = condition

    @staticmethod
    def parse(entity: Any, parser: Any) -> Tuple[type, Dict[str, Any]]:
        """Reads the attributes `if` and `unless` of an XML or YAML file."""
        keywords: Dict[str, Any] = {}
        for name, cls in (('if', IfCondition), ('unless', UnlessCondition)):
            value = entity.get_attr(name, optional=True)
            if value is None:
                continue
            if keywords:
                raise RuntimeError('both `if` and `unless` are given: expected one of them')
            keywords['condition'] = cls(parser.parse_substitution(value))
        return Action, keywords

    @property
    def condition(self) -> Optional[Condition]:
        """The condition on which the action is performed."""
        return getattr(self, '_Action__condition', None)

    def get_sub_entities(self) -> List[LaunchDescriptionEntity]:
        """Returns the entities within this action."""
        return []

    def describe_sub_entities(self) -> List[LaunchDescriptionEntity]:
        """Returns the entities within an action that has no condition."""
        return self.get_sub_entities() if self.condition is None else []

    def describe_conditional_sub_entities(
        self,
    ) -> List[Tuple[Text, Iterable[LaunchDescriptionEntity]]]:
        """Returns the entities within an action that has a condition."""
        if self.condition is None:
            return []
        return [(f'Conditionally included by {self.describe()}', self.get_sub_entities())]

    def visit(self, context: LaunchContext) -> Optional[List[LaunchDescriptionEntity]]:
        """Executes the action if its condition holds."""
        condition = self.condition
        if condition is None or condition.evaluate(context):
            return self.execute(context)
        return None

    def execute(self, context: LaunchContext) -> Optional[List[LaunchDescriptionEntity]]:
        """Performs the action, and returns the entities that follow from it."""
        return None

    def _feros_is_known(self) -> bool:
        """Whether `feros launch` performs the action itself."""
        return False

    def _feros_data(self) -> Dict[str, Any]:
        """The action as data; `do` names it."""
        raise NotImplementedError

    def _feros_entities(self) -> List[Dict[str, Any]]:
        data = self._feros_performed() if self._feros_is_known() else _wire.called(self)
        with _wire.in_entity:
            return [_wire.present({**data, 'if': _wire.condition(self.condition)})]

    def _feros_performed(self) -> Dict[str, Any]:
        """The action as its class in these packages does it, without its condition."""
        with _wire.in_entity:
            return _wire.present(_wire.numbered(self, self._feros_data()))


class KnownAction(Action):
    """An action that `feros launch` performs itself."""

    _FEROS_DO = ''

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': self._FEROS_DO}

    def _feros_is_known(self) -> bool:
        cls = type(self)
        return is_method_of_ours(cls, 'execute') and is_method_of_ours(cls, 'visit')

    def execute(self, context: LaunchContext) -> Optional[List[LaunchDescriptionEntity]]:
        """Lets `feros launch` perform the action when the calling function has returned."""
        context._feros_perform(self._feros_performed())
        return []


class Performed(LaunchDescriptionEntity):
    """An action whose condition has been evaluated."""

    def __init__(self, data: Dict[str, Any]) -> None:
        self.data = data

    def _feros_entities(self) -> List[Dict[str, Any]]:
        return [self.data]


class KnownGroup(KnownAction):
    """An action that gives the entities within it, so it is performed where these are visited."""

    def execute(self, context: LaunchContext) -> Optional[List[LaunchDescriptionEntity]]:
        """Returns an entity that stands for the entities within the action."""
        return [Performed(self._feros_performed())]
