"""Actions that change the environment of the processes that follow."""

import os
from typing import Any, Dict, List, Union

from .. import _wire
from .._text import flag, normalize_to_list_of_substitutions, perform_substitutions
from ..action import KnownAction
from ..launch_context import LaunchContext
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution


class SetEnvironmentVariable(KnownAction):
    """Sets an environment variable."""

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
        context.environment[name] = perform_substitutions(context, self.__value)

    def _feros_data(self) -> Dict[str, Any]:
        return {
            'do': 'set_environment',
            'name': _wire.template(self.__name),
            'value': _wire.template(self.__value),
        }


class UnsetEnvironmentVariable(KnownAction):
    """Removes an environment variable."""

    def __init__(self, name: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)

    @property
    def name(self) -> List[Substitution]:
        """The name."""
        return self.__name

    def execute(self, context: LaunchContext) -> None:
        """Removes the variable."""
        context.environment.pop(perform_substitutions(context, self.__name), None)

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': 'unset_environment', 'name': _wire.template(self.__name)}


class AppendEnvironmentVariable(KnownAction):
    """Adds a value at the end or the beginning of an environment variable."""

    def __init__(
        self,
        name: SomeSubstitutionsType,
        value: SomeSubstitutionsType,
        prepend: Union[bool, SomeSubstitutionsType] = False,
        separator: SomeSubstitutionsType = os.pathsep,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)
        self.__value = normalize_to_list_of_substitutions(value)
        self.__prepend = flag(prepend)
        self.__separator = normalize_to_list_of_substitutions(separator)

    @property
    def name(self) -> List[Substitution]:
        """The name."""
        return self.__name

    @property
    def value(self) -> List[Substitution]:
        """The value that is added."""
        return self.__value

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
            'do': 'append_environment',
            'name': _wire.template(self.__name),
            'value': _wire.template(self.__value),
            'prepend': _wire.flag(self.__prepend),
            'separator': _wire.template(self.__separator),
        }


class PushEnvironment(KnownAction):
    """Saves the environment."""

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': 'push_environment'}


class PopEnvironment(KnownAction):
    """Restores the environment that `PushEnvironment` has saved."""

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': 'pop_environment'}


class ResetEnvironment(KnownAction):
    """Restores the environment that the launch began with."""

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': 'reset_environment'}
