"""The replacement for an object that was destroyed."""

from feros._feros import FerosError


class Gone:
    """Raises an error on any access."""

    def __init__(self, text):
        self._text = text

    def __getattr__(self, name):
        raise FerosError(self._text)
