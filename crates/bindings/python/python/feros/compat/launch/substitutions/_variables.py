"""Substitutions that read a variable: of the launch, of the environment, of a loop or an event."""

from typing import Any, Iterable, List, Optional, Text, Union

from .._failure import SubstitutionFailure
from .._text import normalize_to_list_of_substitutions, optional, some_or_str
from ..launch_context import LaunchContext
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ._shapes import OfName, OfNameAndDefault, OfTexts


class LaunchConfiguration(OfTexts):
    """The value of an argument or of `SetLaunchConfiguration`."""

    _FEROS_KIND = 'var'

    def __init__(
        self,
        variable_name: SomeSubstitutionsType,
        *,
        default: Optional[Union[Any, Iterable[Any]]] = None,
    ) -> None:
        super().__init__(
            normalize_to_list_of_substitutions(variable_name),
            None if default is None else some_or_str(default))

    @property
    def variable_name(self) -> List[Substitution]:
        """The name of the variable."""
        return self._feros_arguments()[0]


class EnvironmentVariable(OfNameAndDefault):
    """The value of an environment variable."""

    _FEROS_KIND = 'env'

    def __init__(
        self,
        name: SomeSubstitutionsType,
        *,
        default_value: Optional[SomeSubstitutionsType] = None,
    ) -> None:
        super().__init__(normalize_to_list_of_substitutions(name), optional(default_value))


class AnonName(OfName):
    """A unique name; the same `name` always gives the same text."""

    _FEROS_KIND = 'anon'

    def __init__(self, name: SomeSubstitutionsType) -> None:
        super().__init__(normalize_to_list_of_substitutions(name))


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


class ForLoopIndex(OfName):
    """The number of the iteration of a `ForLoop`."""

    _FEROS_KIND = 'index'

    def __init__(self, name: SomeSubstitutionsType) -> None:
        super().__init__(normalize_to_list_of_substitutions(name))


class ForEachVar(OfNameAndDefault):
    """A value of the current iteration of a `ForEach`."""

    _FEROS_KIND = 'for-var'

    def __init__(
        self,
        name: SomeSubstitutionsType,
        *,
        default_value: Optional[Union[Any, Iterable[Any]]] = None,
    ) -> None:
        super().__init__(
            normalize_to_list_of_substitutions(name),
            None if default_value is None else some_or_str(default_value))
