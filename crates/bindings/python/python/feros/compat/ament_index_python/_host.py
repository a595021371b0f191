"""What the hosts of launch files and of components share: the socket of the one that starts them."""

import os
import socket


def take_socket() -> socket.socket:
    """Takes the socket from standard input, so that what the host runs, and its children, lack
    it."""
    connection = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return connection
