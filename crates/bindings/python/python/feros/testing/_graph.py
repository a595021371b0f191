"""Looks up other nodes' endpoints in the graph, and describes them in words."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from feros.qos import Durability, Reliability

if TYPE_CHECKING:
    from feros.node import Node

RELIABILITY, DURABILITY = 2, 3
"""The positions of policies in the tuple of an endpoint."""


def _of_others(node: Node, endpoints: list[dict[str, Any]]) -> list[dict[str, Any]]:
    own = (node.name, node.namespace)
    return [one for one in endpoints if (one["node_name"], one["node_namespace"]) != own]


def publishers(node: Node, topic: str) -> list[dict[str, Any]]:
    """The publishers of a topic that do not belong to the test's node."""
    return _of_others(node, node.publishers_info(topic))


def subscriptions(node: Node, topic: str) -> list[dict[str, Any]]:
    """The subscriptions of a topic that do not belong to the test's node."""
    return _of_others(node, node.subscriptions_info(topic))


def servers(node: Node, service: str) -> list[dict[str, Any]]:
    """The servers of a service."""
    found: list[dict[str, Any]] = node._node.service_info(
        node.resolve_service_name(service), "service")
    return found


def described(endpoints: list[dict[str, Any]]) -> str:
    """The nodes, types and policies of endpoints, in words."""
    return ", ".join(
        f"{_node_of(one)} ({one['topic_type']}, {_word(Reliability(one['qos'][RELIABILITY]))},"
        f" {_word(Durability(one['qos'][DURABILITY]))})"
        for one in endpoints)


def _node_of(endpoint: dict[str, Any]) -> str:
    return f"{endpoint['node_namespace'].rstrip('/')}/{endpoint['node_name']}"


def _word(policy: Reliability | Durability) -> str:
    return policy.name.lower().replace("_", " ")


def similar(name: str, known: dict[str, list[str]]) -> str:
    """A hint at names that are similar to a missing name, or an empty text."""
    near = difflib.get_close_matches(name, [one for one in known if one != name], n=3, cutoff=0.7)
    return f"; there is {', '.join(near)}" if near else ""
