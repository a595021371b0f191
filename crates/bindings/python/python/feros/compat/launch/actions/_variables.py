"""Actions that set and remove variables."""

from typing import Any, Dict, Iterable, List, MutableMapping, Optional, Text, Tuple, Union

from .. import _wire
from .._text import normalize_to_list_of_substitutions
from ..action import KnownAction
from ..launch_context import LaunchContext
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ._named import SetVariable, UnsetVariable

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


class SetLaunchConfiguration(SetVariable):
    """Sets a variable."""

    _FEROS_DO = 'set'

    def __init__(
        self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, **kwargs: Any,
    ) -> None:
        super().__init__(name, value, **kwargs)

    def _feros_variables(self, context: LaunchContext) -> MutableMapping[Text, Text]:
        return context.launch_configurations


class UnsetLaunchConfiguration(UnsetVariable):
    """Removes a variable."""

    _FEROS_DO = 'unset'

    def __init__(self, name: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)

    def _feros_variables(self, context: LaunchContext) -> MutableMapping[Text, Text]:
        return context.launch_configurations


class PushLaunchConfigurations(KnownAction):
    """Saves all variables."""

    _FEROS_DO = 'push_configurations'


class PopLaunchConfigurations(KnownAction):
    """Restores the variables that `PushLaunchConfigurations` has saved."""

    _FEROS_DO = 'pop_configurations'


class ResetLaunchConfigurations(KnownAction):
    """Removes all variables but those that are given."""

    _FEROS_DO = 'reset_configurations'

    def __init__(
        self,
        launch_configurations: Optional[Dict[SomeSubstitutionsType, SomeSubstitutionsType]] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__kept = normalized_pairs(launch_configurations, 'launch_configurations')

    def _feros_data(self) -> Dict[str, Any]:
        return {**super()._feros_data(), 'keep': _wire.pairs(self.__kept)}
