"""Constant texts, and the forms in which a launch file may give a text."""

import os
from typing import Any, Iterable, List, Optional, Sequence, Text

from . import _wire
from .launch_context import LaunchContext
from .some_substitutions_type import SomeSubstitutionsType
from .substitution import KnownSubstitution, Substitution


class TextSubstitution(Substitution):
    """A constant text."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        # A constant text has no errors, so nobody asks for its position.
        made = object.__new__(cls)
        made._feros_at = None
        return made

    def __init__(self, *, text: Text) -> None:
        if not isinstance(text, str) and isinstance(text, os.PathLike):
            text = os.fspath(text)
        if not isinstance(text, str):
            raise TypeError(
                f'TextSubstitution takes a str as its text, not {type(text).__name__}: {text!r}')
        self.__text = text

    @property
    def text(self) -> Text:
        """The text."""
        return self.__text

    def describe(self) -> Text:
        """Returns the text in quotes."""
        return f"'{self.__text}'"

    def perform(self, context: Optional[LaunchContext]) -> Text:
        """Returns the text."""
        return self.__text

    def _feros_part(self) -> Any:
        # A derived class may have its own `perform`.
        return self.__text if type(self) is TextSubstitution else super()._feros_part()


def _one(part: Any) -> Substitution:
    if isinstance(part, str):
        return TextSubstitution(text=part)
    if isinstance(part, Substitution):
        return part
    if isinstance(part, os.PathLike):
        return TextSubstitution(text=os.fspath(part))
    raise TypeError(
        f'{part!r} of the type {type(part).__name__} stands where a text is expected: write a str,'
        ' a substitution, or a list of these')


def normalize_to_list_of_substitutions(subs: SomeSubstitutionsType) -> List[Substitution]:
    """Returns the parts of a text; the parts follow each other without a space.

    Raises `TypeError` if the text is no str, substitution or iterable of these.
    """
    if isinstance(subs, (list, tuple)):
        return [_one(part) for part in subs]
    if isinstance(subs, (str, Substitution, bytes, dict)) or not hasattr(subs, '__iter__'):
        return [_one(subs)]
    return [_one(part) for part in subs]


def several(texts: Iterable[SomeSubstitutionsType]) -> List[List[Substitution]]:
    """Returns the parts of each text of a list. A single text counts as a list with one text."""
    if isinstance(texts, (str, os.PathLike, Substitution)):
        texts = [texts]
    return [normalize_to_list_of_substitutions(text) for text in texts]


def optional(subs: Optional[SomeSubstitutionsType]) -> Optional[List[Substitution]]:
    """Returns the parts of a text that may be missing."""
    return None if subs is None else normalize_to_list_of_substitutions(subs)


def some(value: Any) -> List[Substitution]:
    """Returns the parts of a text that may also be a boolean or number, as its `str`."""
    if isinstance(value, (bool, int, float)):
        return [TextSubstitution(text=str(value))]
    return normalize_to_list_of_substitutions(value)


def some_or_str(value: Any) -> List[Substitution]:
    """Returns the parts of a text in which any part may be a value with a `str`."""
    if isinstance(value, (str, Substitution)) or not hasattr(value, '__iter__'):
        value = [value]
    return [
        _one(part if isinstance(part, (str, Substitution, os.PathLike)) else str(part))
        for part in value
    ]


def perform_substitutions(context: LaunchContext, subs: Sequence[Substitution]) -> Text:
    """Returns the text of all parts."""
    if len(subs) > 1 and all(
        isinstance(part, KnownSubstitution) and part._feros_is_known()
        or type(part) is TextSubstitution for part in subs
    ):
        return context._feros_text(_wire.template(subs))
    return ''.join(context.perform_substitution(part) for part in subs)


def flag(value: Any) -> Any:
    """Returns a boolean, or the parts of a text that gives one."""
    return value if value is None or isinstance(value, bool) else some(value)
