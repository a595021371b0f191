"""Functions that packages with their own actions use."""

from typing import Any, Dict, List, Optional, Text

from launch._missing import absent
from launch._modules import provide
from launch._text import perform_substitutions
from launch.utilities.type_utils import evaluated

from .._parameters import (
    normalize_parameter_dict,
    normalize_parameters,
    normalize_remap_rule,
    normalize_remap_rules,
    value_data,
)
from ..parameter_descriptions import Parameter, ParameterFile

__all__ = [
    'evaluate_parameters', 'evaluate_parameters_dict', 'is_namespace_absolute',
    'is_root_namespace', 'make_namespace_absolute', 'normalize_parameters',
    'normalize_parameters_dict', 'normalize_remap_rule', 'normalize_remap_rules',
    'prefix_namespace',
]

normalize_parameters_dict = normalize_parameter_dict


def evaluate_parameter_dict(context: Any, parameters: Dict[Any, Any]) -> Dict[Text, Any]:
    """Returns the names and values of normalized parameters."""
    return {
        perform_substitutions(context, list(name)): evaluated(context, value_data(value))
        for name, value in parameters.items()}


evaluate_parameters_dict = evaluate_parameter_dict


def evaluate_parameters(context: Any, parameters: Any) -> Any:
    """Returns the values and paths of normalized sources of parameters."""
    found: List[Any] = []
    for source in parameters:
        if isinstance(source, ParameterFile):
            found.append(source.evaluate(context))
        elif isinstance(source, Parameter):
            found.append(source)
        else:
            found.append(evaluate_parameter_dict(context, source))
    return tuple(found)


def is_root_namespace(ns: Text) -> bool:
    """Returns whether a namespace is `/`."""
    return ns == '/'


def is_namespace_absolute(ns: Text) -> bool:
    """Returns whether a namespace begins with `/`."""
    return ns.startswith('/')


def prefix_namespace(base_ns: Optional[Text], ns: Optional[Text]) -> Optional[Text]:
    """Returns a namespace within another one; an absolute namespace stays as it is."""
    if ns is None or ns == '':
        return base_ns
    if base_ns is None or is_namespace_absolute(ns):
        return ns if is_root_namespace(ns) else ns.rstrip('/')
    return f"{base_ns.rstrip('/')}/{ns}".rstrip('/')


def make_namespace_absolute(ns: Optional[Text]) -> Optional[Text]:
    """Returns a namespace that begins with `/`."""
    return ns if ns is None or is_namespace_absolute(ns) else f'/{ns}'


provide(__name__, globals(), {
    'evaluate_parameters': 'evaluate_parameter_dict evaluate_parameters',
    'namespace_utils':
        'is_namespace_absolute is_root_namespace make_namespace_absolute prefix_namespace',
    'normalize_parameters': 'normalize_parameter_dict normalize_parameters',
    'normalize_remap_rule': 'normalize_remap_rule normalize_remap_rules',
})

_COMMAND = '`feros launch` does that itself, and warns about names that are used twice'
__getattr__ = absent(__name__, globals(), {
    'add_node_name': _COMMAND,
    'get_node_name_count': _COMMAND,
    'to_parameters_list': 'hand the parameters on in the `parameters` of a node',
})
