"""Finds the commands in the README, in the book, and in READMEs and comments of examples. Also has
the facts that scripts/run_commands.py needs about commands that do not end successfully by
themselves."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs/book/pages"
PROGRAMS = {
    "feros", "./feros", "cargo", "python", "python3", "pip", "ros2", "colcon", "ssh", "source",
    "pipeline", "navigation_graph", "mobile_base",
}

# --- finding the commands --------------------------------------------------------------------------


@dataclass
class Block:
    """Commands that belong together: variables and folders of a command apply to the following
    commands."""

    path: Path
    lines: list  # (number, text)


def listed(*patterns):
    """Returns tracked and new files, without those that git ignores."""
    command = ["git", "ls-files", "-co", "--exclude-standard", *patterns]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in names.splitlines() if (ROOT / name).is_file()]


def markdown_blocks(path, text, first=1):
    """Yields the blocks of a text in Markdown, and each command in its sentences as a block."""
    pattern = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.M | re.S)
    for match in pattern.finditer(text):
        start = first + text.count("\n", 0, match.start(2))
        lines = list(enumerate(match.group(2).splitlines(), start))
        if match.group(1) == "console":
            prompted = [(number, line[2:]) for number, line in lines if line.startswith("$ ")]
            lines = prompted or [pair for pair in lines if is_command(pair[1])]
        elif match.group(1) != "sh":
            continue
        lines = [(number, line) for number, line in lines if without_comment(line)]
        if lines:
            yield Block(path, lines)
    prose = pattern.sub(lambda match: "\n" * match.group().count("\n"), text)
    for match in re.finditer(r"`([^`]+)`|(?:: )(feros [^`\n]*)$", prose, re.M):
        command = " ".join((match.group(1) or match.group(2)).split())
        # A verb alone is a mention rather than a command to type.
        if is_command(command) and (len(command.split()) > 2 or not command.startswith("feros")):
            yield Block(path, [(first + prose.count("\n", 0, match.start()), command)])


def without_comment(line):
    """Returns the command of a line, without its comment."""
    return re.sub(r"(^|\s+)#.*$", "", line).strip()


def is_command(text):
    """Whether a text is a command with arguments, without placeholders (`feros run <package>`)."""
    words, gaps = text.split(), r"[<>…]|\.\.\.|[A-Z]{4}"
    return len(words) > 1 and words[0] in PROGRAMS and not re.search(gaps, text)


def comments(path):
    """Yields the comments of a file as Markdown, each with the number of its first line."""
    text = path.read_text()
    if path.suffix == ".xml":
        for match in re.finditer(r"<!--(.*?)-->", text, re.S):
            yield 1 + text.count("\n", 0, match.start(1)), match.group(1).rstrip()
        return
    mark = re.compile(r"\s*//[/!]? ?(.*)" if path.suffix == ".rs" else r"\s*# ?(.*)")
    first, held = 0, []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        found = mark.fullmatch(line)
        if found:
            first = first or number
            held.append(found.group(1))
        elif held:
            yield first, "\n".join(held) + "\n"
            first, held = 0, []


def blocks():
    """Yields all blocks, by file."""
    for path in [ROOT / "README.md", *sorted(PAGES.glob("*.md"))]:
        for block in markdown_blocks(path, path.read_text()):
            # Sentences of README and book mention verbs and options rather than commands to type.
            if is_fenced(path, block):
                yield block
    for path in listed("examples"):
        if path.suffix == ".md":
            yield from markdown_blocks(path, path.read_text())
        elif path.suffix in {".rs", ".xml", ".yaml", ".yml", ".toml", ".py", ".sh"}:
            for first, text in comments(path):
                yield from markdown_blocks(path, text, first)


def is_fenced(path, block):
    """Whether the first line of `block` is in a block of code."""
    before = path.read_text().splitlines()[: block.lines[0][0] - 1]
    return sum(line.startswith("```") for line in before) % 2 == 1


# --- knowledge about the commands ------------------------------------------------------------------

# Commands that do not end by themselves, with the output that shows that they work, or with the
# node that exists while they work.
ENDLESS = {
    "feros topic echo /cmd_vel": "linear",
    "feros topic echo /diagnostics": "status",
    "feros topic echo /rosout --filter": "on the way",
    "feros topic echo /scan --filter": "ranges",
    "feros topic echo /image": "encoding",
    "feros topic hz /chatter --filter": "average rate",
    "feros topic hz /camera/image_raw": "average rate",
    "feros topic pub /cmd_vel": "publishing",
    "feros action echo /fibonacci": "fibonacci|sequence|status",
    "feros service echo /enable": "enable|event_type|request",
    "feros tf echo": "Translation|translation",
    "feros tf monitor": "Frames|frame|base_link",
    "feros bag record --topics": "(?i)record",
    "feros view": "http://",
    "feros run my_package": "publishing",
    "feros launch examples/launch/greeting.launch.yaml": "hi",
    "feros container --process": "node /ComponentManager",
    "pipeline camera detector": "node /detector",
    "pipeline camera": "node /camera",
    "mobile_base motion_control": "node /motion_control",
    "navigation_graph amcl": "node /amcl",
}
# Commands that begin like those above and below, but end by themselves.
ENDS = {
    "feros service echo /enable --flow-style --times 4": "",
    "feros launch arm_bringup arm.launch.py --": "",
    "feros bag play drive": "",
}
# Commands that the following commands of the file need. They run until the end of the file.
STAY = {
    "feros bag record -a": "(?i)record",
    "./feros launch pipeline composed.launch.yaml": "node /controller",
    "feros launch robot.launch.xml": "hi",
    "feros launch arm_bringup arm.launch.py": "the robot \"arm\" has the root link",
    "cargo run --bin fibonacci_server": "node /fibonacci_server",
}
# Files whose commands run in a domain without the robot of the book (docs/book/src/robot.rs),
# because that robot serves the same action: a client that discovers the robot's server during a
# call would ask it for the result of a goal that the server of the file has accepted.
ALONE = ("examples/fibonacci/src/bin/fibonacci_server.rs",)
# The reasons why commands do not run here, by the beginning of a command or by the page. A path
# after a colon names tests that cover the same functions.
NOT_HERE = {
    "./start": "it builds Feros, which ./test has already built",
    "./test": "./test runs this script, so running it here would recurse",
    "scripts/": "these scripts build or install; separate steps of ./test cover that",
    "pip install": "it needs a package index, or a wheel that is not built here",
    "python ": "it needs Feros's Python package: crates/bindings/python/tests",
    "RMW_IMPLEMENTATION=": "it starts programs of stock ROS 2: tests/rmw and tests/interop",
    "cargo build": "it compiles what other steps of ./test compile",
    "cargo run --release -p feros-placements": "it compiles a release, and measures for minutes",
    "FEROS_INTERFACES=my_interfaces python": (
        "it needs Feros's Python package: crates/bindings/python/tests"
    ),
    "feros run listener.py": "it needs Feros's Python package: crates/bindings/python/tests",
    "feros completion fish": "it needs the shell fish, which ./test does not install",
    "feros lab run": "it takes minutes: lab/laboratory/tests and crates/tools/cli/tests/lab",
    "feros lab report": (
        "it reads results of `feros lab run`, which does not run here: crates/tools/cli/tests/lab"
    ),
    "feros lab compare": (
        "it reads results of `feros lab run`, which does not run here: crates/tools/cli/tests/lab"
    ),
    "feros pkg create camera": (
        "it needs a clone of Feros in ~/feros: crates/tools/cli/tests/component_build"
    ),
    "colcon build --base-paths": "it needs an installed ROS 2 with colcon",
    "source ~/arm_stock/setup.bash": (
        "it needs the result of `colcon build`, which does not run here"
    ),
    "cd camera": "it needs the result of `feros pkg create camera`, which does not run here",
    "feros component build": "it compiles all of Feros: crates/tools/cli/tests/component_build",
    "docs/book/pages/build.md": (
        "`feros build` compiles all of Feros: crates/tools/cli/tests/component_build"
    ),
    "feros container": (
        "it loads components from `feros component build`, which does not run here: "
        "crates/tools/cli/tests/component_build"
    ),
    "feros component load": (
        "it needs a component from `feros component build`, which does not run here: "
        "crates/tools/cli/tests/it/component.rs loads other components"
    ),
    "feros component list": (
        "it needs a running `feros container`, which does not run here: "
        "crates/tools/cli/tests/it/component.rs"
    ),
    "feros component unload": (
        "it needs a running `feros container`, which does not run here: "
        "crates/tools/cli/tests/it/component.rs"
    ),
    "feros multicast": (
        "it needs a second host: crates/tools/cli/tests/it/multicast.rs runs it over loopback"
    ),
    "feros view --listen": "it opens a port to other hosts",
    "ssh ": "it needs a second host",
    "./camera": "it starts a program that the reader has written",
    "source /opt/ros": "it needs ROS 2 in /opt/ros, where ./test does not install it",
    "source ~/rmw_feros": "it needs the result of scripts/install_rmw.sh, which does not run here",
    "docs/book/pages/bridge.md": (
        "it needs an engine that is built only with a Cargo feature, or more than one domain: "
        "crates/tools/cli/tests/two_engines and crates/tools/cli/tests/it/endings.rs"
    ),
    "docs/book/pages/fastdds.md": (
        "it needs an engine that is built only with a Cargo feature: `./test fastdds`"
    ),
    "docs/book/pages/fleet.md": (
        "it needs an engine that is built only with a Cargo feature, and several hosts: "
        "crates/engines/zenoh/tests/{fleet,secure}.rs and crates/tools/cli/tests/two_engines/fleet.rs"
    ),
    "docs/book/pages/from_launch_py.md": (
        "it needs launch files that are not made here: crates/tools/cli/tests/it/launch_python.rs"
    ),
    "docs/book/pages/humble.md": (
        "it needs a robot with ROS 2 Humble: tests/interop/tests/it/humble.rs"
    ),
    "docs/book/pages/robot_description.md": (
        "it needs the description of a robot: crates/tools/cli/tests/it/robot_nodes.rs"
    ),
    "docs/book/pages/ros1.md": "it needs a ROS 1 master: crates/tools/cli/tests/ros1",
    "docs/book/pages/zenoh.md": (
        "it needs an engine that is built only with a Cargo feature: `./test zenoh`"
    ),
}
# For a command that is interrupted in the end: a second command, which starts when the first one
# works and runs to its own end, so that the first one has something to do.
MEANWHILE = {"feros bag record --topics": "feros topic echo /odom --times 40 --no-arr"}
# Commands that report findings in their exit code.
FINDS = ("feros doctor",)


def known(command, path):
    """Returns the table that has a command, and the matching key: the longest key with which the
    command or the path of its page begins. A command that is in no table has to end successfully."""
    forms = (command, re.sub(r"^(\w+=\S+ )+", "", command), str(path.relative_to(ROOT)))
    found = [
        (len(key), key, table)
        for table in (ENDLESS, ENDS, STAY, NOT_HERE)
        for key in table
        if any(form.startswith(key) for form in forms)
    ]
    if not found:
        return ENDS, ""
    _, key, table = max(found, key=lambda one: one[0])
    return table, key
