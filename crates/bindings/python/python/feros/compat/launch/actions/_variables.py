"""Actions that declare arguments, and set and remove variables."""

from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Text, Tuple, Union

from .. import _wire
from .._text import normalize_to_list_of_substitutions, optional, perform_substitutions
from ..action import KnownAction
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution

if TYPE_CHECKING:
    from ..launch_context import LaunchContext

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

    def execute(self, context: 'LaunchContext') -> None:
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

    def execute(self, context: 'LaunchContext') -> None:
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

    def execute(self, context: 'LaunchContext') -> None:
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
