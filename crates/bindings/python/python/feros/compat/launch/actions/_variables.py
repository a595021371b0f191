"""Actions that set and remove variables."""

from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

from .. import _wire
from .._text import normalize_to_list_of_substitutions, perform_substitutions
from ..action import KnownAction
from ..launch_context import LaunchContext
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution

Pairs = List[Tuple[List[Substitution], List[Substitution]]]
SomePairs = Union[
    Dict[SomeSubstitutionsType, SomeSubstitutionsType],
    Iterable[Tuple[SomeSubstitutionsType, SomeSubstitutionsType]],
]


def normalized_pairs(some: Optional[SomePairs], name: str) -> Pairs:
    """Returns pairs of texts; a dict gives its items."""
    found: Pairs = []
    for pair in () if some is None else some.items() if isinstance(some, dict) else some:
        parts = list(pair) if hasattr(pair, '__iter__') and not isinstance(pair, str) else []
        if len(parts) != 2:
            raise TypeError(f'`{name}` has {pair!r:.80} where a name and a value are expected')
        first, second = parts
        found.append((
            normalize_to_list_of_substitutions(first), normalize_to_list_of_substitutions(second)))
    return found


class SetLaunchConfiguration(KnownAction):
    """Sets a variable."""

    def __init__(
        self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)
        self.__value = normalize_to_list_of_substitutions(value)

    @property
    def name(self) -> List[Substitution]:
        """The name."""
        return self.__name

    @property
    def value(self) -> List[Substitution]:
        """The value."""
        return self.__value

    def execute(self, context: LaunchContext) -> None:
        """Sets the variable."""
        name = perform_substitutions(context, self.__name)
        context.launch_configurations[name] = perform_substitutions(context, self.__value)

    def _feros_data(self) -> Dict[str, Any]:
        return {
            'do': 'set',
            'name': _wire.template(self.__name),
            'value': _wire.template(self.__value),
        }


class UnsetLaunchConfiguration(KnownAction):
    """Removes a variable."""

    def __init__(self, name: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)

    @property
    def name(self) -> List[Substitution]:
        """The name."""
        return self.__name

    def execute(self, context: LaunchContext) -> None:
        """Removes the variable."""
        context.launch_configurations.pop(perform_substitutions(context, self.__name), None)

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': 'unset', 'name': _wire.template(self.__name)}


class PushLaunchConfigurations(KnownAction):
    """Saves all variables."""

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': 'push_configurations'}


class PopLaunchConfigurations(KnownAction):
    """Restores the variables that `PushLaunchConfigurations` has saved."""

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': 'pop_configurations'}


class ResetLaunchConfigurations(KnownAction):
    """Removes all variables but those that are given."""

    def __init__(
        self,
        launch_configurations: Optional[Dict[SomeSubstitutionsType, SomeSubstitutionsType]] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__kept = normalized_pairs(launch_configurations, 'launch_configurations')

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': 'reset_configurations', 'keep': _wire.pairs(self.__kept)}
