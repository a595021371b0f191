"""The actions that start a container, and load nodes into it."""

from typing import Any, Dict, List, Optional, Union

from launch import _wire
from launch._objects import number_of
from launch._text import normalize_to_list_of_substitutions
from launch.action import KnownAction
from launch.some_substitutions_type import SomeSubstitutionsType

from ..descriptions import ComposableNode
from ..descriptions._composable_node import checked
from ._node import Node


class ComposableNodeContainer(Node):
    """Starts a container, and loads nodes into it."""

    _FEROS_DO = 'container'

    def __init__(
        self,
        *,
        name: SomeSubstitutionsType,
        namespace: SomeSubstitutionsType,
        composable_node_descriptions: Optional[List[ComposableNode]] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, namespace=namespace, **kwargs)
        self.__descriptions = checked(
            composable_node_descriptions or (), 'ComposableNodeContainer')

    def _feros_data(self) -> Dict[str, Any]:
        return {
            **super()._feros_data(),
            'components': [one._feros_data() for one in self.__descriptions],
        }


class LoadComposableNodes(KnownAction):
    """Loads nodes into a container."""

    def __init__(
        self,
        *,
        composable_node_descriptions: List[ComposableNode],
        target_container: Union[SomeSubstitutionsType, ComposableNodeContainer],
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__descriptions = checked(composable_node_descriptions, 'LoadComposableNodes')
        self.__container: Optional[ComposableNodeContainer] = None
        self.__target: Any = None
        if isinstance(target_container, ComposableNodeContainer):
            self.__container = target_container
        elif isinstance(target_container, Node):
            raise TypeError('`target_container` of `LoadComposableNodes` is a Node: expected a'
                            ' ComposableNodeContainer, or the name of a container')
        else:
            self.__target = normalize_to_list_of_substitutions(target_container)

    def _feros_data(self) -> Dict[str, Any]:
        container = self.__container
        return {
            'do': 'load_components',
            'target': _wire.template(self.__target) if container is None
            else {'container': number_of(container)},
            'components': [one._feros_data() for one in self.__descriptions],
        }
