"""The action that starts a node."""

from typing import Any, Dict, Iterable, List, Optional, Text

from launch import _wire
from launch._missing import lacking
from launch._text import TextSubstitution, normalize_to_list_of_substitutions, optional
from launch.actions import ExecuteProcess
from launch.descriptions._executable import words
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitution import Substitution

from .._parameters import normalize_parameters, normalize_remap_rules, sources_data
from ..parameters_type import SomeParameters
from ..remap_rule_type import SomeRemapRules
from ..substitutions import ExecutableInPackage


class Node(ExecuteProcess):
    """Starts a node of a package."""

    UNSPECIFIED_NODE_NAME = '<node_name_unspecified>'
    UNSPECIFIED_NODE_NAMESPACE = '<node_namespace_unspecified>'

    _FEROS_DO = 'node'

    def __init__(
        self,
        *,
        executable: Optional[SomeSubstitutionsType] = None,
        package: Optional[SomeSubstitutionsType] = None,
        name: Optional[SomeSubstitutionsType] = None,
        namespace: Optional[SomeSubstitutionsType] = None,
        exec_name: Optional[SomeSubstitutionsType] = None,
        parameters: Optional[SomeParameters] = None,
        remappings: Optional[SomeRemapRules] = None,
        ros_arguments: Optional[Iterable[SomeSubstitutionsType]] = None,
        arguments: Optional[Iterable[SomeSubstitutionsType]] = None,
        **kwargs: Any,
    ) -> None:
        if executable is None:
            raise lacking(self, 'executable', kwargs)
        self.__package = optional(package)
        self.__node_executable = normalize_to_list_of_substitutions(executable)
        self.__node_name = optional(name)
        self.__node_namespace = optional(namespace)
        self.__parameters = () if parameters is None else normalize_parameters(parameters)
        self.__remappings = [] if remappings is None else normalize_remap_rules(remappings)
        self.__ros_arguments = words(ros_arguments, 'ros_arguments')
        self.__arguments = words(arguments, 'arguments')
        program: Any = self.__node_executable
        if self.__package is not None:
            program = [ExecutableInPackage(self.__node_executable, self.__package)]
        ros_arguments = ['--ros-args', *self.__ros_arguments] if self.__ros_arguments else []
        super().__init__(
            cmd=[program, *self.__arguments, *ros_arguments], name=exec_name, **kwargs)

    @property
    def node_package(self) -> Optional[List[Substitution]]:
        """The package."""
        return self.__package

    @property
    def node_executable(self) -> List[Substitution]:
        """The name of the executable."""
        return self.__node_executable

    @property
    def node_name(self) -> Text:
        """The name with its namespace, as far as these are constant."""
        name = _constant(self.__node_name)
        namespace = self.expanded_node_namespace
        name = self.UNSPECIFIED_NODE_NAME if name is None else name
        return f"{namespace.rstrip('/')}/{name}"

    @property
    def expanded_node_namespace(self) -> Text:
        """The namespace, if it is constant."""
        namespace = _constant(self.__node_namespace)
        return self.UNSPECIFIED_NODE_NAMESPACE if namespace is None else namespace

    @property
    def expanded_remapping_rules(self) -> None:
        """`None`, since `feros launch` evaluates the remappings."""
        return None

    def is_node_name_fully_specified(self) -> bool:
        """Returns whether the name and the namespace are constant."""
        return '<' not in self.node_name

    def _feros_data(self) -> Dict[str, Any]:
        label = self.process_description.name
        return {
            'do': self._FEROS_DO,
            'package': _wire.optional(self.__package),
            'executable': _wire.template(self.__node_executable),
            'name': _wire.optional(self.__node_name),
            'namespace': _wire.optional(self.__node_namespace),
            'parameters': sources_data(self.__parameters),
            'remappings': _wire.pairs(self.__remappings),
            'arguments': [_wire.template(word) for word in self.__arguments],
            'ros_arguments': [_wire.template(word) for word in self.__ros_arguments],
            'exec_name': _wire.optional(label),
            'shell': _wire.flag(self.shell) or None,
            **self._feros_options(),
        }


def _constant(parts: Optional[List[Substitution]]) -> Optional[Text]:
    """Returns a text without substitutions."""
    texts = [part.text for part in parts or () if isinstance(part, TextSubstitution)]
    return None if parts is None or len(texts) != len(parts) else ''.join(texts)
