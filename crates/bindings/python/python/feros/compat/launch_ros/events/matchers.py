"""Functions that choose nodes."""

from typing import Any, Dict, Text


class NodeNameMatcher:
    """Matches nodes by their name with the namespace."""

    def __init__(self, node_name: Text) -> None:
        self.node_name = node_name if node_name.startswith('/') else f'/{node_name}'

    def __call__(self, action: Any) -> bool:
        return bool(action.node_name == self.node_name)

    def _feros_matcher(self) -> Dict[str, Any]:
        return {'name': self.node_name}


def matches_node_name(node_name: Text) -> NodeNameMatcher:
    """Returns a function that matches the node with this name."""
    return NodeNameMatcher(node_name)
