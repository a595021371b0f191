"""Events of processes, and requests to processes."""

import os
import signal as signals
from typing import Any, Callable, Dict, List, Optional, Text, Union

from ...actions import ExecuteLocal
from ...event import Event
from .._classes import matcher


class RunningProcessEvent(Event):
    """An event of a process."""

    name = 'launch.events.process.RunningProcessEvent'

    def __init__(
        self,
        *,
        action: ExecuteLocal,
        name: Text,
        cmd: List[Text],
        cwd: Optional[Text],
        env: Optional[Dict[Text, Text]],
        pid: int,
    ) -> None:
        self.__action = action
        self.__name = name
        self.__cmd = cmd
        self.__cwd = cwd
        self.__env = env
        self.__pid = pid

    @property
    def action(self) -> ExecuteLocal:
        """The action that started the process."""
        return self.__action

    @property
    def execute_process_action(self) -> ExecuteLocal:
        """The action that started the process."""
        return self.__action

    @property
    def process_name(self) -> Text:
        """The name of the process in the output."""
        return self.__name

    @property
    def cmd(self) -> List[Text]:
        """The command line."""
        return self.__cmd

    @property
    def cwd(self) -> Optional[Text]:
        """The working directory, if it is not that of the launch."""
        return self.__cwd

    @property
    def env(self) -> Optional[Dict[Text, Text]]:
        """The environment, if it is not that of the launch."""
        return self.__env

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self.__pid


class ProcessStarted(RunningProcessEvent):
    """A process has started."""

    name = 'launch.events.process.ProcessStarted'


class ProcessExited(RunningProcessEvent):
    """A process has ended."""

    name = 'launch.events.process.ProcessExited'

    def __init__(self, *, returncode: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__returncode = returncode

    @property
    def returncode(self) -> int:
        """The exit code, or the negative number of the signal."""
        return self.__returncode


class ProcessIO(RunningProcessEvent):
    """A process has written, or is given input."""

    name = 'launch.events.process.ProcessIO'

    def __init__(self, *, text: bytes, fd: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__text = text
        self.__from_stdin = fd == 0
        self.__from_stdout = fd == 1
        self.__from_stderr = fd == 2

    @property
    def text(self) -> bytes:
        """The bytes."""
        return self.__text

    @property
    def from_stdin(self) -> bool:
        """Whether the bytes are input."""
        return self.__from_stdin

    @property
    def from_stdout(self) -> bool:
        """Whether the bytes come from stdout."""
        return self.__from_stdout

    @property
    def from_stderr(self) -> bool:
        """Whether the bytes come from stderr."""
        return self.__from_stderr


class ProcessStdin(ProcessIO):
    """Input for a process."""

    name = 'launch.events.process.ProcessStdin'

    def __init__(self, *, text: bytes, **kwargs: Any) -> None:
        super().__init__(text=text, fd=0, **kwargs)


class ProcessStdout(ProcessIO):
    """A process has written to stdout."""

    name = 'launch.events.process.ProcessStdout'

    def __init__(self, *, text: bytes, **kwargs: Any) -> None:
        super().__init__(text=text, fd=1, **kwargs)


class ProcessStderr(ProcessIO):
    """A process has written to stderr."""

    name = 'launch.events.process.ProcessStderr'

    def __init__(self, *, text: bytes, **kwargs: Any) -> None:
        super().__init__(text=text, fd=2, **kwargs)


class ProcessTargetedEvent(Event):
    """A request to the processes that a function chooses."""

    name = 'launch.events.process.ProcessTargetedEvent'

    def __init__(self, *, process_matcher: Callable[[ExecuteLocal], bool]) -> None:
        self.__process_matcher = process_matcher

    @property
    def process_matcher(self) -> Callable[[ExecuteLocal], bool]:
        """The function."""
        return self.__process_matcher


class ShutdownProcess(ProcessTargetedEvent):
    """Ends processes as at the end of the launch."""

    name = 'launch.events.process.ShutdownProcess'

    def _feros_data(self) -> Dict[str, Any]:
        return {'event': 'shutdown_process', 'process': matcher(self.process_matcher)}


class SignalProcess(ProcessTargetedEvent):
    """Sends a signal to processes."""

    name = 'launch.events.process.SignalProcess'

    def __init__(
        self,
        *,
        signal_number: Union[Text, int, signals.Signals],
        process_matcher: Callable[[ExecuteLocal], bool],
    ) -> None:
        super().__init__(process_matcher=process_matcher)
        if isinstance(signal_number, str):
            self.__signal = signals.Signals[signal_number]
        else:
            self.__signal = signals.Signals(signal_number)

    @property
    def signal(self) -> signals.Signals:
        """The signal."""
        return self.__signal

    @property
    def signal_name(self) -> Text:
        """The name of the signal."""
        return self.__signal.name

    def _feros_data(self) -> Dict[str, Any]:
        return {
            'event': 'signal_process',
            'process': matcher(self.process_matcher),
            'signal': self.signal_name,
            'number': int(self.__signal),
        }


class NameMatcher:
    """Matches processes by a name."""

    def __init__(self, name: Text) -> None:
        self.name = name

    def __call__(self, action: Any) -> bool:
        return bool(action.process_details['name'] == self.name)

    def _feros_matcher(self) -> Dict[str, Any]:
        return {'name': str(self.name)}


def matches_name(name: Text) -> NameMatcher:
    """Returns a function that matches the processes with this name."""
    return NameMatcher(name)


def matches_pid(pid: int) -> Callable[[ExecuteLocal], bool]:
    """Returns a function that matches the process with this number."""
    return lambda action: (action.process_details or {}).get('pid') == pid


def matches_executable(executable: Text) -> Callable[[ExecuteLocal], bool]:
    """Returns a function that matches the processes of this program."""
    def matches(action: ExecuteLocal) -> bool:
        words = (action.process_details or {}).get('cmd') or ['']
        return os.path.basename(str(words[0])) == executable

    return matches
