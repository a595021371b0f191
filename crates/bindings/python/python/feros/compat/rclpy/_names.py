"""The rules for names of topics, services, nodes and namespaces, with the error texts of rmw."""

import re
from typing import Optional, Tuple

Wrong = Optional[Tuple[str, int]]

_LONGEST_TOPIC = 255 - 8  # the limit of DDS, without the prefix
_UNBALANCED = "topic name must not have unmatched (unbalanced) curly braces '{}'"


def _first_digit(name: str) -> Optional[int]:
    found = re.search(r'(?:^|/|\{)[0-9]', name)
    return None if found is None else found.end() - 1


def full_name(name: str, what: str) -> Wrong:
    """Returns the error in the absolute name of a topic or service, and the position of the
    error."""
    wrong = _absolute_name(name, what, f"{what} must not end with a '/'")
    if wrong is None and len(name) > _LONGEST_TOPIC:
        return "topic length should not exceed '255U - 8U'", _LONGEST_TOPIC - 1
    return wrong


def namespace(name: str) -> Wrong:
    """Returns the error in a namespace, and the position of the error."""
    if name == '/':
        return None
    wrong = _absolute_name(
        name, 'namespace', "namespace must not end with a '/', unless only a '/'")
    if wrong is None and len(name) > _LONGEST_TOPIC - 2:  # leaves room for the shortest topic name
        return "namespace should not exceed 'RMW_NAMESPACE_MAX_NAME_LENGTH'", _LONGEST_TOPIC - 3
    return wrong


def _absolute_name(name: str, what: str, slash_at_end: str) -> Wrong:
    if not name:
        return f'{what} must not be empty', 0
    if not name.startswith('/'):
        return f"{what} must be absolute, it must lead with a '/'", 0
    if name.endswith('/'):
        return slash_at_end, len(name) - 1
    wrong = re.search(r'[^a-zA-Z0-9_/]', name)
    if wrong is not None:
        allowed = "alphanumerics, '_', or '/'"
        return f'{what} must not contain characters other than {allowed}', wrong.start()
    repeated = name.find('//')
    if repeated >= 0:
        return f"{what} must not contain repeated '/'", repeated + 1
    digit = _first_digit(name)
    if digit is not None:
        return f'{what} must not have a token that starts with a number', digit
    return None


def node_name(name: str) -> Wrong:
    """Returns the error in the name of a node, and the position of the error."""
    if not name:
        return 'node name must not be empty', 0
    wrong = re.search(r'[^a-zA-Z0-9_]', name)
    if wrong is not None:
        return "node name must not contain characters other than alphanumerics or '_'", (
            wrong.start())
    if name[0].isdigit():
        return 'node name must not start with a number', 0
    if len(name) > 255:
        return 'node name length should not exceed \'255\'', 254
    return None


def topic_name(name: str) -> Wrong:
    """Returns the error in a name, which may be relative and contain substitutions, and the
    position of the error."""
    if not name:
        return 'topic name must not be empty string', 0
    if name.endswith('/'):
        return 'topic name must not end with a forward slash', len(name) - 1
    if name[0].isdigit():
        return 'topic name token must not start with a number', 0
    depth = 0
    for index, letter in enumerate(name):
        if letter == '{':
            if depth:
                return 'substitution name must not contain characters other than' \
                    " alphanumerics or '_'", index
            depth, opened = 1, index
        elif letter == '}':
            if not depth:
                return _UNBALANCED, index
            depth = 0
        elif letter == '~':
            if index:
                return "topic name must not have tilde '~' unless it is the first character", index
        elif not re.match('[a-zA-Z0-9_/]', letter):
            return "topic name must not contain characters other than alphanumerics, '_', '~'," \
                " '{', or '}'", index
        elif depth and letter == '/':
            return "substitution name must not contain characters other than alphanumerics" \
                " or '_'", index
    if depth:
        return _UNBALANCED, opened
    digit = _first_digit(name)
    if digit is not None and name[digit - 1] == '{':
        return 'substitution name must not start with a number', digit
    if digit is not None:
        return 'topic name token must not start with a number', digit
    return None
