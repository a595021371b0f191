"""The process in which `feros launch` runs launch files in Python.

It answers the requests of the command, one line of JSON each, on the socket that is its standard
input. This file runs as a script, without the package `feros` and its extension module.
"""

import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
# The folder of a script is on the path, and this folder has modules with names of the library.
sys.path[:] = [entry for entry in sys.path if entry != FOLDER]
sys.path.insert(0, os.path.join(FOLDER, 'compat'))

import codecs  # noqa: E402
import json  # noqa: E402
import signal  # noqa: E402
from _thread import get_ident  # noqa: E402
from pathlib import PurePath  # noqa: E402

from ament_index_python._host import take_socket  # noqa: E402
from ament_index_python._prefixes import add_site_packages  # noqa: E402
from launch import _entities, _link, _wire  # noqa: E402
from launch._objects import object_of  # noqa: E402
from launch._positions import failure, is_method_of_ours  # noqa: E402
from launch.action import Action  # noqa: E402
from launch.event_handler import BaseEventHandler  # noqa: E402
from launch.launch_context import Call, LaunchContext, set_current  # noqa: E402

PROTOCOL = 1
MOST_BYTES = 16 << 20
"""The limit on the length of a line."""

# JSON has no lone surrogates, which names of files can contain.
codecs.register_error('feros', lambda error: ('\ufffd'.encode(), error.end))


class Ended(BaseException):
    """The command has closed the socket."""


class Channel:
    """Lines of JSON on the socket."""

    def __init__(self, connection):
        self._connection = connection
        self._reader = connection.makefile('rb')

    def receive(self):
        """Returns the next message; raises `Ended` if the command ends."""
        line = self._reader.readline()
        if not line.endswith(b'\n'):
            raise Ended
        return json.loads(line)

    def send(self, message):
        """Sends a message.

        Raises `ValueError` if it is too long or no JSON.
        """
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(',', ':'))
        line = text.encode('utf-8', 'feros') + b'\n'
        if len(line) > MOST_BYTES:
            raise ValueError(
                f'the launch description takes {len(line)} bytes, at most {MOST_BYTES} are allowed')
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                pass  # a launch file may have closed or replaced it
        try:
            self._connection.sendall(line)
        except OSError as error:
            raise Ended from error


