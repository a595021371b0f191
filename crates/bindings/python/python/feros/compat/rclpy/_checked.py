"""Attributes that check their values like the setters of stock classes."""

from typing import Any, Callable, Optional


def checked(
    name: str, kind: type, doc: str, convert: Optional[Callable[[Any], Any]] = None
) -> property:
    """Returns an attribute that accepts values of one class, and stores them in a slot,
    converted."""
    slot = f'_{name}'

    def get(self: Any) -> Any:
        return getattr(self, slot)

    def put(self: Any, value: Any) -> None:
        assert isinstance(value, kind)
        setattr(self, slot, value if convert is None else convert(value))

    return property(get, put, doc=doc)
