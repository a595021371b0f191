"""A launch of a test: runs `feros launch` in another process, and reads its reports."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sysconfig
import threading
from collections import deque
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from feros.testing._description import number_of
from feros.testing._errors import LaunchFailed, NotInTime
from feros.testing._waiting import TIMEOUT, Waiting

if TYPE_CHECKING:
    from feros.testing._description import DescriptionHost

MOST_LINES = 100_000
"""How many lines of output a launch keeps."""

# The command ends its processes by SIGINT, later SIGTERM, and then SIGKILL; each further signal to
# it skips a wait.
_END_TIMEOUT = 20.0

_PLAN_TIMEOUT = 120.0
"""The seconds that `feros launch` may take to evaluate a launch description."""


@dataclass
class Process:
    """A process of a launch. The return code of a process that a signal has ended is negative;
    it is `None` while the process runs. `was_asked` says whether the launch ended the process."""

    name: str
    pid: int
    returncode: int | None = None
    was_asked: bool = False
    action: int | None = None


@dataclass
class _Line:
    process: str
    stream: str
    text: str


class Launch:
    """The processes that one call of `ros.launch` or `ros.run` has started.

    Methods take a process by its name, with or without the number (`talker-1` or `talker`), or by
    its action in the launch description.
    """

    def __init__(
        self, waiting: Waiting, title: str, words: list[str], host: DescriptionHost | None,
    ) -> None:
        self.title = title
        self._waiting, self._host = waiting, host
        self._is_described = host is not None
        self._lines: deque[_Line] = deque(maxlen=MOST_LINES)
        self._count = 0
        self._processes: dict[str, Process] = {}
        self._has_begun = False
        self._ended: int | None = None
        begin = [command(), "launch", "--json"]
        if host is not None:
            begin.append("--python-socket")
        self._child = subprocess.Popen(
            [*begin, *words], stdin=subprocess.DEVNULL if host is None else host.socket,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        if host is not None:
            host.socket.close()
        self._readers = [
            self._reader(self._child.stdout, self._take_event),
            self._reader(self._child.stderr, self._take_problem)]
        self._watcher = threading.Thread(target=self._watch, name="launch", daemon=True)
        self._watcher.start()

    def _reader(self, stream: IO[bytes] | None, take: Any) -> threading.Thread:
        def read() -> None:
            assert stream is not None
            with stream:
                for line in stream:
                    with self._waiting.changed:
                        take(line)
                        self._waiting.changed.notify_all()

        thread = threading.Thread(target=read, name="reads launch", daemon=True)
        thread.start()
        return thread

    def _take_event(self, line: bytes) -> None:
        event = json.loads(line)
        kind, name = event["event"], event.get("process", "")
        if kind == "begun":
            self._has_begun = True
        elif kind == "output":
            self._add(name, event["stream"], event["line"])
        elif kind == "message":
            self._add(event["name"], "launch", f"[{event['level']}] {event['text']}")
        elif kind == "started":
            self._processes[name] = Process(name, event["pid"], action=event["action"])
        elif kind == "ended" and name in self._processes:
            process = self._processes[name]
            process.returncode, process.was_asked = event["code"], event["was_asked"]

    def _take_problem(self, line: bytes) -> None:
        self._add("feros launch", "stderr", line.decode(errors="replace").rstrip("\n"))

    def _add(self, process: str, stream: str, text: str) -> None:
        self._lines.append(_Line(process, stream, text))
        self._count += 1

    def _watch(self) -> None:
        """Notes the end of the command, after its whole output."""
        for reader in self._readers:
            reader.join()
        code = self._child.wait()
        with self._waiting.changed:
            self._ended = code
            self._waiting.changed.notify_all()
        if code not in (0, -signal.SIGINT, 128 + signal.SIGINT) and self._has_begun:
            self._waiting.fail(LaunchFailed(
                f"{self.title}: a part of the launch has failed\n{self.output()}"))

    def wait_until_begun(self) -> None:
        """Waits until the command has evaluated the description.

        Raises `LaunchFailed` with the reason if the launch cannot start.
        """
        with self._waiting.changed:
            is_known = self._waiting.changed.wait_for(
                lambda: self._has_begun or self._ended is not None, _PLAN_TIMEOUT)
            if self._has_begun:
                return
        if not is_known:
            raise NotInTime(
                f"{self.title} was not evaluated within {_PLAN_TIMEOUT:g} s\n{self.output()}")
        raise LaunchFailed(f"{self.title} cannot be launched\n{self.output()}")

    @property
    def processes(self) -> dict[str, Process]:
        """The processes that the launch has started so far, by name."""
        with self._waiting.changed:
            return dict(self._processes)

    @property
    def is_running(self) -> bool:
        """Whether the launch has not ended yet."""
        return self._ended is None

    def output(self, process: Any = None) -> str:
        """Returns the output so far: of one process, or of all processes and the launch, where
        each line begins with a name."""
        chosen = None if process is None else self._name_of(process)
        with self._waiting.changed:
            if chosen is not None:
                return "".join(
                    f"{line.text}\n" for line in self._lines
                    if line.process == chosen and line.stream != "launch")
            return "".join(f"[{line.process}] {line.text}\n" for line in self._lines)

    def wait_for_output(
        self, text: str | re.Pattern[str], process: Any = None, *, timeout: float = TIMEOUT,
    ) -> str:
        """Waits for a line of the processes, or of one of them, that contains a text or matches a
        compiled pattern (`search`); returns the line. Lines since the start of the launch count.

        Raises `NotInTime` if there is no such line within `timeout` seconds, and `LaunchFailed` if
        the process, or the launch, ends without it.
        """
        seen = 0

        def look() -> str | None:
            nonlocal seen
            has_ended = self._has_ended(process)
            with self._waiting.changed:
                new = min(self._count - seen, len(self._lines))
                lines = [self._lines[index] for index in range(-new, 0)]
                seen = self._count
            name = None if process is None else self._find(process)
            for line in lines:
                is_chosen = line.stream != "launch" and (process is None or line.process == name)
                if is_chosen and _contains(line.text, text):
                    return line.text
            if has_ended:
                raise LaunchFailed(f"{self._missing(text, process)} before the end")
            return None

        return self._waiting.until(look, timeout, lambda: self._missing(text, process))

    def wait_for_end(self, process: Any = None, *, timeout: float = TIMEOUT) -> int:
        """Waits until a process has ended; returns its return code. Without a process, waits until
        all processes have ended, and returns the return code of the launch.

        Raises `NotInTime` if a process still runs after `timeout` seconds.
        """
        def look() -> int | None:
            if process is None:
                return self._ended
            name = self._find(process)
            return None if name is None else self._processes[name].returncode

        def missing() -> str:
            names = [one.name for one in self.processes.values() if one.returncode is None]
            return f"{self.title}: {', '.join(names) or process} did not end"

        return self._waiting.until(look, timeout, missing)

    def signal(self, process: Any, number: int) -> None:
        """Sends a signal to a process."""
        os.kill(self.processes[self._name_of(process)].pid, number)

    def end(self) -> dict[str, int | None]:
        """Ends all processes, as Ctrl-C does; returns their return codes by name. A second call
        changes nothing."""
        for number in (signal.SIGINT, signal.SIGINT, signal.SIGINT, signal.SIGKILL):
            if self._ended is None:
                self._child.send_signal(number)
            self._watcher.join(_END_TIMEOUT)
            if not self._watcher.is_alive():
                break
        if self._host is not None:
            self._host.close()
            self._host = None
        return {name: process.returncode for name, process in self.processes.items()}

    def _missing(self, text: str | re.Pattern[str], process: Any) -> str:
        wanted = text if isinstance(text, str) else text.pattern
        who = "no process" if process is None else f"{self._find(process) or process} never"
        return f"{self.title}: {who} wrote {wanted!r}"

    def _has_ended(self, process: Any) -> bool:
        if process is None:
            return self._ended is not None
        name = self._find(process)
        if self._ended is not None or name is None:
            return self._ended is not None
        return self._processes[name].returncode is not None

    def _find(self, process: Any) -> str | None:
        """The name of the process, if it has been started."""
        with self._waiting.changed:
            if isinstance(process, str):
                if process in self._processes:
                    return process
                return next(
                    (name for name in self._processes if name.rpartition("-")[0] == process), None)
            if not self._is_described:
                return None
            number = number_of(process)
            return next(
                (one.name for one in self._processes.values() if one.action == number), None)

    def _name_of(self, process: Any) -> str:
        name = self._find(process)
        if name is None:
            known = ", ".join(self.processes) or "none"
            raise LookupError(f"{self.title} has not started {process}; it has started: {known}")
        return name


def _contains(line: str, text: str | re.Pattern[str]) -> bool:
    return text in line if isinstance(text, str) else text.search(line) is not None


def command() -> str:
    """The command `feros` of this environment, or the first on PATH."""
    beside = os.path.join(sysconfig.get_path("scripts"), "feros")
    found = beside if os.path.isfile(beside) else shutil.which("feros")
    if found is None:
        raise FileNotFoundError(
            f"there is no command feros, neither {beside} nor on PATH: install Feros's wheel")
    return found
