"""The page about deployment: its images and services have steps that exist, with options that these
have, and its services share what the page says that they have to share."""

import json
import re
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest
import yaml

PAGE = (Path(__file__).parents[4] / "docs/book/pages/deployment.md").read_text()
# Programs that the image gets from the reader.
OF_THE_READER = {"camera", "planner"}
# The elements of Compose that the page uses, by the specification of Compose.
KEYS = {
    "command", "environment", "image", "init", "ipc", "network_mode", "pid", "shm_size", "user",
}
INSTRUCTIONS = {"CMD", "COPY", "ENV", "FROM", "RUN", "USER"}


def blocks(language, begin):
    """The blocks of the page in a language that begin with a text."""
    found = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)
    chosen = [block for block in found if block.startswith(begin)]
    assert chosen, f"the page has no {language} that begins with {begin}"
    return chosen


@pytest.fixture
def command():
    found = Path(sysconfig.get_path("scripts")) / "feros"
    if not found.is_file():
        pytest.skip("not installed from a wheel")
    return str(found)


def fault_of(words, command):
    """Why a command line is wrong; `None` if nothing is known against it."""
    program, *rest = words
    if program == "feros":
        asked = subprocess.run([command, *rest, "--help"], capture_output=True, text=True)
        return None if asked.returncode == 0 else asked.stderr
    found = shutil.which(program)
    if found is None or program in OF_THE_READER:
        return None
    options = [word.partition("=")[0] for word in rest if word.startswith("-")]
    verb = [word for word in rest[:1] if re.fullmatch("[a-z]+", word) and program != "sleep"]
    asked = subprocess.run([found, *verb, "-h"], capture_output=True, text=True)
    if program == "apt-get":  # its help has no options, and it refuses unknown ones
        asked = subprocess.run([found, *verb, *options, "-h"], capture_output=True, text=True)
        return None if asked.returncode == 0 else asked.stderr
    said = asked.stdout + asked.stderr
    unknown = [option for option in options if not re.search(rf"(^|[\s,]){option}\b", said)]
    return f"{program} has no {unknown}: {said}" if unknown else None


def test_wrong_command_lines_are_found(command):
    assert "--no-such" in fault_of(["feros", "launch", "--no-such"], command)
    assert "--no-such" in fault_of(["pip", "install", "--no-such", "a"], command)
    assert fault_of(["pip", "install", "--no-cache-dir", "a"], command) is None


@pytest.mark.parametrize("text", blocks("text", "FROM "))
def test_images_are_made_by_steps_that_exist(text, command):
    stages, users, copied, environment = set(), {"root"}, [], {}
    for line in text.splitlines():
        if not line:
            continue
        instruction, _, rest = line.partition(" ")
        assert instruction in INSTRUCTIONS, line
        words = shlex.split(rest)
        if instruction == "FROM":
            assert re.fullmatch(r"[a-z]+:[\w.-]+", words[0]), line
            users = {"root"}
            stages |= set(words[2:])
        elif instruction == "COPY":
            *sources, target = words
            for option in [word for word in sources if word.startswith("--from=")]:
                assert option.removeprefix("--from=") in stages, line
            copied += [(source, target) for source in sources]
        elif instruction == "ENV":
            environment.update(word.split("=", 1) for word in words)
        elif instruction == "USER":
            assert words[0] in users, f"{line}: no step before makes this user"
        else:
            runs = json.loads(rest) if instruction == "CMD" else words
            for step in shlex.join(runs).replace("'&&'", "&&").split(" && "):
                step = shlex.split(step)
                assert fault_of(step, command) is None, line
                users |= {step[-1]} if step[0] == "useradd" else set()
        if instruction == "CMD":
            program = json.loads(rest)[0]
            is_copied = any(source.endswith(f"/{program}") for source, _ in copied)
            assert is_copied or program == "feros" and "feros-*.whl" in str(copied), line
    if "FEROS_PREFIX_PATH" in environment:
        assert ("install", environment["FEROS_PREFIX_PATH"]) in copied


@pytest.mark.parametrize("text", blocks("yaml", "x-robot"))
def test_services_of_compose_share_what_they_have_to_share(text, command):
    file = yaml.safe_load(text)
    assert [key for key in file if not key.startswith("x-")] == ["services"]
    services = file["services"]
    base = services.get("base")
    nodes = [service for name, service in services.items() if name != "base"]
    for service in services.values():
        assert set(service) <= KEYS, service
        assert fault_of(shlex.split(service["command"]), command) is None, service
        assert all(isinstance(text, str) for text in service.get("environment", {}).values())
    # The rows of the page's table: the user, /dev/shm and the PID namespace.
    assert len(nodes) == 2
    for key in ("user", "ipc", "pid", "network_mode"):
        assert len({service[key] for service in nodes}) == 1, key
    if base is None:
        assert nodes[0]["ipc"] == nodes[0]["pid"] == nodes[0]["network_mode"] == "host"
    else:
        assert base["ipc"] == "shareable" and base["init"] is True
        assert {nodes[0][key] for key in ("ipc", "pid", "network_mode")} == {"service:base"}


def verified(text, folder):
    """What systemd says about a service."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("there is no systemd-analyze")
    unit = folder / "robot.service"
    unit.write_text(text)
    words = [program, "verify", "--man=no", "--recursive-errors=no", str(unit)]
    told = subprocess.run(words, capture_output=True, text=True)
    return told.returncode, told.stdout + told.stderr


def test_the_service_of_systemd_is_one(command, tmp_path):
    (text,) = blocks("ini", "[Unit]")
    (start,) = re.findall(r"^ExecStart=(.*)$", text, re.M)
    program, *words = start.split()
    assert Path(program).name == "feros" and fault_of(["feros", *words], command) is None
    seconds = int(re.search(r"^TimeoutStopSec=(\d+)$", text, re.M)[1])
    assert seconds > 10, "SIGKILL comes after 10 s"
    text = text.replace(program, command)
    assert verified(text, tmp_path) == (0, "")
    for wrong in ("KillMode=mixed", "TimeoutStopSec=30", "LimitRTPRIO=90"):
        code, told = verified(text.replace(wrong, wrong.split("=")[0] + "=wrong"), tmp_path)
        assert "robot.service" in told, (wrong, code)
