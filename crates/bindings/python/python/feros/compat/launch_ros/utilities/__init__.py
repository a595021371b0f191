"""Functions that packages with their own actions use."""

from launch._missing import absent
from launch._modules import provide

from .._parameters import (
    normalize_parameter_dict,
    normalize_parameters,
    normalize_remap_rule,
    normalize_remap_rules,
)
from ._namespaces import (
    is_namespace_absolute,
    is_root_namespace,
    make_namespace_absolute,
    prefix_namespace,
)
from ._parameters import evaluate_parameter_dict, evaluate_parameters

evaluate_parameters_dict = evaluate_parameter_dict
normalize_parameters_dict = normalize_parameter_dict

__all__ = [
    'evaluate_parameters', 'evaluate_parameters_dict', 'is_namespace_absolute',
    'is_root_namespace', 'make_namespace_absolute', 'normalize_parameters',
    'normalize_parameters_dict', 'normalize_remap_rule', 'normalize_remap_rules',
    'prefix_namespace',
]

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
