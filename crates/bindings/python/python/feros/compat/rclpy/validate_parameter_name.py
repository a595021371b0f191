"""The rules of names of parameters."""

from .exceptions import InvalidParameterException


def validate_parameter_name(name: str) -> bool:
    """Returns `True` for a valid name; raises `InvalidParameterException` for the empty name."""
    if not name:
        raise InvalidParameterException(name)
    return True
