"""Actions that change the environment of the processes that follow."""

import os
from typing import Any, Dict, List, MutableMapping, Text, Union

from .. import _wire
from .._text import flag, normalize_to_list_of_substitutions
from ..action import KnownAction
from ..launch_context import LaunchContext
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ._named import NamedValue, SetVariable, UnsetVariable


class SetEnvironmentVariable(SetVariable):
    """Sets an environment variable."""

    _FEROS_DO = 'set_environment'

    def __init__(
        self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, **kwargs: Any,
    ) -> None:
        super().__init__(name, value, **kwargs)

    def _feros_variables(self, context: LaunchContext) -> MutableMapping[Text, Text]:
        return context.environment


class UnsetEnvironmentVariable(UnsetVariable):
    """Removes an environment variable."""

    _FEROS_DO = 'unset_environment'

    def __init__(self, name: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)

    def _feros_variables(self, context: LaunchContext) -> MutableMapping[Text, Text]:
        return context.environment


class AppendEnvironmentVariable(NamedValue):
    """Adds a value at the end or the beginning of an environment variable."""

    _FEROS_DO = 'append_environment'

    def __init__(
        self,
        name: SomeSubstitutionsType,
        value: SomeSubstitutionsType,
        prepend: Union[bool, SomeSubstitutionsType] = False,
        separator: SomeSubstitutionsType = os.pathsep,
        **kwargs: Any,
    ) -> None:
        super().__init__(name, value, **kwargs)
        self.__prepend = flag(prepend)
        self.__separator = normalize_to_list_of_substitutions(separator)

    @property
    def prepend(self) -> Any:
        """Whether the value is added at the beginning."""
        return self.__prepend

    @property
    def separator(self) -> List[Substitution]:
        """The text between the values."""
        return self.__separator

    def _feros_data(self) -> Dict[str, Any]:
        return {
            **super()._feros_data(),
            'prepend': _wire.flag(self.__prepend),
            'separator': _wire.template(self.__separator),
        }


class PushEnvironment(KnownAction):
    """Saves the environment."""

    _FEROS_DO = 'push_environment'


class PopEnvironment(KnownAction):
    """Restores the environment that `PushEnvironment` has saved."""

    _FEROS_DO = 'pop_environment'


class ResetEnvironment(KnownAction):
    """Restores the environment that the launch began with."""

    _FEROS_DO = 'reset_environment'
