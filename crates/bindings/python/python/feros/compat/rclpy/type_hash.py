"""The hash of a type's description."""

from ._checked import checked

_SIZE = 32


class TypeHash:
    """Version and value, as in graph queries; printed as `RIHS01_...`."""

    __slots__ = ['_version', '_value']

    def __init__(self, version: int = -1, value: bytes = bytes(_SIZE)) -> None:
        self.version = version
        self.value = value

    version = checked('version', int, 'The version of the hash; -1 if there is no hash.')
    value = checked('value', bytes, 'The 32 bytes of the hash.')

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TypeHash):
            return False
        return (self._version, self._value) == (other._version, other._value)

    def __hash__(self) -> int:
        return hash((self._version, self._value))

    def __str__(self) -> str:
        if self._version <= 0 or len(self._value) != _SIZE:
            return 'INVALID'
        return f'RIHS{self._version:02}_{self._value.hex()}'
