"""The process in which a container runs its components in Python.

It takes requests of the container as frames on the socket that is its standard input, as
`crates/client/container/src/python/wire.rs` defines them. Each component has a thread with an
executor of its own. This file runs as a script.
"""

import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, 'compat'))

import difflib  # noqa: E402
import importlib  # noqa: E402
import re  # noqa: E402
import signal  # noqa: E402
import struct  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
import traceback  # noqa: E402
from importlib.metadata import entry_points  # noqa: E402

from ament_index_python._host import take_socket  # noqa: E402
from ament_index_python._prefixes import add_site_packages  # noqa: E402

GROUP = 'rclpy_components'
"""The group of entry points that name components."""
START, STOP, STARTED, REFUSED, UNKNOWN, FAILED, ENDED, NO_CLASS = range(8)
"""The kinds of frames."""
HEAD = struct.Struct('<IB')
"""The head of a frame: the number of bytes after it, and the kind."""
NUMBER = struct.Struct('<Q')
"""The number of the component, the first bytes after the head."""
PATIENCE = 4.0
"""The seconds that all components together may take to end with the process."""


class Ended(BaseException):
    """The container has closed the socket."""


class NoClass(Exception):
    """An entry point names what does not exist."""


class Channel:
    """Frames on the socket."""

    def __init__(self, connection):
        self._connection = connection
        self._reader = connection.makefile('rb')
        self._lock = threading.Lock()

    def _read(self, size):
        data = self._reader.read(size)
        if len(data) != size:
            raise Ended
        return data

    def receive(self):
        """Returns the kind, the number and the content of the next frame."""
        try:
            size, kind = HEAD.unpack(self._read(HEAD.size))
            rest = self._read(size)
        except OSError as error:
            raise Ended from error
        return kind, NUMBER.unpack_from(rest)[0], rest[NUMBER.size:]

    def send(self, kind, number, text=''):
        """Sends a frame. An ended container is no error here: `receive` raises `Ended`."""
        rest = NUMBER.pack(number) + text.encode('utf-8', 'replace')
        try:
            with self._lock:
                self._connection.sendall(HEAD.pack(len(rest), kind) + rest)
        except OSError:
            pass


class Host:
    """The components of this process, and what they share."""

    def __init__(self, channel, threads, arguments):
        self.channel = channel
        self.threads = threads
        self._arguments = arguments
        self._components = {}
        self._lock = threading.Lock()
        self._native_context = None

    def run(self):
        """Serves the container until it closes the socket; then ends the components."""
        try:
            while True:
                kind, number, content = self.channel.receive()
                if kind == START:
                    self._start(number, content)
                elif kind == STOP and number in self._components:
                    self._components.pop(number).stop()
        except Ended:
            self._end()

    def _start(self, number, request):
        component = Component(self, number, request)
        self._components[number] = component
        try:
            component.start()
        except RuntimeError as error:
            self.channel.send(REFUSED, number, f'the component has no thread: {error}')

    def _end(self):
        components = list(self._components.values())
        for component in components:
            component.stop()
        until = time.monotonic() + PATIENCE
        for component in components:
            component.join(max(until - time.monotonic(), 0))
        if any(component.is_alive() for component in components):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(1)  # an orderly end would wait for these threads

    def context_of(self, is_native):
        """Returns the context for a node of the native API or of rclpy. The first call makes
        it."""
        with self._lock:
            if is_native:
                if self._native_context is None or not self._native_context.ok():
                    import feros

                    self._native_context = feros.Context(self._arguments)
                return self._native_context
            import rclpy
            from rclpy.signals import SignalHandlerOptions

            if not rclpy.ok():
                rclpy.init(args=self._arguments, signal_handler_options=SignalHandlerOptions.NO)
            return rclpy.get_default_context()


class Component(threading.Thread):
    """A node, its executor, and the thread that spins it."""

    def __init__(self, host, number, request):
        super().__init__(name=f'component {number}', daemon=True)
        self._host = host
        self._number = number
        self._request = request
        self._lock = threading.Lock()
        self._spinner = None
        self._is_stopping = False
        self._has_ended = False

    def stop(self):
        """Ends the component, and tells the container when it has ended."""
        with self._lock:
            self._is_stopping = True
            spinner, has_ended = self._spinner, self._has_ended
        if has_ended:
            self._send(ENDED)
        elif spinner is not None:
            spinner.stop()

    def run(self):
        """Makes the node and spins it."""
        try:
            spinner = self._make()
        except NoClass as error:
            self._send(NO_CLASS, str(error))
            return
        except BaseException as error:
            self._send(REFUSED, f'Component constructor threw an exception: {described(error)}')
            return
        if spinner is None:
            return
        with self._lock:
            self._spinner = None if self._is_stopping else spinner
        self._send(STARTED, spinner.name)
        if self._spinner is not None:
            self._spin(spinner)
        try:
            spinner.end()
        except BaseException as error:
            spinner.logger.error(f'the end of {spinner.name} failed:\n{trace_of(error)}')
        with self._lock:
            self._spinner, self._has_ended = None, True
            is_stopping = self._is_stopping
        if is_stopping:
            self._send(ENDED)

    def _spin(self, spinner):
        failure = 'the context of its process was shut down'
        try:
            spinner.spin()
        except BaseException as error:
            if type(error).__name__ != 'ExternalShutdownException':
                spinner.logger.error(f'a callback raised an exception:\n{trace_of(error)}')
                failure = f'a callback raised {described(error)}'
        if not self._is_stopping:
            self._send(FAILED, failure)

    def _make(self):
        """Makes the node and returns its spinner, or `None` if Python has no such component."""
        import feros
        from composition_interfaces.srv import LoadNode

        request = feros.deserialize(self._request, LoadNode.Request)
        entry = find(request.package_name, request.plugin_name)
        if entry is None:
            known = names_of(request.package_name)
            text = missing(request.package_name, request.plugin_name, known)
            self._send(NO_CLASS if known else UNKNOWN, text)
            return None
        importlib.invalidate_caches()
        try:
            return self._spinner_of(loaded(entry), request)
        except NoClass:
            raise
        except BaseException as error:
            from rclpy.logging import get_logger

            get_logger(request.package_name).error(
                f'the component {entry.name} was not made:\n{trace_of(error)}')
            raise

    def _spinner_of(self, made_by, request):
        import feros
        from feros import _component_options

        is_native = isinstance(made_by, type) and issubclass(made_by, feros.Node)
        context = self._host.context_of(is_native)
        node = _component_options.make(made_by, context, request)
        spinner = NativeSpinner if isinstance(node, feros.Node) else RclpySpinner
        return spinner(node, self._host.threads)

    def _send(self, kind, text=''):
        self._host.channel.send(kind, self._number, text)


