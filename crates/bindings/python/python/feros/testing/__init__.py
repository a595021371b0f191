"""Tests of nodes and launch files, each in a ROS domain of its own.

In pytest, a test gets the harness as its fixture `ros`:

    from std_msgs.msg import String

    def test_the_talker_says_hello(ros):
        ros.launch("talker.launch.py")
        assert ros.expect_message("chatter", String).data == "hello"

Elsewhere, the harness is a context manager:

    with feros.testing.Harness() as ros:
        ...
"""

from feros.testing._errors import LaunchFailed, NotInTime
from feros.testing._harness import Harness
from feros.testing._launch import Launch, Process
from feros.testing._messages import Messages
from feros.testing._time import SimulatedTime

__all__ = [
    "Harness", "Launch", "LaunchFailed", "Messages", "NotInTime", "Process", "SimulatedTime",
]
