"""Functions that packages with their own actions and substitutions use."""

from .._missing import absent
from .._modules import provide
from .._text import normalize_to_list_of_substitutions, perform_substitutions
from . import type_utils
from ._classes import ensure_argument_type, is_a, is_a_subclass, isclassinstance
from ._entities import normalize_to_list_of_entities

__all__ = [
    'ensure_argument_type', 'is_a', 'is_a_subclass', 'isclassinstance',
    'normalize_to_list_of_entities', 'normalize_to_list_of_substitutions',
    'perform_substitutions', 'type_utils',
]

provide(__name__, globals(), {
    'class_tools_impl': 'is_a is_a_subclass isclassinstance',
    'ensure_argument_type_impl': 'ensure_argument_type',
    'normalize_to_list_of_entities_impl': 'normalize_to_list_of_entities',
    'normalize_to_list_of_substitutions_impl': 'normalize_to_list_of_substitutions',
    'perform_substitutions_impl': 'perform_substitutions',
})

_LOOP = 'it has no event loop of asyncio; return the entities instead'
__getattr__ = absent(__name__, globals(), {
    'visit_all_entities_and_collect_futures': _LOOP,
    'create_future': _LOOP,
    'create_futures_list': _LOOP,
    'AsyncSafeSignalManager': '`feros launch` takes the signals itself; write `OnShutdown`',
})
