"""Events of processes, and requests to processes."""

from ..._missing import absent
from ..._modules import provide
from ._classes import (
    ProcessExited,
    ProcessIO,
    ProcessStarted,
    ProcessStderr,
    ProcessStdin,
    ProcessStdout,
    ProcessTargetedEvent,
    RunningProcessEvent,
    ShutdownProcess,
    SignalProcess,
    matches_executable,
    matches_name,
    matches_pid,
)

__all__ = [
    'ProcessExited', 'ProcessIO', 'ProcessStarted', 'ProcessStderr', 'ProcessStdin',
    'ProcessStdout', 'ProcessTargetedEvent', 'RunningProcessEvent', 'ShutdownProcess',
    'SignalProcess', 'matches_executable', 'matches_name', 'matches_pid',
]

provide(__name__, globals(), {
    'process_exited': 'ProcessExited',
    'process_io': 'ProcessIO',
    'process_matchers': 'matches_executable matches_name matches_pid',
    'process_started': 'ProcessStarted',
    'process_stderr': 'ProcessStderr',
    'process_stdin': 'ProcessStdin',
    'process_stdout': 'ProcessStdout',
    'process_targeted_event': 'ProcessTargetedEvent',
    'running_process_event': 'RunningProcessEvent',
    'shutdown_process': 'ShutdownProcess',
    'signal_process': 'SignalProcess',
})

__getattr__ = absent(__name__, globals())
