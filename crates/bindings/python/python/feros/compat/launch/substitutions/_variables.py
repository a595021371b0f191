"""Substitutions that read a variable: of the launch, of the environment, of a loop or an event."""

from typing import Any, Iterable, List, Optional, Sequence, Text, Union

from .._failure import SubstitutionFailure
from .._text import normalize_to_list_of_substitutions, optional, some_or_str
from ..launch_context import LaunchContext
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import KnownSubstitution, Substitution


class LaunchConfiguration(KnownSubstitution):
    """The value of an argument or of `SetLaunchConfiguration`."""

    _FEROS_KIND = 'var'

    def __init__(
        self,
        variable_name: SomeSubstitutionsType,
        *,
        default: Optional[Union[Any, Iterable[Any]]] = None,
    ) -> None:
        super().__init__()
        self.__variable_name = normalize_to_list_of_substitutions(variable_name)
        self.__default = None if default is None else some_or_str(default)

    @property
    def variable_name(self) -> List[Substitution]:
        """The name of the variable."""
        return self.__variable_name

    def _feros_arguments(self) -> Sequence[List[Substitution]]:
        return [self.__variable_name, *([] if self.__default is None else [self.__default])]


class EnvironmentVariable(KnownSubstitution):
    """The value of an environment variable."""

    _FEROS_KIND = 'env'

    def __init__(
        self,
        name: SomeSubstitutionsType,
        *,
        default_value: Optional[SomeSubstitutionsType] = None,
    ) -> None:
        super().__init__()
        self.__name = normalize_to_list_of_substitutions(name)
        self.__default_value = optional(default_value)

    @property
    def name(self) -> List[Substitution]:
        """The name of the variable."""
        return self.__name

    @property
    def default_value(self) -> Optional[List[Substitution]]:
        """The text if there is no such variable."""
        return self.__default_value

    def _feros_arguments(self) -> Sequence[List[Substitution]]:
        default = self.__default_value
        return [self.__name, *([] if default is None else [default])]


class AnonName(KnownSubstitution):
    """A unique name; the same `name` always gives the same text."""

    _FEROS_KIND = 'anon'

    def __init__(self, name: SomeSubstitutionsType) -> None:
        super().__init__()
        self.__name = normalize_to_list_of_substitutions(name)

    @property
    def name(self) -> List[Substitution]:
        """The name that the text begins with."""
        return self.__name

    def _feros_arguments(self) -> Sequence[List[Substitution]]:
        return [self.__name]


class LocalSubstitution(Substitution):
    """The value of an expression on the variables of an event's reaction, such as `event.text`."""

    def __init__(self, expression: Text, description: Optional[Text] = None) -> None:
        super().__init__()
        if not isinstance(expression, str):
            raise TypeError(
                f'LocalSubstitution takes a str as its expression, not {expression!r}')
        self.__expression = expression
        self.__description = description

    @property
    def expression(self) -> Text:
        """The expression in Python."""
        return self.__expression

    @property
    def description(self) -> Optional[Text]:
        """The text for people."""
        return self.__description

    def describe(self) -> Text:
        """Returns a text for people."""
        return f"LocalSubstitution('{self.__description or self.__expression}')"

    def perform(self, context: LaunchContext) -> Text:
        """Evaluates the expression."""
        variables = context.get_locals_as_dict()
        try:
            value = eval(self.__expression, {}, variables)
        except Exception as error:
            raise SubstitutionFailure(
                f'`{self.__expression}` is not known here ({type(error).__name__}: {error}); the'
                f" local variables are: {', '.join(sorted(variables)) or 'none'}") from error
        return value if isinstance(value, str) else str(value)


class ForLoopIndex(KnownSubstitution):
    """The number of the iteration of a `ForLoop`."""

    _FEROS_KIND = 'index'

    def __init__(self, name: SomeSubstitutionsType) -> None:
        super().__init__()
        self.__name = normalize_to_list_of_substitutions(name)

    @property
    def name(self) -> List[Substitution]:
        """The name of the loop."""
        return self.__name

    def _feros_arguments(self) -> Sequence[List[Substitution]]:
        return [self.__name]


class ForEachVar(KnownSubstitution):
    """A value of the current iteration of a `ForEach`."""

    _FEROS_KIND = 'for-var'

    def __init__(
        self,
        name: SomeSubstitutionsType,
        *,
        default_value: Optional[Union[Any, Iterable[Any]]] = None,
    ) -> None:
        super().__init__()
        self.__name = normalize_to_list_of_substitutions(name)
        self.__default_value = None if default_value is None else some_or_str(default_value)

    @property
    def name(self) -> List[Substitution]:
        """The name of the value."""
        return self.__name

    @property
    def default_value(self) -> Optional[List[Substitution]]:
        """The text if the iteration has no such value."""
        return self.__default_value

    def _feros_arguments(self) -> Sequence[List[Substitution]]:
        default = self.__default_value
        return [self.__name, *([] if default is None else [default])]
