"""What stands where something was that cannot be used any more."""

from feros._feros import FerosError


class Gone:
    """Says so, whatever is wanted of it."""

    def __init__(self, text):
        self._text = text

    def __getattr__(self, name):
        raise FerosError(self._text)
