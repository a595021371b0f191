"""Values of parameters in a context."""

from typing import Any, Dict, List, Text

from launch._text import perform_substitutions
from launch.utilities.type_utils import evaluated

from .._parameters import value_data
from ..parameter_descriptions import Parameter, ParameterFile


def evaluate_parameter_dict(context: Any, parameters: Dict[Any, Any]) -> Dict[Text, Any]:
    """Returns the names and values of normalized parameters."""
    return {
        perform_substitutions(context, list(name)): evaluated(context, value_data(value))
        for name, value in parameters.items()}


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
