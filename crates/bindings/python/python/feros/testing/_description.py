"""Passes launch descriptions that a test has made to `feros launch`.

The command asks a Python process for the actions of a launch file. For a description of a test, this
process is a fork of the test: it has the objects of the description, and everything to which their
functions refer.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
import socket
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from feros._companions import FOLDER

_GRACE = 5.0
"""The seconds that a fork may take to end after its command."""


class DescriptionHost:
    """The process that answers for a launch description."""

    def __init__(self, description: Any, path: Path) -> None:
        """`path` is the file that messages name."""
        self._description = _checked(description)
        ours, theirs = socket.socketpair()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # else the fork would write the buffered text, too
        with warnings.catch_warnings():
            # The other threads do not exist in the fork, and the fork does not use their data.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            try:
                _serve(theirs, self._description, path)
            finally:
                os._exit(0)
        theirs.close()
        self.socket = ours

    def close(self) -> None:
        """Waits until the process has ended. It ends with the command that it answers."""
        self.socket.close()
        deadline = time.monotonic() + _GRACE
        while os.waitpid(self._pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
                return
            time.sleep(0.002)


def number_of(action: Any) -> int:
    """The number by which the command knows an action of a description."""
    from launch import _objects

    return _objects.number_of(action)


def _checked(description: Any) -> Any:
    """Returns a launch description of Feros's package `launch`, or raises its mistakes."""
    found = importlib.util.find_spec("launch")
    origin = str(found.origin) if found is not None else "nowhere"
    if not os.path.realpath(origin).startswith(FOLDER + os.sep):
        raise TypeError(
            f"`launch` comes from {origin}, so Feros cannot run this launch description: put it"
            " into a launch file, and give that to `launch`")
    from launch import LaunchDescription, _entities

    if not isinstance(description, LaunchDescription):
        description = LaunchDescription(description)
    # This gives each action its number before the fork.
    _entities.entities(description)
    return description


def _serve(connection: socket.socket, description: Any, path: Path) -> None:
    """Answers the command, in the fork."""
    gc.disable()  # objects of the test must not end here
    kept = os.dup2(connection.detach(), 3, inheritable=False)
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    # The streams of pytest write to files that are closed now.
    sys.stdout = open(1, "w", buffering=1, closefd=False)
    sys.stderr = open(2, "w", buffering=1, closefd=False)
    from feros import _launch_host

    _launch_host.serve(socket.socket(fileno=kept), {str(path): description})
