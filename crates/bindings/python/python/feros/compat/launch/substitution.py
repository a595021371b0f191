"""The base of all substitutions, which give a text when the launch is planned."""

from typing import Any, Dict, List, Sequence, Text

from . import _wire
from ._objects import number_of
from ._positions import Placed, is_method_of_ours
from .launch_context import LaunchContext


class Substitution(Placed):
    """A text that is known when the launch is planned.

    A class of a launch file or of a package derives from it and defines `perform`.
    """

    def describe(self) -> Text:
        """Returns a text for people."""
        return repr(self)

    def perform(self, context: LaunchContext) -> Text:
        """Returns the text."""
        raise NotImplementedError(
            f'the substitution `{type(self).__name__}` has no method `perform(self, context)`')

    def _feros_part(self) -> Any:
        """The substitution as data; the command asks for its text."""
        return {**_place(self), 'py': number_of(self), 'describe': _described(self)}


def _place(made: Substitution) -> _wire.Data:
    where = _wire.at(made)
    return {} if where is None else {'at': where}


def _described(made: Substitution) -> str:
    """The text for people of a substitution; a class of the user may fail to give it."""
    try:
        return str(made.describe())[:200]
    except Exception:
        return type(made).__name__


class KnownSubstitution(Substitution):
    """A substitution that `feros launch` evaluates itself."""

    _FEROS_KIND = ''

    def _feros_arguments(self) -> Sequence[List[Substitution]]:
        """The arguments, in the order of the substitution's form in XML."""
        return ()

    def _feros_is_known(self) -> bool:
        """Whether the command evaluates it; a derived class may have its own `perform`."""
        return is_method_of_ours(type(self), 'perform')

    def _feros_part(self) -> Any:
        if not self._feros_is_known():
            return super()._feros_part()
        call = _place(self)
        with _wire.in_call:
            call['s'] = self._FEROS_KIND
            call['a'] = [_wire.template(argument) for argument in self._feros_arguments()]
        return self._feros_completed(call)

    def _feros_completed(self, call: Dict[str, Any]) -> Dict[str, Any]:
        """Completes the data of the substitution."""
        return call

    def perform(self, context: LaunchContext) -> Text:
        """Asks `feros launch` for the text."""
        return context._feros_text(_wire.template([self]))

    def describe(self) -> Text:
        """Returns a text for people."""
        arguments = (
            ' + '.join(part.describe() for part in argument)
            for argument in self._feros_arguments())
        return f"{type(self).__name__}({', '.join(arguments)})"
