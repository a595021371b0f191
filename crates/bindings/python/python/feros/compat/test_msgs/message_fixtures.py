"""Messages of `test_msgs` with values at the limits of their types, as in stock's tests."""

from typing import Any, Callable, Dict, List, Tuple

from test_msgs import msg


def int_from_uint(value: int, nbits: int) -> int:
    """Returns the signed number that consists of the lowest bits of a value."""
    value %= 1 << nbits
    return value - (1 << nbits) if value >> (nbits - 1) else value


def _columns() -> Dict[str, Tuple[Any, ...]]:
    """Returns the values for each type: zero, the maximum, the minimum, and one."""
    columns: Dict[str, Tuple[Any, ...]] = {
        'bool': (False, True, False, True),
        'byte': (b'\0', b'\xff', b'\0', b'\1'),
        'char': (0, 255, 0, 1),
        'float32': (0.0, 1.125, -2.125, 1.0),
        'float64': (0.0, 1.125, -2.125, 1.0),
    }
    for bits in (8, 16, 32, 64):
        half = 1 << (bits - 1)
        columns[f'int{bits}'] = (0, half - 1, -half, 1)
        columns[f'uint{bits}'] = (0, 2 * half - 1, 0, 1)
    return columns


_COLUMNS = _columns()
_TEXTS = ['', 'max value', 'optional min value']


def _with(cls: Any, **values: Any) -> Any:
    message = cls()
    for name, value in values.items():
        setattr(message, name, value)
    return message


def _numbers(
    choose: Callable[[str, Tuple[Any, ...]], Any], suffix: str = 'values'
) -> Dict[str, Any]:
    """Returns the values of the fields of all basic types."""
    return {f'{kind}_{suffix}': choose(kind, column) for kind, column in _COLUMNS.items()}


def _has_sign(kind: str) -> bool:
    return kind.startswith(('int', 'float'))


def _of_thousand(kind: str, column: Tuple[Any, ...]) -> List[Any]:
    if kind == 'bool':
        return [number % 2 != 0 for number in range(1000)]
    if kind == 'byte':
        return [bytes([number % 256]) for number in range(1000)]
    if kind.startswith('float'):
        return [1.125 * number for number in range(1000)]
    bits = 8 if kind == 'char' else int(kind.partition('int')[2])
    if _has_sign(kind):
        return [int_from_uint(number, bits) for number in range(1000)]
    return [number % (1 << bits) for number in range(1000)]


def _rows(count: int) -> List[Any]:
    rows = get_msg_basic_types()
    return [rows[number % len(rows)] for number in range(count)]


def get_msg_builtins() -> List[Any]:
    """Returns a message with negative times."""
    message = msg.Builtins()
    message.duration_value.sec, message.duration_value.nanosec = -1234567890, 123456789
    message.time_value.sec, message.time_value.nanosec = -1234567890, 987654321
    return [message]


def get_msg_empty() -> List[Any]:
    """Returns an empty message."""
    return [msg.Empty()]


def get_msg_basic_types() -> List[Any]:
    """Returns messages with zeros, maxima, minima and ones."""
    return [
        _with(msg.BasicTypes, **_numbers(lambda _, column: column[row], 'value'))
        for row in range(4)
    ]


def get_msg_constants() -> List[Any]:
    """Returns a message type with constants but no fields."""
    return [msg.Constants()]


def get_msg_defaults() -> List[Any]:
    """Returns a message with its defaults."""
    return [msg.Defaults()]


def get_msg_strings() -> List[Any]:
    """Returns messages with empty, ASCII, non-ASCII and long strings."""
    digits = '0123456789'
    texts = [(text, text) for text in ('', 'Hello world!', 'Hellö Wörld!')]
    texts.append((digits * 2000, (digits * 3)[:22]))
    return [
        _with(msg.Strings, string_value=text, bounded_string_value=bounded)
        for text, bounded in texts
    ]


def get_msg_nested() -> List[Any]:
    """Returns messages that each contain a nested message of basic types."""
    return [_with(msg.Nested, basic_types_value=row) for row in get_msg_basic_types()]


def get_msg_arrays() -> List[Any]:
    """Returns a message whose arrays have three elements."""
    numbers = _numbers(lambda _, column: list(column[:3]))
    texts = ['', 'max value', 'min value']
    return [_with(msg.Arrays, string_values=texts, basic_types_values=_rows(3), **numbers)]


