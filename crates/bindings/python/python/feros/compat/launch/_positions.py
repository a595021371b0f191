"""The places in the user's files at which objects are made and errors are raised."""

import os
import sys
from types import CodeType, FrameType, TracebackType
from typing import Any, Dict, List, Optional, Tuple

Place = Tuple[CodeType, int, int]
"""The code, the instruction and the line at which an object was made."""

_OURS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), '')
_PACKAGES = tuple(
    os.path.join(_OURS, name, '') for name in
    ('ament_index_python', 'launch', 'launch_ros', 'launch_xml', 'launch_yaml'))
_HOST = os.path.join(os.path.dirname(os.path.dirname(_OURS)), '_launch_host.py')

_LIBRARY = os.path.join(os.path.dirname(os.__file__), '')
_SITE = (os.path.join(_LIBRARY, 'site-packages'), os.path.join(_LIBRARY, 'dist-packages'))

_PACKAGES_OF_MODULES = {'numpy': 'numpy', 'xacro': 'xacro', 'yaml': 'pyyaml'}
"""Packages of PyPI that launch files import, by the names of their modules."""

_MOST_CALLS = 10
_MOST_CHARACTERS = 2000

_ours: Dict[str, bool] = {}
# The hash of code takes as long as the code is, so its address is the key.
_columns: Dict[int, Tuple[CodeType, List[Tuple[Optional[int], ...]]]] = {}
_lines: Dict[str, List[bytes]] = {}


def is_ours(code: CodeType) -> bool:
    """Whether code belongs to these packages or to no file, so that it is left out of errors."""
    name = code.co_filename
    known = _ours.get(name)
    if known is None:
        known = name.startswith('<') or name.startswith(_PACKAGES) or name == _HOST
        _ours[name] = known
    return known


def _is_library(code: CodeType) -> bool:
    """Whether code belongs to Python's library."""
    name = code.co_filename
    return name.startswith(_LIBRARY) and not name.startswith(_SITE)


_methods: Dict[Tuple[type, str], bool] = {}


def is_method_of_ours(cls: type, name: str) -> bool:
    """Whether the user has not replaced a method of a class."""
    known = _methods.get((cls, name))
    if known is None:
        code = getattr(getattr(cls, name), '__code__', None)
        known = code is not None and code.co_filename.startswith(_PACKAGES)
        _methods[cls, name] = known
    return known


def here() -> Optional[Place]:
    """The innermost place outside of these packages."""
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not (_ours.get(code.co_filename) or is_ours(code)):
            return code, frame.f_lasti, frame.f_lineno
        frame = frame.f_back
    return None


class Placed:
    """An object that knows the place at which it was made."""

    _feros_at: Optional[Place]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        object.__setattr__(made, '_feros_at', here())
        return made


def _line_of(path: str, number: int) -> bytes:
    lines = _lines.get(path)
    if lines is None:
        try:
            with open(path, 'rb') as file:
                lines = file.read().split(b'\n')
        except OSError:
            lines = []
        _lines[path] = lines
    return lines[number - 1] if 0 < number <= len(lines) else b''


def in_characters(path: str, line: int, column: int) -> int:
    """The column counted in characters from 1; the compiler counts bytes from 0."""
    before = _line_of(path, line)[:column]
    return 1 + (len(before.decode('utf-8', 'replace')) if before else column)


def position(place: Place) -> Tuple[str, int, int]:
    """The file, the line and the column of a place. Before CPython 3.11 the column is always 1."""
    code, instruction, line = place
    path = code.co_filename
    if not hasattr(code, 'co_positions'):
        return path, line, 1
    if id(code) not in _columns:
        _columns[id(code)] = code, list(code.co_positions())
    positions = _columns[id(code)][1]
    index = instruction // 2
    start, _, column, _ = positions[index] if index < len(positions) else (None,) * 4
    if start is None or column is None:
        return path, line, 1
    return path, start, in_characters(path, start, column)


def _places(traceback: Optional[TracebackType]) -> List[Tuple[Place, str]]:
    """The places outside of these packages on the way to an error, outermost first."""
    found = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_ours(code) and not _is_library(code):
            found.append(((code, traceback.tb_lasti, traceback.tb_lineno), code.co_name))
        traceback = traceback.tb_next
    return found


def failure(error: BaseException) -> Dict[str, Any]:
    """An exception as the command reports it: its text, its position, and the calls before it."""
    places = _places(error.__traceback__)
    at: Optional[Tuple[str, int, int]] = None
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        at = error.filename, error.lineno, max(error.offset or 1, 1)
    elif places:
        at = position(places.pop()[0])
    else:
        at = getattr(error, '_feros_position', None)
    calls = [[*position(place)[:2], name] for place, name in reversed(places)]
    return {'error': text_of(error), 'at': at, 'calls': calls[:_MOST_CALLS]}


def text_of(error: BaseException) -> str:
    """The type of an exception with its text, as the last line of a traceback has it."""
    text = _text_of(error)
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS - 1] + '…'


def _text_of(error: BaseException) -> str:
    if getattr(error, '_feros_is_whole', False):
        return str(error.args[0])
    name = type(error).__qualname__
    if isinstance(error, SystemExit):
        code = '' if error.code is None else f' {error.code}'
        return f'{name}:{code} (a launch file returns its LaunchDescription, and does not exit)'
    if type(error).__module__ not in ('builtins', '__main__', 'python_launch_file'):
        name = f'{type(error).__module__}.{name}'
    try:
        if isinstance(error, SyntaxError):
            text = str(error.msg)
        elif isinstance(error, KeyError) and type(error) is not KeyError and len(error.args) == 1:
            text = str(error.args[0])  # a KeyError shows the repr of its text
        else:
            text = str(error)
    except Exception as second:
        text = f'(its text raises {type(second).__qualname__})'
    return f'{name}: {text}{_cure(error)}' if text else name


def _cure(error: BaseException) -> str:
    """What to do about a module that is missing, if it is known."""
    module = error.name if isinstance(error, ModuleNotFoundError) else None
    package = _PACKAGES_OF_MODULES.get((module or '').partition('.')[0])
    return f' (run `{sys.executable} -m pip install {package}`)' if package else ''
