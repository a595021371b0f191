"""The rules of names of parameters."""

from .exceptions import InvalidParameterException


def validate_parameter_name(name: str) -> bool:
    """True; raises `InvalidParameterException` for the empty name."""
    if not name:
        raise InvalidParameterException(name)
    return True
