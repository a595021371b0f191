"""Replaces an object that can no longer be used."""

from feros._feros import FerosError


class Gone:
    """Raises an error on any access."""

    def __init__(self, text):
        self._text = text

    def __getattr__(self, name):
        raise FerosError(self._text)
