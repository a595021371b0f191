"""The programs on the book's pages run unchanged, next to another process."""

import re
import signal
import subprocess
import sys
import sysconfig
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[4] / "docs/book/pages"


def blocks_of(language):
    """The code blocks of all pages in this language."""
    pages = (page.read_text() for page in sorted(PAGES.glob("*.md")))
    pattern = re.compile(rf"^```{language}\n(.*?)^```", re.M | re.S)
    return [block for page in pages for block in pattern.findall(page)]


BLOCKS = blocks_of("python")
# Launch files in Python.
LAUNCH_FILES = blocks_of("py")
# After the part from the page, a program waits until its standard input ends.
STAYS = "\nimport sys\nprint('at the end', flush=True)\nsys.stdin.read()\n"


@dataclass
class Case:
    """How a block runs: the code before and after the block, its output, and the requests to and
    the output of the other process. A block that does not end by itself is interrupted."""

    before: str = ""
    after: str = ""
    prints: tuple = ()
    asked: str = ""
    heard: tuple = ()


CONTEXT = "import feros\ncontext = feros.Context()\n"
NODE = CONTEXT + "node = context.create_node('here')\n"
SPUN = NODE + "context.spin_in_background(node)\n"
STRING = "from feros.msgs.std_msgs.msg import String\n"
INTERFACES = """
import os
import tempfile
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
os.makedirs("my_interfaces/my_robot/msg")
with open("my_interfaces/my_robot/msg/Arm.msg", "w") as file:
    file.write("int32 joints 6")
"""
# The blocks to run, by a word that occurs in them.
CASES = {
    "feros.spin(node)": Case(prints=("hello", "from elsewhere"), heard=("hello",)),
    "await client.call": Case(prints=("enabled", "from elsewhere")),
    "rclpy.spin(Listener())": Case(prints=(r"[1-9]\d* messages",)),
    "publisher.loan": Case(
        CONTEXT + """
from feros.msgs.sensor_msgs.msg import Image
publisher = context.create_node("lender").create_publisher(Image, "image")
publisher.wait_for_subscriptions(1, 60)
""",
        STAYS, heard=("480 cam 128",),
    ),
    "create_action_server": Case(
        SPUN, "\nprint(status.name)\n" + STAYS, ("SUCCEEDED", "at the end"),
        "fibonacci", (r"SUCCEEDED \[0, 1, 1\]",),
    ),
    "Talker(LifecycleNode)": Case(
        CONTEXT, "\ncontext.spin_in_background(talker)" + STAYS, ("at the end",),
        "/talker", ("hi", "active"),
    ),
    "tf2.TransformListener": Case(SPUN, STAYS, ("7.5",)),
    "def at_scan": Case(SPUN, STAYS, ("hello", "at the end")),
    "def later": Case(SPUN, STAYS, ("enabled", "at the end")),
    "listener.wait_for_publishers": Case(SPUN + STRING, STAYS, ("from elsewhere", "at the end")),
    "counter.send_goal": Case(prints=(r"SUCCEEDED \[0, 1, 1\]", "from elsewhere")),
    "def at_request": Case(prints=("success=True",)),
    "def age_of": Case(SPUN, STAYS, (r"\d+ ns$", "ns of steady time", "at the end")),
    "report.reset": Case(SPUN, STAYS, ("sample", "before others", "a second of ROS time")),
    "node.clock.on_jump": Case(SPUN, STAYS, ("at the end",)),
    "interfaces.add_folder": Case(SPUN + INTERFACES, STAYS, ("^6$", "at the end")),
    "node.fully_qualified_name": Case("import feros\n", STAYS, ("/robot/driver", "at the end")),
    "QoSProfile.latched": Case("", STAYS, ("5 TRANSIENT_LOCAL 0.02", "at the end")),
    "parameters.on_set": Case(SPUN, STAYS, ("too fast", "^1.0 1.5$", "at the end")),
    "log.child": Case(
        SPUN, STAYS,
        ("640 points in scan", r"\[here.arm\]: close", "shown from now on", "at the end"),
    ),
    "class Detector(Node)": Case(
        "import rclpy\nrclpy.init()\n", "\nprint(Detector().get_name(), flush=True)\n" + STAYS,
        ("^detector$", "at the end"),
    ),
    "feros.Executor": Case(NODE, STAYS, ("True", "at the end")),
    "def at_event": Case(
        SPUN + STRING, "\nnode.create_subscription(String, 'watched', print)" + STAYS,
        ("1 subscriptions", "at the end"),
    ),
    "get_interface": Case(
        SPUN,
        "\nnode.create_publisher(Odometry, 'odom').publish(Odometry(child_frame_id='base'))" + STAYS,
        ("child_frame_id='base'", "at the end"),
    ),
}


class Lines:
    """Reads the output of a program, line by line, until it has all expected texts."""

    def __init__(self, stream, expected):
        self.said, self.missing = [], list(expected)
        self.all_said = threading.Event()
        if not expected:
            self.all_said.set()
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def _read(self, stream):
        for line in stream:
            self.said.append(line)
            self.missing = [text for text in self.missing if not re.search(text, line)]
            if not self.missing:
                self.all_said.set()
        self.all_said.set()  # there will be no more output

    def wait(self):
        self.all_said.wait(120)
        assert not self.missing, f"{self.missing} is missing from {''.join(self.said)}"


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.strip().splitlines()[0])
def test_a_program_of_the_book_runs_beside_another_process(block, start):
    (word,) = [word for word in CASES if word in block]
    case = CASES[word]
    peer = start("book.py")
    assert peer.hear() == "ready"
    heard = Lines(peer.process.stdout, case.heard)
    program = subprocess.Popen(
        [sys.executable, "-u", "-c", case.before + block + case.after],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    try:
        printed = Lines(program.stdout, case.prints)
        printed.wait()
        if case.asked:
            peer.say(case.asked)
        heard.wait()
        program.stdin.close()
        if not case.after:
            program.send_signal(signal.SIGINT)
        ended = program.wait(300)
        assert ended in ((0,) if case.after else (0, 1, 130, -signal.SIGINT)), printed.said
    finally:
        program.kill()
        program.wait()
        program.stdout.close()


@pytest.mark.parametrize("block", LAUNCH_FILES, ids=range(len(LAUNCH_FILES)))
def test_a_launch_file_of_the_book_is_read(block, tmp_path):
    file = tmp_path / "book.launch.py"
    file.write_text(block)
    command = [Path(sysconfig.get_path("scripts")) / "feros", "launch", file, "--show-args"]
    read = subprocess.run(command, capture_output=True, text=True, check=False)
    assert read.returncode == 0, read.stderr
    declared = re.findall(r"DeclareLaunchArgument\('(\w+)'", block)
    assert all(name in read.stdout for name in declared), read.stdout


def test_the_book_has_launch_files():
    assert len(LAUNCH_FILES) >= 2