class RclpySpinner:
    """Spins a node of rclpy."""

    def __init__(self, node, threads):
        from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor

        self._node = node
        self.name = node.get_fully_qualified_name()
        self.logger = node.get_logger()
        if threads > 1:
            self._executor = MultiThreadedExecutor(threads, context=node.context)
        else:
            self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(node)

    def spin(self):
        """Runs callbacks until `stop`."""
        self._executor.spin()

    def stop(self):
        """Ends `spin`, from any thread, and does not wait for it."""
        from rclpy.executors import Executor

        # `spin` may still need the threads of the executor.
        Executor.shutdown(self._executor, timeout_sec=0)

    def end(self):
        """Waits for running callbacks, and destroys the node."""
        self._executor.shutdown()
        self._node.destroy_node()


class NativeSpinner:
    """Spins a node of the native API."""

    def __init__(self, node, threads):
        import feros

        self._node = node
        self.name = node.fully_qualified_name
        self.logger = node.logger
        self._executor = feros.Executor(threads=threads)
        self._executor.add_node(node)
        self.spin, self.stop = self._executor.spin, self._executor.stop

    def end(self):
        """Destroys the node."""
        self._executor.remove_node(self._node)
        self._node.destroy()


def find(package, plugin):
    """Returns the entry point of a component, or `None`.

    Its name is the plugin's, or the package's and the plugin's with `::` between them. It belongs to
    the package if its own name begins with the package, or its distribution has that name.
    """
    for entry in entry_points(group=GROUP):
        if entry.name in (plugin, f'{package}::{plugin}') and belongs(entry, package):
            return entry
    return None


def belongs(entry, package):
    """Returns whether an entry point belongs to a package."""
    distribution = entry.dist.name if entry.dist else ''
    return entry.name.startswith(f'{package}::') or normalized(distribution) == normalized(package)


def normalized(name):
    """Returns a name as indexes of packages compare it."""
    return re.sub('[-_.]+', '-', name).lower()


def names_of(package):
    """Returns the names of the entry points of a package."""
    return sorted(entry.name for entry in entry_points(group=GROUP) if belongs(entry, package))


def missing(package, plugin, known):
    """Returns why Python has no such component."""
    others = f'; it has {", ".join(known)}' if known else ''
    return (f'{sys.executable} has no entry point {plugin!r} of the package {package} in the group'
            f' {GROUP}{others}')


def loaded(entry):
    """Returns what an entry point names. Raises `NoClass` if its module or its class is missing."""
    names = f'the entry point `{entry.name} = {entry.value}` names no class: '
    try:
        module = importlib.import_module(entry.module)
    except ModuleNotFoundError as error:
        # Another name is that of a module which the code of the component imports.
        if error.name and f'{entry.module}.'.startswith(f'{error.name}.'):
            raise NoClass(f'{names}there is no module {error.name}') from error
        raise
    found = module
    for name in filter(None, (entry.attr or '').split('.')):
        if not hasattr(found, name):
            near = difflib.get_close_matches(name, dir(found), 1)
            hint = f'; did you mean {near[0]}?' if near else ''
            raise NoClass(f'{names}the module {entry.module} ({module.__file__}) has no {name}{hint}')
        found = getattr(found, name)
    return found


def users_part(error):
    """Returns the traceback from the first frame that is not of this package, if there is one."""
    part = error.__traceback__
    while part is not None and part.tb_frame.f_code.co_filename.startswith(FOLDER):
        part = part.tb_next
    return part


def trace_of(error):
    """Returns the text of a traceback."""
    return ''.join(traceback.format_exception(type(error), error, users_part(error))).rstrip()


def described(error):
    """Returns an exception as one line, with its place."""
    text = ' '.join(f'{type(error).__name__}: {error}'.split()).rstrip(':')
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(FOLDER)
    ]
    return f'{text} ({frames[-1].filename}, line {frames[-1].lineno})' if frames else text


def main():
    """Serves the container until it ends."""
    # A handler, unlike SIG_IGN, does not pass to the children of components.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    channel = Channel(take_socket())
    threads, prefixes, *arguments = sys.argv[1:]
    add_site_packages(filter(None, prefixes.split(os.pathsep)))
    sys.argv[1:] = arguments
    Host(channel, int(threads), arguments).run()


if __name__ == '__main__':
    main()
