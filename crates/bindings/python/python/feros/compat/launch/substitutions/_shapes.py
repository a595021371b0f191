"""The bases of substitutions, by the texts that they take."""

from typing import List, Optional, Sequence

from ..substitution import KnownSubstitution, Substitution


class OfTexts(KnownSubstitution):
    """A substitution that takes texts, of which some may be missing."""

    def __init__(self, *arguments: Optional[List[Substitution]]) -> None:
        super().__init__()
        self.__arguments = [argument for argument in arguments if argument is not None]

    def _feros_arguments(self) -> Sequence[List[Substitution]]:
        return self.__arguments


class OfValue(OfTexts):
    """A substitution that takes one text."""

    @property
    def value(self) -> List[Substitution]:
        """The text."""
        return self._feros_arguments()[0]


class OfName(OfTexts):
    """A substitution that takes the name of something."""

    @property
    def name(self) -> List[Substitution]:
        """The name."""
        return self._feros_arguments()[0]


class OfNameAndDefault(OfName):
    """A substitution that takes the name of something, and the text if that does not exist."""

    @property
    def default_value(self) -> Optional[List[Substitution]]:
        """The text if there is nothing with the name."""
        return next(iter(self._feros_arguments()[1:]), None)
