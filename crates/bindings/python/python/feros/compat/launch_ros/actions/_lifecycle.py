"""The actions on managed nodes."""

from typing import Any, Dict, Iterable, Union

from launch import _wire
from launch._text import flag, normalize_to_list_of_substitutions, some
from launch.action import KnownAction
from launch.some_substitutions_type import SomeSubstitutionsType

from ._node import Node


class LifecycleNode(Node):
    """Starts a managed node."""

    _FEROS_DO = 'lifecycle_node'

    def __init__(
        self,
        *,
        name: SomeSubstitutionsType,
        namespace: SomeSubstitutionsType,
        autostart: Union[bool, SomeSubstitutionsType] = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, namespace=namespace, **kwargs)
        self.__autostart = flag(autostart)

    @property
    def node_autostart(self) -> Any:
        """Whether the node is configured and activated after its start."""
        return self.__autostart

    def _feros_data(self) -> Dict[str, Any]:
        return {**super()._feros_data(), 'autostart': _wire.flag(self.__autostart)}


class LifecycleTransition(KnownAction):
    """Requests transitions of managed nodes, one after the other."""

    def __init__(
        self,
        *,
        lifecycle_node_names: Iterable[SomeSubstitutionsType],
        transition_ids: Iterable[Union[int, SomeSubstitutionsType]],
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        for name, given in (
                ('lifecycle_node_names', lifecycle_node_names),
                ('transition_ids', transition_ids)):
            if isinstance(given, (str, bytes)) or not hasattr(given, '__iter__'):
                raise TypeError(f'`{name}` is {given!r:.80}: expected a list')
        self.__nodes = [normalize_to_list_of_substitutions(name) for name in lifecycle_node_names]
        self.__transitions = [some(transition) for transition in transition_ids]
        if not self.__nodes or not self.__transitions:
            raise RuntimeError(
                'LifecycleTransition needs `lifecycle_node_names` and `transition_ids`')

    def _feros_data(self) -> Dict[str, Any]:
        return {
            'do': 'lifecycle_transition',
            'nodes': [_wire.template(name) for name in self.__nodes],
            'transitions': [_wire.template(transition) for transition in self.__transitions],
        }
