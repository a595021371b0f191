"""The actions that declare arguments, for which a launch description is searched."""

from typing import Any, Dict, Iterable, List, Optional, Text, Union

from . import _wire
from ._text import optional, perform_substitutions
from .action import KnownAction
from .launch_context import LaunchContext
from .some_substitutions_type import SomeSubstitutionsType
from .substitution import Substitution


class DeclareLaunchArgument(KnownAction):
    """Declares an argument of the launch file."""

    def __init__(
        self,
        name: Text,
        *,
        default_value: Optional[SomeSubstitutionsType] = None,
        description: Optional[Text] = None,
        choices: Optional[Iterable[Text]] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not isinstance(name, str):
            raise TypeError(f'the name of an argument is {name!r:.80}: expected a str')
        self.__name = name
        self.__default_value = optional(default_value)
        self.__given_description = None if description is None else str(description)
        self.__choices = None if choices is None else [str(choice) for choice in choices]
        self._conditionally_included = False
        if self.__choices is None:
            return
        if not self.__choices:
            raise RuntimeError(
                f'the argument `{name}` has an empty list of `choices`: leave it out')
        if isinstance(default_value, str) and default_value not in self.__choices:
            raise RuntimeError(
                f'the default `{default_value}` of the argument `{name}` is not one of its'
                f" choices {', '.join(self.__choices)}")

    @property
    def name(self) -> Text:
        """The name."""
        return self.__name

    @property
    def default_value(self) -> Optional[List[Substitution]]:
        """The value if none is given."""
        return self.__default_value

    @property
    def description(self) -> Text:
        """The description, with the choices."""
        given, choices = self.__given_description, self.__choices
        if choices is None:
            return given or 'no description given'
        if given is None:
            return f'One of: {choices}'
        return f"{given}{'' if given.endswith('.') else '.'} Valid choices are: {choices}"

    @property
    def choices(self) -> Optional[List[Text]]:
        """The values that the argument can have."""
        return self.__choices

    def execute(self, context: LaunchContext) -> None:
        """Sets the argument to its default if it has no value, and checks the value."""
        configurations = context.launch_configurations
        if self.__name not in configurations:
            if self.__default_value is None:
                raise RuntimeError(f'the argument `{self.__name}` has no value: pass'
                                   f' `{self.__name}:=VALUE` ({self.description})')
            configurations[self.__name] = perform_substitutions(context, self.__default_value)
        value = configurations[self.__name]
        if self.__choices is not None and value not in self.__choices:
            raise RuntimeError(f'`{value}` is no value of the argument `{self.__name}`: expected'
                               f" one of {', '.join(self.__choices)}")

    def _feros_data(self) -> Dict[str, Any]:
        return {
            'do': 'declare',
            'name': self.__name,
            'default': _wire.optional(self.__default_value),
            'description': self.__given_description,
            'choices': self.__choices,
        }


class DeclareBooleanLaunchArgument(DeclareLaunchArgument):
    """Declares an argument that is true or false."""

    def __init__(
        self,
        name: Text,
        *,
        default_value: Union[bool, SomeSubstitutionsType, None] = None,
        **kwargs: Any,
    ) -> None:
        if isinstance(default_value, bool):
            default_value = str(default_value)
        super().__init__(
            name, default_value=default_value,
            choices=['true', 'false', 'True', 'False', 'TRUE', 'FALSE'], **kwargs)
