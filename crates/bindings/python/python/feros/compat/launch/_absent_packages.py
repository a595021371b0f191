"""Finds packages and modules that a launch file names by constants and that are not installed.

Code ends at the first of them, so the user would hear of one at a time.
"""

import ast
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Dict, Iterator, Optional, Tuple

from . import _link
from ._positions import in_characters, is_ours, text_of

_FUNCTIONS = {
    'get_package_prefix', 'get_package_share_directory', 'get_package_share_path',
    'FindPackagePrefix', 'FindPackageShare',
}
_NODES = {'Node', 'LifecycleNode', 'ComposableNodeContainer'}
_UNCERTAIN = (ast.Try, ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.While, ast.Lambda)
"""Code that may not run, or that may handle an error."""
_MOST_ERRORS = 100

_Place = Tuple[int, int]


def _constant(value: Any) -> Optional[str]:
    """The text of a constant."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    return None


def _keywords(call: ast.Call) -> Dict[Optional[str], ast.expr]:
    return {keyword.arg: keyword.value for keyword in call.keywords}


def _name(call: ast.AST) -> Optional[str]:
    """The name of the called function, without its module."""
    function = getattr(call, 'func', None)
    name: Optional[str] = getattr(function, 'id', getattr(function, 'attr', None))
    return name


def _certain(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes in a tree that run, as far as that can be seen."""
    for inner in ast.iter_child_nodes(node):
        suppresses = isinstance(inner, ast.With) and any(
            _name(item.context_expr) == 'suppress' for item in inner.items)
        depends = isinstance(inner, ast.Call) and 'condition' in _keywords(inner)
        if not (suppresses or depends or isinstance(inner, _UNCERTAIN)):
            yield inner
            yield from _certain(inner)


def _question(call: ast.Call) -> Optional[Dict[str, str]]:
    """The question whether the command has the package that a call names by a constant."""
    name, keywords = _name(call), _keywords(call)
    if name in _FUNCTIONS:
        first = call.args[0] if call.args else None
        given = first or keywords.get('package_name') or keywords.get('package')
        package = _constant(given)
        return None if package is None else {'ask': 'share', 'package': package}
    if name not in _NODES:
        return None
    package, executable = (_constant(keywords.get(key)) for key in ('package', 'executable'))
    if package is None or executable is None:
        return None
    return {'ask': 'program', 'package': package, 'executable': executable}


def _function(tree: ast.AST, name: str, line: int) -> Optional[ast.AST]:
    """The innermost function of this name with this line; there is no such function for a lambda."""
    found = [
        node for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name
        and node.lineno <= line <= (node.end_lineno or node.lineno)]
    return max(found, key=lambda node: node.lineno, default=None)


def _caller(traceback: Optional[TracebackType]) -> Optional[Tuple[str, str, int]]:
    """The user's function that was called first: its file, its name and the line in it."""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_ours(code):
            return code.co_filename, code.co_name, traceback.tb_lineno
        traceback = traceback.tb_next
    return None


def _parsed(path: str, function: Optional[Tuple[str, int]]) -> Optional[ast.AST]:
    """A file, or a function in it."""
    try:
        with open(path, 'rb') as file:
            tree: ast.AST = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    return tree if function is None else _function(tree, *function)


def _absent_packages(tree: ast.AST) -> Iterator[Tuple[_Place, str]]:
    """The errors of the packages that calls name, each at its first place."""
    found: Dict[Tuple[str, ...], Tuple[_Place, Dict[str, str]]] = {}
    for call in _certain(tree):
        question = _question(call) if isinstance(call, ast.Call) else None
        if question is not None and isinstance(call, ast.Call):
            place = call.lineno, call.col_offset
            known = found.setdefault(tuple(question.values()), (place, question))
            found[tuple(question.values())] = min(place, known[0]), question
    for place, question in found.values():
        try:
            _link.ask(question)
        except LookupError as error:
            yield place, str(error.args[0])


def _imports(tree: ast.AST) -> Iterator[Tuple[_Place, str]]:
    """The packages of the imported modules."""
    for node in _certain(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (node.lineno, node.col_offset), alias.name.partition('.')[0]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield (node.lineno, node.col_offset), node.module.partition('.')[0]


def _absent_modules(tree: ast.AST) -> Iterator[Tuple[_Place, str]]:
    """The errors of the modules that a file imports."""
    for place, name in _imports(tree):
        try:
            is_absent = find_spec(name) is None
        except (ImportError, ValueError):
            continue
        if is_absent:
            yield place, text_of(ModuleNotFoundError(f"No module named '{name}'", name=name))


def other_errors(path: Optional[str], error: BaseException) -> Iterator[Dict[str, Any]]:
    """Yields the errors of packages and modules that are missing, without the error that was raised.

    The file at the path is searched, or else the function whose call raised the error.
    """
    function = None
    if path is None:
        caller = _caller(error.__traceback__)
        if caller is None:
            return
        path, function = caller[0], caller[1:]
    tree = _parsed(path, function)
    if tree is None:
        return
    told = {text_of(error)}
    for (line, column), text in sorted([*_absent_packages(tree), *_absent_modules(tree)]):
        if text not in told and len(told) <= _MOST_ERRORS:
            told.add(text)
            yield {'at': [path, line, in_characters(path, line, column)], 'error': text}
