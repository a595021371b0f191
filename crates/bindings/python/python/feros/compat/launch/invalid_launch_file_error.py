"""The error of a file that is no launch file."""

from typing import Any, Sequence


class InvalidLaunchFileError(Exception):
    """A file is no launch file."""

    def __init__(self, extension: str = '', *, likely_errors: Sequence[Any] = ()) -> None:
        super().__init__(extension, likely_errors)

    def __str__(self) -> str:
        extension, errors = self.args
        text = f'the file{" with the ending " + extension if extension else ""} is no launch file'
        return '; '.join([text, *map(str, errors or ())])


class InvalidFrontendLaunchFileError(InvalidLaunchFileError):
    """A file in XML or YAML is no launch file."""
