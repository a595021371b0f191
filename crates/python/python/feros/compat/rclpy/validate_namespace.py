"""The rules of namespaces."""

from ._names import full_name
from .exceptions import InvalidNamespaceException


def validate_namespace(namespace: str) -> bool:
    """True; raises `InvalidNamespaceException`."""
    wrong = full_name(namespace, 'namespace')
    if wrong is not None:
        raise InvalidNamespaceException(namespace, *wrong)
    return True
