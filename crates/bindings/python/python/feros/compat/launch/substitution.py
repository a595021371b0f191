"""The base of all substitutions, which give a text when the launch is planned."""

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Text

from ._positions import Place, here, is_method_of_ours

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class Substitution:
    """A text that is known when the launch is planned.

    A class of a launch file or of a package derives from it and defines `perform`.
    """

    _feros_at: Optional[Place]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        object.__setattr__(made, '_feros_at', here())
        return made

    def describe(self) -> Text:
        """Returns a text for people."""
        return repr(self)

    def perform(self, context: 'LaunchContext') -> Text:
        """Returns the text."""
        raise NotImplementedError(
            f'the substitution `{type(self).__name__}` has no method `perform(self, context)`')


class KnownSubstitution(Substitution):
    """A substitution that `feros launch` evaluates itself."""

    _FEROS_KIND = ''

    def _feros_arguments(self) -> Sequence[List[Substitution]]:
        """The arguments, in the order of the substitution's form in XML."""
        return ()

    def _feros_is_known(self) -> bool:
        """Whether the command evaluates it; a derived class may have its own `perform`."""
        return is_method_of_ours(type(self), 'perform')

    def _feros_completed(self, call: Dict[str, Any]) -> Dict[str, Any]:
        """Completes the data of the substitution."""
        return call

    def perform(self, context: 'LaunchContext') -> Text:
        """Asks `feros launch` for the text."""
        return context._feros_text([self])

    def describe(self) -> Text:
        """Returns a text for people."""
        arguments = (
            ' + '.join(part.describe() for part in argument)
            for argument in self._feros_arguments())
        return f"{type(self).__name__}({', '.join(arguments)})"
