"""The programs of the book's page run as they stand there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs/book/pages/python.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)

# What a block of the page takes for granted, by a word of the block.
BEFORE = {
    "feros.spin(node)": """
import feros
def spin(node):
    with feros.Executor() as executor:
        executor.add_node(node)
        executor.spin_until(lambda: False, 1.5)
feros.spin = spin
""",
    "await client.call": """
import feros, threading, time
from feros.msgs.std_msgs.msg import String
from feros.msgs.std_srvs.srv import SetBool
other = feros.Context()
server = other.create_node("server")
server.create_service(SetBool, "enable", lambda r: SetBool.Response(message="enabled"))
talker = server.create_publisher(String, "chatter")
server.create_wall_timer(0.01, lambda: talker.publish(String(data="heard")))
other.spin_in_background(server)
create = feros.Context.create_node
def create_node(context, name):
    # The page waits for no server, and for messages for ever.
    node = create(context, name)
    client = node.create_client(SetBool, "enable")
    client.wait_for_service(60)
    threading.Timer(1.0, context._context.shutdown).start()
    return node
feros.Context.create_node = create_node
""",
    "publisher.loan": """
import feros
from feros.msgs.sensor_msgs.msg import Image
context = feros.Context()
publisher = context.create_node("lender").create_publisher(Image, "image")
""",
    "Talker(LifecycleNode)": """
import feros
context = feros.Context()
""",
    "tf2.TransformListener": """
import feros
from feros import tf2
from feros.msgs.geometry_msgs.msg import TransformStamped
context = feros.Context()
node = context.create_node("listener")
there = TransformStamped(child_frame_id="base_link")
there.header.frame_id, there.transform.translation.x = "map", 7.5
broadcaster = tf2.StaticTransformBroadcaster(context.create_node("there"))
broadcaster.send_transform(there)
""",
    "create_action_server": """
import feros
context = feros.Context()
node = context.create_node("actions")
create = node.create_action_client
def create_action_client(cls, name):
    context.spin_in_background(node)
    client = create(cls, name)
    client.wait_for_server(60)
    return client
node.create_action_client = create_action_client
""",
}
PRINTED = {"feros.spin(node)": "hello", "await client.call": "enabled\nheard",
           "tf2.TransformListener": "7.5"}

# What holds after a block, by a word of the block.
HOLDS = {"status, result": 'status.name == "SUCCEEDED"',
         "talker.activate": 'talker.state.label == "active"'}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.strip().splitlines()[0])
def test_a_program_of_the_page_runs(block):
    (word,) = [word for word in BEFORE if word in block]
    after = "".join(f"\nassert {HOLDS[mark]}" for mark in HOLDS if mark in block)
    done = subprocess.run(
        [sys.executable, "-c", BEFORE[word] + block + after], capture_output=True, text=True,
        timeout=300, env=dict(os.environ),
    )
    assert done.returncode == 0, done.stderr
    assert PRINTED.get(word, "") in done.stdout
