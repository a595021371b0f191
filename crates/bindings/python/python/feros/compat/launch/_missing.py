"""The errors for names and keywords that these packages lack."""

import sys
from typing import Any, Callable, Dict, Iterable, Mapping

KEYWORDS = {
    'node_executable': 'stock ROS 2 dropped it in Galactic: write `executable`',
    'node_name': 'stock ROS 2 dropped it in Galactic: write `name`',
    'node_namespace': 'stock ROS 2 dropped it in Galactic: write `namespace`',
    'node_package': 'write `package`',
    'node_plugin': 'stock ROS 2 dropped it in Galactic: write `plugin`',
    'remaps': 'write `remappings`',
    'remap': 'write `remappings`',
    'params': 'write `parameters`',
    'args': 'write `arguments`',
    'pkg': 'write `package`',
    'exec': 'write `executable`',
    'type': 'write `executable`',
    'ns': 'write `namespace`',
    'default': 'write `default_value`',
    'value': 'write `default_value`, or use `SetLaunchConfiguration`',
    'required': 'write `on_exit=Shutdown()`',
    'env_vars': 'write `additional_env`',
    'composable_node': 'write `composable_node_descriptions`',
}
"""Keywords of earlier releases, of XML files and of ROS 1, with what to write instead."""


def close_to(name: str, known: Iterable[str]) -> str:
    """Returns a suggestion, or nothing."""
    import difflib

    found = difflib.get_close_matches(name, sorted(known), 1)
    return f'; did you mean `{found[0]}`?' if found else ''


def _is_import() -> bool:
    """Whether the statement `from module import name` asks a module's `__getattr__`."""
    import opcode

    frame = sys._getframe(2)
    while frame.f_code.co_name == '__getattr__' and frame.f_back is not None:
        frame = frame.f_back
    return bool(frame.f_code.co_code[frame.f_lasti] == opcode.opmap['IMPORT_FROM'])


def absent(
    module: str,
    names: Dict[str, Any],
    cures: Mapping[str, str] = {},
) -> Callable[[str], Any]:
    """Makes the `__getattr__` of a module, which says what to do about a name that is missing.

    `names` are the globals of the module, `cures` the names of stock ROS 2 that Feros lacks.
    """
    def __getattr__(name: str) -> Any:
        text = f'`{module}` has no `{name}`'
        if name in cures:
            text = f'{text}: {cures[name]}'
        elif not name.startswith('__'):
            text += close_to(name, (known for known in names if not known.startswith('_')))
        # The statement replaces an AttributeError with an error without this text.
        if not name.startswith('__') and _is_import():
            raise ImportError(text, name=module)
        raise AttributeError(text)

    return __getattr__


def refuse_keywords(made: Any, unknown: Mapping[str, Any]) -> None:
    """Raises `TypeError` if there are keywords which no class of an object takes."""
    if not unknown:
        return
    import inspect

    from ._positions import is_ours

    # The user's own classes pass on what they do not know.
    inits = {cls: vars(cls).get('__init__') for cls in type(made).__mro__}
    ours = next(
        (cls for cls, init in inits.items()
         if inspect.isfunction(init) and is_ours(init.__code__)), type(made))
    known = {
        name for cls in ours.__mro__ for init in [inits[cls]] if inspect.isfunction(init)
        for name, one in inspect.signature(init).parameters.items()
        if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL) and name != 'self'
    }
    name = next(iter(unknown))
    cure = KEYWORDS.get(name)
    reason = f' ({cure})' if cure else close_to(name, known)
    raise TypeError(f'`{ours.__name__}` takes no `{name}`{reason}')


def lacking(made: Any, name: str, given: Mapping[str, Any]) -> TypeError:
    """The error of a keyword that is required; it may be given under an earlier name."""
    for old in given:
        if f'`{name}`' in KEYWORDS.get(old, ''):
            return TypeError(f'`{type(made).__name__}` takes no `{old}` ({KEYWORDS[old]})')
        if close_to(old, [name]):
            return TypeError(f'`{type(made).__name__}` takes no `{old}`{close_to(old, [name])}')
    return TypeError(f'`{type(made).__name__}` lacks `{name}`')
