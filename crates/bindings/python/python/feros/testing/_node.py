"""The nodes that a test makes, and the clients of nodes in the test's process.

Each client has to find a server by itself, even if its node knows the server already.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from feros.endpoints import Client
from feros.node import Node
from feros.testing import _graph

_PATIENCE = 5.0
"""The longest wait in seconds for a known server. A client whose policies do not go with those of
the server waits in vain."""


class NodeOfTest(Node):
    """A node whose new clients can call a service at once if the node knows its server."""

    def create_client(self, cls: Any, name: str, qos: Any = 10) -> Client[Any, Any]:
        """Creates a client. If the service has a server, waits until the client has found it."""
        client = super().create_client(cls, name, qos)
        if _graph.servers(self, name):
            client.wait_for_service(_PATIENCE)
        return client


def let_clients_find_server(nodes: Iterable[Node], service: str) -> None:
    """Waits until the clients of a service have found its server."""
    for node in nodes:
        for client in list(node._entities):
            if isinstance(client, Client) and client.service_name == service:
                client.wait_for_service(_PATIENCE)
