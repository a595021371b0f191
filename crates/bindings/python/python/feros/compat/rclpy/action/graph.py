"""The actions that the nodes of the graph serve and call."""

from typing import Any, Dict, List, Tuple

_GOAL_SERVICE = '/_action/send_goal'
_GOAL_TYPE = '_SendGoal'

NamesAndTypes = List[Tuple[str, List[str]]]


def _actions(services: NamesAndTypes) -> NamesAndTypes:
    """Returns the actions whose goal services are among these services."""
    found: Dict[str, List[str]] = {}
    for name, types in services:
        if name.endswith(_GOAL_SERVICE):
            ours = [one[:-len(_GOAL_TYPE)] for one in types if one.endswith(_GOAL_TYPE)]
            found[name[:-len(_GOAL_SERVICE)]] = ours
    return list(found.items())


def get_action_client_names_and_types_by_node(
    node: Any, remote_node_name: str, remote_node_namespace: str
) -> NamesAndTypes:
    """Returns the actions that a node calls; raises `NodeNameNonExistentError` for an unknown
    node."""
    return _actions(node.get_client_names_and_types_by_node(
        remote_node_name, remote_node_namespace))


def get_action_server_names_and_types_by_node(
    node: Any, remote_node_name: str, remote_node_namespace: str
) -> NamesAndTypes:
    """Returns the actions that a node serves; raises `NodeNameNonExistentError` for an unknown
    node."""
    return _actions(node.get_service_names_and_types_by_node(
        remote_node_name, remote_node_namespace))


def get_action_names_and_types(node: Any) -> NamesAndTypes:
    """Returns all actions with their types."""
    return list(node._rclpy_living._rclpy_native.action_names_and_types().items())
