"""Rare conversions and checks of field values, which do not have to be fast."""

import array
import sys

INTEGERS = {
    "int8": (-(2**7), 2**7),
    "uint8": (0, 2**8),
    "int16": (-(2**15), 2**15),
    "uint16": (0, 2**16),
    "int32": (-(2**31), 2**31),
    "uint32": (0, 2**32),
    "int64": (-(2**63), 2**63),
    "uint64": (0, 2**64),
}
FLOATS = {"float": 3.402823466e38, "double": sys.float_info.max}
TYPECODES = {
    "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "uint64": "Q", "float": "f", "double": "d",
}
DTYPES = {"float": "float32", "double": "float64"}


def numbers(value, typecode, dtype):
    """Makes an `array.array` from any value that holds numbers.

    A numpy array with elements of another type is converted in one step if all values are in range;
    anything else is converted element by element.
    """
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray):
        wanted = numpy.dtype(dtype)
        if value.dtype == wanted:
            source = numpy.ascontiguousarray(value)
        elif value.dtype.kind in "iu" and wanted.kind in "iu":
            low, high = INTEGERS[dtype]
            if value.size and (int(value.min()) < low or int(value.max()) >= high):
                raise OverflowError(
                    f"a value of the array is out of the range of {dtype}, {low} to {high - 1}"
                )
            source = numpy.ascontiguousarray(value, dtype=wanted)
        elif value.dtype.kind in "fiu" and wanted.kind == "f":
            source = numpy.ascontiguousarray(value, dtype=wanted)
        else:
            raise TypeError(f"an array of {value.dtype} is not an array of {dtype}")
        result = array.array(typecode)
        result.frombytes(source.data.cast("B") if source.size else b"")
        return result
    if isinstance(value, str):
        raise TypeError(f"expected numbers, not the string {value!r}")
    return array.array(typecode, value)


def check(cls, field, value):
    """Raises `AssertionError`, with the text of stock ROS 2, if a field does not accept a value."""
    index = list(cls._fields_and_field_types).index(field)
    _check_type(field, cls.SLOT_TYPES[index], value)


def _check_type(field, slot_type, value):
    from feros import _definition as definition

    if isinstance(slot_type, (definition.Array, definition.AbstractSequence)):
        _check_several(field, slot_type, value)
    elif isinstance(slot_type, definition.NamespacedType):
        assert _is_message(value, slot_type), (
            f"The '{field}' field must be a sub message of type '{slot_type.name}'"
        )
    elif isinstance(slot_type, definition.AbstractGenericString):
        _check_text(field, slot_type, value)
    else:
        _check_basic(field, slot_type.typename, value)


def _is_message(value, slot_type):
    name = getattr(type(value), "_feros_name", None)
    return name == "/".join(slot_type.namespaced_name())


def _check_text(field, slot_type, value):
    bound = getattr(slot_type, "maximum_size", None)
    if bound is None:
        assert isinstance(value, str), f"The '{field}' field must be of type 'str'"
    else:
        assert isinstance(value, str) and len(value) <= bound, (
            f"The '{field}' field must be string value not longer than {bound}"
        )


def _check_basic(field, typename, value):
    if typename == "boolean":
        assert isinstance(value, bool), f"The '{field}' field must be of type 'bool'"
    elif typename == "octet":
        assert isinstance(value, (bytes, bytearray)) and len(value) == 1, (
            f"The '{field}' field must be of type 'bytes' or 'ByteString' with length 1"
        )
    elif typename in FLOATS:
        limit = FLOATS[typename]
        assert isinstance(value, float), f"The '{field}' field must be of type 'float'"
        assert not abs(value) > limit or value in (float("inf"), float("-inf")), (
            f"The '{field}' field must be a {typename} in [{-limit}, {limit}]"
        )
    else:
        low, high = INTEGERS[typename]
        kind = "an unsigned integer" if low == 0 else "an integer"
        assert isinstance(value, int), f"The '{field}' field must be of type 'int'"
        assert low <= value < high, (
            f"The '{field}' field must be {kind} in [{low}, {high - 1}]"
        )


def _check_several(field, slot_type, value):
    from collections import UserList, UserString
    from collections.abc import Sequence, Set

    from feros import _definition as definition

    size = getattr(slot_type, "size", None)
    bound = getattr(slot_type, "maximum_size", None)
    element = slot_type.value_type
    if isinstance(element, definition.BasicType) and element.typename in TYPECODES:
        if isinstance(value, array.array):
            code = TYPECODES[element.typename]
            assert value.typecode == code, (
                f"The '{field}' array.array() must have the type code of '{code}'"
            )
            assert bound is None or len(value) <= bound, (
                f"The '{field}' array.array() must have a size <= {bound}"
            )
            return
        if hasattr(value, "dtype"):
            dtype = DTYPES.get(element.typename, element.typename)
            assert value.dtype == dtype, (
                f"The '{field}' numpy.ndarray() must have the dtype of 'numpy.{dtype}'"
            )
            assert size is None or value.size == size, (
                f"The '{field}' numpy.ndarray() must have a size of {size}"
            )
            assert bound is None or value.size <= bound, (
                f"The '{field}' numpy.ndarray() must have a size <= {bound}"
            )
            return
    length = f" with length {size}" if size is not None else ""
    if bound is not None:
        length = f" with length <= {bound}"
    names = {"boolean": "bool", "octet": "bytes", "float": "float", "double": "float"}
    if isinstance(element, definition.BasicType):
        name = names.get(element.typename, "int")
    elif isinstance(element, definition.NamespacedType):
        name = element.name
    else:
        name = "str"
    text = f"The '{field}' field must be a set or sequence{length} and each value of type '{name}'"
    assert isinstance(value, (Sequence, Set, UserList)), text
    assert not isinstance(value, (str, UserString)), text
    assert size is None or len(value) == size, text
    assert bound is None or len(value) <= bound, text
    for one in value:
        try:
            _check_type(field, element, one)
        except AssertionError:
            raise AssertionError(text) from None
