"""The types of fields, in the form of `SLOT_TYPES` of stock message classes.

The names and attributes are those of `rosidl_parser.definition`, because scripts use them.
"""


class _Described:
    """A value that is compared by its attributes, and printed with them."""

    __slots__ = ()

    def _key(self):
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other):
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self):
        return hash((type(self).__name__, *map(repr, self._key())))

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(map(repr, self._key()))})"


class AbstractType(_Described):
    """Any type of a field."""

    __slots__ = ()


class AbstractNestableType(AbstractType):
    """A type that can be the element type of an array."""

    __slots__ = ()


class BasicType(AbstractNestableType):
    """A number, `boolean` or `octet`, given by its name in IDL."""

    __slots__ = ("typename",)

    def __init__(self, typename):
        self.typename = typename


class NamespacedType(AbstractNestableType):
    """Another message."""

    __slots__ = ("namespaces", "name")

    def __init__(self, namespaces, name):
        self.namespaces = list(namespaces)
        self.name = name

    def namespaced_name(self):
        """Returns the parts of the full name."""
        return (*self.namespaces, self.name)


class AbstractGenericString(AbstractNestableType):
    """Any string type."""

    __slots__ = ()

    def has_maximum_size(self):
        """Returns whether the length is bounded."""
        return hasattr(self, "maximum_size")


class AbstractString(AbstractGenericString):
    """A string of bytes."""

    __slots__ = ()


class AbstractWString(AbstractGenericString):
    """A string in UTF-16."""

    __slots__ = ()


class UnboundedString(AbstractString):
    """`string`"""

    __slots__ = ()


class UnboundedWString(AbstractWString):
    """`wstring`"""

    __slots__ = ()


class BoundedString(AbstractString):
    """`string<=N`"""

    __slots__ = ("maximum_size",)

    def __init__(self, maximum_size):
        self.maximum_size = maximum_size


class BoundedWString(AbstractWString):
    """`wstring<=N`"""

    __slots__ = ("maximum_size",)

    def __init__(self, maximum_size):
        self.maximum_size = maximum_size


class AbstractNestedType(AbstractType):
    """Several elements of one type."""

    __slots__ = ()

    def has_maximum_size(self):
        """Returns whether the number of elements is bounded."""
        return True


class Array(AbstractNestedType):
    """`T[N]`"""

    __slots__ = ("value_type", "size")

    def __init__(self, value_type, size):
        self.value_type = value_type
        self.size = size


class AbstractSequence(AbstractNestedType):
    """A varying number of elements."""

    __slots__ = ()


class BoundedSequence(AbstractSequence):
    """`T[<=N]`"""

    __slots__ = ("value_type", "maximum_size")

    def __init__(self, value_type, maximum_size):
        self.value_type = value_type
        self.maximum_size = maximum_size


class UnboundedSequence(AbstractSequence):
    """`T[]`"""

    __slots__ = ("value_type",)

    def __init__(self, value_type):
        self.value_type = value_type

    def has_maximum_size(self):
        return False
