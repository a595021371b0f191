"""The socket by which the hosts of launch files and of components talk with their command."""

import os
import socket


def take_socket() -> socket.socket:
    """Takes the socket from standard input, so that launch files, components and their children do
    not get it."""
    connection = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return connection
