"""Conditions that `feros launch` evaluates."""

from typing import Any, Dict, List, Optional, Sequence, Text

from .. import _wire
from .._positions import is_method_of_ours
from .._text import normalize_to_list_of_substitutions, optional
from ..condition import Condition
from ..launch_context import LaunchContext
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution


class InvalidConditionExpressionError(ValueError):
    """The text of a condition is no boolean."""

    def __init__(
        self,
        expression: str,
        unexpanded_expression: Sequence[Substitution],
        valid_expressions: Sequence[str],
    ) -> None:
        super().__init__(
            f"`{expression}` is no boolean: expected one of {', '.join(valid_expressions)}")


def evaluate_condition_expression(
    context: LaunchContext, expression: List[Substitution],
) -> bool:
    """Returns the boolean that a text gives."""
    return bool(context._feros_ask(
        {'ask': 'condition', 'condition': {'truth': _wire.template(expression)}}))


class _KnownCondition(Condition):
    """A condition that the command evaluates, unless a derived class decides."""

    def _feros_decided(self) -> Dict[str, Any]:
        raise NotImplementedError

    def _predicate_func(self, context: LaunchContext) -> bool:
        """Asks `feros launch` whether the condition holds."""
        return bool(context._feros_ask({'ask': 'condition', 'condition': self._feros_decided()}))

    def _feros_condition(self) -> Optional[Dict[str, Any]]:
        cls = type(self)
        if not is_method_of_ours(cls, 'evaluate') or not is_method_of_ours(cls, '_predicate_func'):
            return None
        return self._feros_decided()


class IfCondition(_KnownCondition):
    """Holds if a text is `true` or `1`, in upper or lower case."""

    def __init__(self, predicate_expression: SomeSubstitutionsType) -> None:
        self.__predicate_expression = normalize_to_list_of_substitutions(predicate_expression)
        super().__init__(predicate=self._predicate_func)

    def _feros_decided(self) -> Dict[str, Any]:
        return {'truth': _wire.template(self.__predicate_expression)}


class UnlessCondition(IfCondition):
    """Holds if a text is `false` or `0`, in upper or lower case."""

    def _feros_decided(self) -> Dict[str, Any]:
        return {**super()._feros_decided(), 'negated': True}


class LaunchConfigurationEquals(_KnownCondition):
    """Holds if a variable has a value; with `None` if there is no such variable."""

    def __init__(
        self,
        launch_configuration_name: Text,
        expected_value: Optional[SomeSubstitutionsType],
    ) -> None:
        self.__launch_configuration_name = launch_configuration_name
        self.__expected_value = optional(expected_value)
        super().__init__(predicate=self._predicate_func)

    def _feros_decided(self) -> Dict[str, Any]:
        return {
            'configuration': str(self.__launch_configuration_name),
            'expected': _wire.optional(self.__expected_value),
        }


class LaunchConfigurationNotEquals(LaunchConfigurationEquals):
    """Holds if a variable has another value; with `None` if there is such a variable."""

    def _feros_decided(self) -> Dict[str, Any]:
        return {**super()._feros_decided(), 'negated': True}
