"""A node that a container loads."""

from typing import Any, Dict, List, Optional

from launch import _wire
from launch._missing import lacking, refuse_keywords
from launch._positions import Placed
from launch._text import normalize_to_list_of_substitutions, optional
from launch.condition import Condition
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitution import Substitution

from .._parameters import normalize_parameters, normalize_remap_rules, sources_data
from ..parameters_type import SomeParameters
from ..remap_rule_type import SomeRemapRules


class ComposableNode(Placed):
    """A node that a container loads."""

    def __init__(
        self,
        *,
        package: Optional[SomeSubstitutionsType] = None,
        plugin: Optional[SomeSubstitutionsType] = None,
        name: Optional[SomeSubstitutionsType] = None,
        namespace: Optional[SomeSubstitutionsType] = None,
        parameters: Optional[SomeParameters] = None,
        remappings: Optional[SomeRemapRules] = None,
        extra_arguments: Optional[SomeParameters] = None,
        condition: Optional[Condition] = None,
        **unknown: Any,
    ) -> None:
        if plugin is None:
            raise lacking(self, 'plugin', unknown)
        if package is None:
            raise lacking(self, 'package', unknown)
        refuse_keywords(self, unknown)
        self.__package = normalize_to_list_of_substitutions(package)
        self.__plugin = normalize_to_list_of_substitutions(plugin)
        self.__name = optional(name)
        self.__namespace = optional(namespace)
        self.__parameters = None if parameters is None else normalize_parameters(parameters)
        self.__remappings = None if remappings is None else normalize_remap_rules(remappings)
        self.__extra_arguments = (
            None if extra_arguments is None else normalize_parameters(extra_arguments))
        self.__condition = condition

    @property
    def package(self) -> List[Substitution]:
        """The package."""
        return self.__package

    @property
    def node_plugin(self) -> List[Substitution]:
        """The name of the component."""
        return self.__plugin

    @property
    def node_name(self) -> Optional[List[Substitution]]:
        """The name of the node."""
        return self.__name

    @property
    def node_namespace(self) -> Optional[List[Substitution]]:
        """The namespace of the node."""
        return self.__namespace

    @property
    def parameters(self) -> Any:
        """The sources of parameters."""
        return self.__parameters

    @property
    def remappings(self) -> Any:
        """The remappings."""
        return self.__remappings

    @property
    def extra_arguments(self) -> Any:
        """The arguments for the container."""
        return self.__extra_arguments

    def condition(self) -> Optional[Condition]:
        """The condition on which the node is loaded."""
        return self.__condition

    def _feros_data(self) -> Dict[str, Any]:
        remappings = self.__remappings
        return _wire.present({
            'at': _wire.at(self),
            'if': _wire.condition(self.__condition),
            'package': _wire.template(self.__package),
            'plugin': _wire.template(self.__plugin),
            'name': _wire.optional(self.__name),
            'namespace': _wire.optional(self.__namespace),
            'parameters': sources_data(self.__parameters),
            'remappings': None if remappings is None else _wire.pairs(remappings),
            'extra_arguments': sources_data(self.__extra_arguments),
        })


def checked(descriptions: Any, name: str) -> List[ComposableNode]:
    """Returns a list of nodes.

    Raises `TypeError` if `descriptions` is no such list.
    """
    if isinstance(descriptions, ComposableNode) or not hasattr(descriptions, '__iter__'):
        raise TypeError(f'`composable_node_descriptions` of `{name}` is {descriptions!r:.80}:'
                        ' expected a list of ComposableNode')
    found = list(descriptions)
    for one in found:
        if not isinstance(one, ComposableNode):
            raise TypeError(f'`composable_node_descriptions` of `{name}` has {one!r:.80}: expected'
                            ' a ComposableNode')
    return found