def get_msg_unbounded_sequences() -> List[Any]:
    """Returns messages whose sequences are empty, have one, a few or a thousand elements, or have
    their defaults."""
    cls = msg.UnboundedSequences
    empty, one = _numbers(lambda *_: []), _numbers(lambda _, column: [column[1]])
    some = _numbers(lambda kind, column: list(column[:3 if _has_sign(kind) else 2]))
    thousand = _numbers(_of_thousand)
    texts: List[List[str]] = [[], ['max value'], _TEXTS, [str(number) for number in range(1000)]]
    return [
        _with(cls, string_values=text, basic_types_values=_rows(count), alignment_check=check,
              **numbers)
        for check, (text, count, numbers)
        in enumerate(zip(texts, (0, 1, 3, 1000), (empty, one, some, thousand)))
    ] + [_with(cls, alignment_check=4)]


def _bounded(cls: Any, **more: Any) -> List[Any]:
    def choose(kind: str, column: Tuple[Any, ...]) -> List[Any]:
        zero, most, least, one = column
        return [zero, most, least] if kind == 'bool' or _has_sign(kind) else [zero, one, most]

    full = _with(cls, basic_types_values=_rows(3), alignment_check=2, **_numbers(choose), **more)
    return [full, _with(cls, alignment_check=4)]


def get_msg_bounded_sequences() -> List[Any]:
    """Returns a message whose sequences have three elements, and a message with the defaults."""
    return _bounded(msg.BoundedSequences, string_values=_TEXTS)


def get_msg_bounded_plain_sequences() -> List[Any]:
    """Returns the messages of `get_msg_bounded_sequences`, without strings."""
    return _bounded(msg.BoundedPlainSequences)


def get_msg_multi_nested() -> List[Any]:
    """Returns a message whose arrays and sequences each hold three of the messages above."""
    message = msg.MultiNested()
    for inner, found in (
        ('arrays', get_msg_arrays()),
        ('bounded_sequences', get_msg_bounded_sequences()),
        ('unbounded_sequences', get_msg_unbounded_sequences()),
    ):
        for outer in ('array', 'bounded_sequence', 'unbounded_sequence'):
            three = [found[number % len(found)] for number in range(3)]
            setattr(message, f'{outer}_of_{inner}', three)
    return [message]


def get_msg_wstrings() -> List[Any]:
    """Returns messages with UTF-16 strings."""
    first = _with(
        msg.WStrings, array_of_wstrings=['1', 'two', '三'],
        bounded_sequence_of_wstrings=['one', '二'],
        unbounded_sequence_of_wstrings=['.', '..', '...', '四'])
    texts = ('ascii', 'Hellö Wörld!', 'ハローワールド')
    return [first, *(_with(msg.WStrings, wstring_value=text) for text in texts)]


def get_msg_keyed_long() -> List[Any]:
    """Returns two messages with different keys."""
    return [_with(msg.KeyedLong, key=number, value=number) for number in (1, 2)]


def get_msg_keyed_string() -> List[Any]:
    """Returns two messages with different keys."""
    return [
        _with(msg.KeyedString, key=f'key_{number}', value=f'value_{number}') for number in (1, 2)
    ]


def get_msg_non_keyed_with_nested_key() -> List[Any]:
    """Returns two messages whose nested messages have different keys."""
    return [
        _with(msg.NonKeyedWithNestedKey, nested_data=keyed, some_int=-1)
        for keyed in get_msg_keyed_string()
    ]


def get_msg_complex_nested_key() -> List[Any]:
    """Returns two messages whose nested messages hold nested messages with different keys."""
    return [
        _with(msg.ComplexNestedKey, nested_keys=nested, uint32_key=3, float64_value=1.125)
        for nested in get_msg_non_keyed_with_nested_key()
    ]


_BY_NAME: Dict[str, Callable[[], List[Any]]] = {
    'Builtins': get_msg_builtins, 'Empty': get_msg_empty, 'BasicTypes': get_msg_basic_types,
    'Constants': get_msg_constants, 'Defaults': get_msg_defaults, 'Strings': get_msg_strings,
    'Nested': get_msg_nested, 'Arrays': get_msg_arrays,
    'BoundedPlainSequences': get_msg_bounded_plain_sequences,
    'BoundedSequences': get_msg_bounded_sequences,
    'UnboundedSequences': get_msg_unbounded_sequences, 'MultiNested': get_msg_multi_nested,
    'WStrings': get_msg_wstrings, 'KeyedLong': get_msg_keyed_long,
    'KeyedString': get_msg_keyed_string,
    'NonKeyedWithNestedKey': get_msg_non_keyed_with_nested_key,
    'ComplexNestedKey': get_msg_complex_nested_key,
}


def get_test_msg(message_name: str) -> List[Any]:
    """Returns the messages of a type by its name; raises `NotImplementedError` for an unknown
    name."""
    if message_name not in _BY_NAME:
        raise NotImplementedError(message_name)
    return _BY_NAME[message_name]()
