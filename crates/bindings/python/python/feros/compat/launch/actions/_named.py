"""The bases of actions that have a name and a value, and of those that set and remove variables."""

from typing import Any, Dict, List, MutableMapping, Text

from .. import _wire
from .._text import normalize_to_list_of_substitutions, perform_substitutions
from ..action import KnownAction
from ..launch_context import LaunchContext
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution


class Named(KnownAction):
    """An action with a name."""

    def __init__(self, name: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)

    @property
    def name(self) -> List[Substitution]:
        """The name."""
        return self.__name

    def _feros_data(self) -> Dict[str, Any]:
        return {**super()._feros_data(), 'name': _wire.template(self.__name)}


class NamedValue(Named):
    """An action with a name and a value."""

    def __init__(
        self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self.__value = normalize_to_list_of_substitutions(value)

    @property
    def value(self) -> List[Substitution]:
        """The value."""
        return self.__value

    def _feros_data(self) -> Dict[str, Any]:
        return {**super()._feros_data(), 'value': _wire.template(self.__value)}


class SetVariable(NamedValue):
    """Sets a variable."""

    def _feros_variables(self, context: LaunchContext) -> MutableMapping[Text, Text]:
        """The variables, of which one is set."""
        raise NotImplementedError

    def execute(self, context: LaunchContext) -> None:
        """Sets the variable."""
        name = perform_substitutions(context, self.name)
        self._feros_variables(context)[name] = perform_substitutions(context, self.value)


class UnsetVariable(Named):
    """Removes a variable."""

    def _feros_variables(self, context: LaunchContext) -> MutableMapping[Text, Text]:
        """The variables, of which one is removed."""
        raise NotImplementedError

    def execute(self, context: LaunchContext) -> None:
        """Removes the variable."""
        self._feros_variables(context).pop(perform_substitutions(context, self.name), None)