class Host:
    """Answers the requests, and asks the command while it does so."""

    def __init__(self, channel, descriptions):
        self._channel = channel
        self._descriptions = descriptions
        self._thread = get_ident()
        self._started_with = dict(os.environb)
        self._context = LaunchContext(argv=sys.argv[1:])
        self._context._feros_is_host = True
        self._requests = {
            'load': self._load,
            'execute': self._execute,
            'perform': self._perform,
            'holds': self._holds,
            'iterate': self._iterate,
            'matches': self._matches,
            'react': self._react,
        }
        set_current(self._context)
        _link.connect(self.ask)

    def run(self):
        """Answers requests until the command ends."""
        while True:
            self._serve(self._channel.receive())

    def ask(self, question):
        """Sends a question, and returns the answer."""
        if get_ident() != self._thread:
            raise RuntimeError('only the main thread of a launch file can ask `feros launch`')
        if len(self._context._feros_calls) < 2:
            raise RuntimeError('`feros launch` is asked while it does not run a launch file')
        changes = self._context._feros_calls[-1].changes()
        if changes:
            answer = self._exchange({'ask': 'configurations', **changes})
            if 'error' in answer:
                return answer
        return self._exchange(question)

    def _exchange(self, question):
        self._channel.send(question)
        while True:
            message = self._channel.receive()
            if 'ask' not in message:
                return message
            self._serve(message)

    def _serve(self, request):
        """Answers one request."""
        self._set_environment(request.get('environment', {}))
        call = Call(request.get('configurations', {}), dict(request.get('locals', {})))
        calls = self._context._feros_calls
        calls.append(call)
        depth = len(calls)
        changes = {}
        try:
            if 'event' in request:
                call.locals['event'] = self._event(request)
            result = self._requests[request['ask']](request)
            changes = call.changes()
            reply = {'done': {**result, **changes, 'read': sorted(call.configurations.names_read)}}
            self._channel.send(reply)
        except Ended:
            raise
        except BaseException as error:
            changes = changes or call.changes()
            if isinstance(error, SystemExit):
                _reopen_standard_input()
            told = {**self._failure(error, request), **changes}
            told['read'] = sorted(call.configurations.names_read)
            self._channel.send({'failed': told})
        finally:
            del calls[depth - 1:]
        self._tell_caller(changes)

    def _tell_caller(self, changes):
        """Lets the call that waits for an answer see what this call has changed."""
        if len(self._context._feros_calls) < 2:
            return
        caller = self._context._feros_calls[-1]
        for variables in (caller.configurations, caller.sent):
            variables.update(changes.get('set', {}))
            for name in changes.get('unset', ()):
                dict.pop(variables, name, None)
        caller.environment = dict(os.environb)

    def _failure(self, error, request):
        told = failure(error)
        if told['at'] is None and 'id' in request:
            try:
                told['at'] = _wire.at(object_of(request['id']))
            except LookupError:
                pass
        # An error of the command that is a LookupError says that a package is missing.
        is_package = isinstance(error, LookupError) and getattr(error, '_feros_is_whole', False)
        if is_package or isinstance(error, ModuleNotFoundError):
            told['others'] = _other_errors(request.get('path'), error)
        return told

    def _set_environment(self, differences):
        """Makes the environment that with which the process started, with differences."""
        wanted = dict(self._started_with)
        for name, value in differences.items():
            if value is None:
                wanted.pop(os.fsencode(name), None)
            else:
                wanted[os.fsencode(name)] = os.fsencode(value)
        now = dict(os.environb)
        for name in now:
            if name not in wanted:
                del os.environb[name]
        for name, value in wanted.items():
            if now.get(name) != value:
                os.environb[name] = value

    def _load(self, request):
        from launch.launch_description_sources import (
            get_launch_description_from_python_launch_file,
        )

        path = request['path']
        made = self._descriptions.get(path)
        if made is not None:
            return {'entities': _entities.entities(made)}
        description = get_launch_description_from_python_launch_file(path)
        return {'entities': _entities.entities(description)}

    def _execute(self, request):
        made = object_of(request['id'])
        # The command has evaluated the condition, which `visit` evaluates.
        is_visited = not isinstance(made, Action) or not is_method_of_ours(type(made), 'visit')
        entities = made.visit(self._context) if is_visited else made.execute(self._context)
        return self._entities(entities)

    def _entities(self, entities):
        found = _entities.entities(entities)
        return {'entities': [*self._context._feros_calls[-1].performed, *found]}

    def _perform(self, request):
        made = object_of(request['id'])
        text = made.perform(self._context)
        if isinstance(text, PurePath):
            text = str(text)
        if not isinstance(text, str):
            raise TypeError(
                f'`{type(made).__name__}.perform` returns {text!r:.80}: expected a str')
        return {'text': text}

    def _holds(self, request):
        return {'holds': bool(object_of(request['id']).evaluate(self._context))}

    def _iterate(self, request):
        function = object_of(request['id'])
        if 'index' in request:
            values = {'i': request['index']}
        else:
            values = {name: _wire.constant(value) for name, value in request['values']}
        return self._entities(function(**values))

    def _event(self, request):
        event = request['event']
        if event['event'] == 'state':
            from launch_ros.events._received import received
        else:
            from launch.events._received import received
        return received(event)

    def _matches(self, request):
        if 'action' in request:
            asked = object_of(request['action'])
            if 'details' in request:
                asked._feros_details = request['details']
        else:
            asked = self._context._feros_calls[-1].locals['event']
        function = object_of(request['id'])
        if isinstance(function, BaseEventHandler):
            function = function.matches
        return {'matches': bool(function(asked))}

    def _react(self, request):
        event = self._context._feros_calls[-1].locals['event']
        return self._entities(object_of(request['id'])(event, self._context))


def _other_errors(path, error):
    """Returns the errors of other packages and modules that are missing."""
    try:
        from launch._absent_packages import other_errors

        return list(other_errors(path, error))
    except Ended:
        raise
    except BaseException:
        # The launch ends, or its file has changed where Python searches. The first error is told.
        return []


def _reopen_standard_input():
    """Undoes what `exit()` does before it raises its exception."""
    if sys.stdin is not None and sys.stdin.closed:
        sys.stdin = open(os.devnull, encoding='utf-8')


def serve(connection, descriptions):
    """Serves the command until it ends. `descriptions` are launch descriptions that exist already,
    by the paths for which they stand."""
    # A handler, unlike SIG_IGN, does not pass to the children of launch files.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    channel = Channel(connection)
    try:
        greeting = channel.receive()
        add_site_packages(greeting.get('prefixes', ()))
        sys.argv[:] = greeting.get('argv', sys.argv)
        channel.send({'protocol': PROTOCOL, 'python': '.'.join(map(str, sys.version_info[:3]))})
        Host(channel, descriptions).run()
    except Ended:
        pass


if __name__ == '__main__':
    serve(take_socket(), {})
