"""Conditions of actions."""

from .._missing import absent
from .._modules import provide
from ._classes import (
    IfCondition,
    InvalidConditionExpressionError,
    LaunchConfigurationEquals,
    LaunchConfigurationNotEquals,
    UnlessCondition,
    evaluate_condition_expression,
)

__all__ = [
    'IfCondition', 'InvalidConditionExpressionError', 'LaunchConfigurationEquals',
    'LaunchConfigurationNotEquals', 'UnlessCondition', 'evaluate_condition_expression',
]

provide(__name__, globals(), {
    'evaluate_condition_expression_impl': 'evaluate_condition_expression',
    'if_condition': 'IfCondition',
    'invalid_condition_expression_error': 'InvalidConditionExpressionError',
    'launch_configuration_equals': 'LaunchConfigurationEquals',
    'launch_configuration_not_equals': 'LaunchConfigurationNotEquals',
    'unless_condition': 'UnlessCondition',
})

_OR = 'write IfCondition({}Substitution(first, second)), or IfCondition(PythonExpression([...]))'
__getattr__ = absent(__name__, globals(), {
    'AndCondition': _OR.format('And'),
    'OrCondition': _OR.format('Or'),
    'NotCondition': 'write UnlessCondition(...)',
})
