"""Namespaces of nodes."""

from typing import Optional, Text


def is_root_namespace(ns: Text) -> bool:
    """Returns whether a namespace is `/`."""
    return ns == '/'


def is_namespace_absolute(ns: Text) -> bool:
    """Returns whether a namespace begins with `/`."""
    return ns.startswith('/')


def prefix_namespace(base_ns: Optional[Text], ns: Optional[Text]) -> Optional[Text]:
    """Returns a namespace within another one; an absolute namespace stays as it is."""
    if ns is None or ns == '':
        return base_ns
    if base_ns is None or is_namespace_absolute(ns):
        return ns if is_root_namespace(ns) else ns.rstrip('/')
    return f"{base_ns.rstrip('/')}/{ns}".rstrip('/')


def make_namespace_absolute(ns: Optional[Text]) -> Optional[Text]:
    """Returns a namespace that begins with `/`."""
    return ns if ns is None or is_namespace_absolute(ns) else f'/{ns}'
