"""Substitutions that make a text from other texts."""

from typing import Any, Dict, Iterable, List, Sequence, Text

from .._failure import SubstitutionFailure
from .._objects import number_of
from .._text import normalize_to_list_of_substitutions, perform_substitutions, several
from ..launch_context import LaunchContext
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import KnownSubstitution, Substitution
from ._shapes import OfTexts, OfValue


class Command(OfTexts):
    """The output of a command."""

    _FEROS_KIND = 'command'

    def __init__(
        self,
        command: SomeSubstitutionsType,
        *,
        on_stderr: SomeSubstitutionsType = 'fail',
    ) -> None:
        super().__init__(
            normalize_to_list_of_substitutions(command),
            normalize_to_list_of_substitutions(on_stderr))

    @property
    def command(self) -> List[Substitution]:
        """The command with its arguments."""
        return self._feros_arguments()[0]

    @property
    def on_stderr(self) -> List[Substitution]:
        """What output on stderr means: `fail`, `ignore`, `warn` or `capture`."""
        return self._feros_arguments()[1]


class PythonExpression(OfTexts):
    """The value of an expression in Python."""

    _FEROS_KIND = 'eval'

    def __init__(
        self,
        expression: SomeSubstitutionsType,
        python_modules: SomeSubstitutionsType = ('math',),
    ) -> None:
        super().__init__(normalize_to_list_of_substitutions(expression))
        self.__python_modules = normalize_to_list_of_substitutions(python_modules)

    @property
    def expression(self) -> List[Substitution]:
        """The expression."""
        return self._feros_arguments()[0]

    @property
    def python_modules(self) -> List[Substitution]:
        """The modules that the expression may use."""
        return self.__python_modules

    def _feros_completed(self, call: Dict[str, Any]) -> Dict[str, Any]:
        call['py'] = number_of(self)
        modules = self.__python_modules
        if len(modules) != 1 or getattr(modules[0], 'text', None) != 'math':
            # Only Python knows these modules.
            del call['s'], call['a']
            call['describe'] = self.describe()
        return call

    def perform(self, context: LaunchContext) -> Text:
        """Evaluates the expression in this process."""
        import importlib

        names: Dict[str, Any] = {}
        for part in self.__python_modules:
            name = context.perform_substitution(part)
            module = importlib.import_module(name)
            if name == 'math':
                names.update(vars(module))
            names[module.__name__] = module
        text = perform_substitutions(context, self.expression)
        try:
            return str(eval(text, {}, names))
        except Exception as error:
            failure = SubstitutionFailure(
                f'{type(error).__name__}: {error}, in the expression `{text}`')
            failure._feros_is_whole = True  # type: ignore[attr-defined]
            raise failure from error


class StringJoinSubstitution(KnownSubstitution):
    """Texts with a delimiter between them."""

    _FEROS_KIND = 'string-join'

    def __init__(
        self,
        substitutions: Iterable[SomeSubstitutionsType],
        delimiter: SomeSubstitutionsType = '',
    ) -> None:
        super().__init__()
        self.__substitutions = several(substitutions)
        self.__delimiter = normalize_to_list_of_substitutions(delimiter)

    @property
    def substitutions(self) -> List[List[Substitution]]:
        """The texts."""
        return self.__substitutions

    @property
    def delimiter(self) -> List[Substitution]:
        """The delimiter."""
        return self.__delimiter

    def _feros_arguments(self) -> Sequence[List[Substitution]]:
        return [self.__delimiter, *self.__substitutions]


class StringStripSubstitution(OfValue):
    """A text without the spaces at its ends."""

    _FEROS_KIND = 'string-strip'

    def __init__(self, value: SomeSubstitutionsType) -> None:
        super().__init__(normalize_to_list_of_substitutions(value))
