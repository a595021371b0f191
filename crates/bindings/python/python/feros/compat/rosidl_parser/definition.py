"""The types of fields, with the names of stock `rosidl_parser.definition`."""

from feros._definition import (
    AbstractGenericString,
    AbstractNestableType,
    AbstractNestedType,
    AbstractSequence,
    AbstractString,
    AbstractType,
    AbstractWString,
    Array,
    BasicType,
    BoundedSequence,
    BoundedString,
    BoundedWString,
    NamespacedType,
    UnboundedSequence,
    UnboundedString,
    UnboundedWString,
)

__all__ = [
    'AbstractGenericString', 'AbstractNestableType', 'AbstractNestedType', 'AbstractSequence',
    'AbstractString', 'AbstractType', 'AbstractWString', 'Array', 'BASIC_TYPES', 'BOOLEAN_TYPE',
    'BasicType', 'BoundedSequence', 'BoundedString', 'BoundedWString', 'CHARACTER_TYPES',
    'FLOATING_POINT_TYPES', 'INTEGER_TYPES', 'NamespacedType', 'OCTET_TYPE',
    'SIGNED_INTEGER_TYPES', 'UNSIGNED_INTEGER_TYPES', 'UnboundedSequence', 'UnboundedString',
    'UnboundedWString',
]

SIGNED_INTEGER_TYPES = ('int8', 'int16', 'int32', 'int64')
UNSIGNED_INTEGER_TYPES = ('uint8', 'uint16', 'uint32', 'uint64')
INTEGER_TYPES = SIGNED_INTEGER_TYPES + UNSIGNED_INTEGER_TYPES
FLOATING_POINT_TYPES = ('float', 'double', 'long double')
CHARACTER_TYPES = ('char', 'wchar')
BOOLEAN_TYPE = 'boolean'
OCTET_TYPE = 'octet'
BASIC_TYPES = (*INTEGER_TYPES, *FLOATING_POINT_TYPES, *CHARACTER_TYPES, BOOLEAN_TYPE, OCTET_TYPE)
