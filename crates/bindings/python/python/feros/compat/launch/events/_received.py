"""Events that `feros launch` tells about, as objects."""

from typing import Any, Dict

from .._objects import object_of
from .._shutdown import Shutdown
from ..actions import ExecuteProcess
from ..event import Event
from ._classes import ExecutionComplete, TimerEvent
from .process import ProcessExited, ProcessStarted, ProcessStderr, ProcessStdin, ProcessStdout

_others: Dict[str, ExecuteProcess] = {}
"""Stand-ins for the actions of files in XML and YAML, by the names of their processes."""

_STREAMS = {'stdin': ProcessStdin, 'stdout': ProcessStdout, 'stderr': ProcessStderr}


def received(data: Dict[str, Any]) -> Event:
    """Returns the event that data describe."""
    kind = data['event']
    if kind == 'py':
        event: Event = object_of(data['id'])
        return event
    if kind == 'shutdown':
        return Shutdown(
            reason=data.get('reason', ''), due_to_sigint=bool(data.get('due_to_sigint')))
    action = _action(data)
    if kind == 'execution_complete':
        return ExecutionComplete(action=action)
    if kind == 'timer':
        return TimerEvent(timer_action=action)
    return _of_process(kind, action, data)


def _action(data: Dict[str, Any]) -> Any:
    if data.get('action') is not None:
        return object_of(data['action'])
    name = data['name']
    if name not in _others:
        _others[name] = ExecuteProcess(cmd=data.get('cmd') or [name], name=name)
    return _others[name]


def _of_process(kind: str, action: Any, data: Dict[str, Any]) -> Event:
    details = {
        'name': data['name'], 'cmd': list(data.get('cmd') or ()), 'cwd': data.get('cwd'),
        'env': data.get('env'), 'pid': data['pid'],
    }
    action._feros_details = details
    if kind == 'process_start':
        return ProcessStarted(action=action, **details)
    if kind == 'process_exit':
        action._feros_return_code = data['returncode']
        return ProcessExited(action=action, returncode=data['returncode'], **details)
    if kind != 'process_io':
        raise LookupError(f'the event {kind!r} is not known')
    text = bytes.fromhex(data['hex']) if 'hex' in data else str(data['text']).encode()
    return _STREAMS[data['stream']](action=action, text=text, **details)
