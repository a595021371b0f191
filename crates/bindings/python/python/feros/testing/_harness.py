"""The harness of a test: a domain of its own, and everything that the test starts in it."""

from __future__ import annotations

import contextlib
import os
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator, TypeVar
from xml.sax.saxutils import quoteattr

from feros import _feros
from feros.testing import _graph
from feros.testing._environment import Environment
from feros.testing._launch import Launch, command
from feros.testing._messages import Messages
from feros.testing._spinning import Spinning
from feros.testing._time import SimulatedTime
from feros.testing._waiting import TIMEOUT, Waiting

if TYPE_CHECKING:
    from feros.context import Context
    from feros.endpoints import Publisher
    from feros.node import Node
    from feros.qos import QoSProfile

M = TypeVar("M")
N = TypeVar("N", bound="Node")


class Harness:
    """Tests nodes: within a `with` block, or as the fixture `ros` of pytest.

    The domain belongs to this test alone, and its nodes find only nodes of this host. The
    environment has the domain too, for programs that the test starts and for `rclpy.init()`. At the
    end, the harness ends everything that it has started, and raises exceptions of callbacks.

    `file` is the file of the test: relative paths of launch files begin in its folder.
    """

    def __init__(self, file: str | os.PathLike[str] | None = None) -> None:
        self._file = Path(file) if file is not None else None
        self._environment = Environment()
        self._waiting = Waiting()
        self._closing = contextlib.ExitStack()
        self._domain: Any = None
        self._context: Context | None = None
        self._node: Node | None = None
        self._spinning: list[Spinning] = []
        self._launches: list[Launch] = []
        self._messages: dict[tuple[str, type], Messages[Any]] = {}
        self._publishers: dict[tuple[str, type], Publisher[Any]] = {}
        self._time: SimulatedTime | None = None

    def __enter__(self) -> Harness:
        self._domain = _feros.ReservedDomain()
        self._closing.callback(self._domain.release)
        self._closing.callback(self._environment.restore)
        self._environment.enter_domain(self._domain.id)
        if "ROS_LOG_DIR" not in os.environ:
            logs = self._closing.enter_context(tempfile.TemporaryDirectory(prefix="feros_logs_"))
            self._environment.set("ROS_LOG_DIR", logs)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._closing.close()
        if kind is None:
            self._waiting.raise_failure()

    @property
    def domain_id(self) -> int:
        """The domain of this test."""
        number: int = self._domain.id
        return number

    @property
    def context(self) -> Context:
        """A context in the domain. The first use makes it."""
        if self._context is None:
            from feros.context import Context

            self._context = Context([], domain_id=self.domain_id)
            self._closing.push(self._context)
        return self._context

    @property
    def node(self) -> Node:
        """The test's own node. The first use makes and spins it."""
        if self._node is None:
            # The node adds few endpoints to the graph that the test looks at.
            self._node = self.create_node(
                "feros_test", enable_rosout=False, start_parameter_services=False)
        return self._node

    def create_node(self, name: str, **options: Any) -> Node:
        """Creates a node and spins it; `feros.Node` has the options, such as
        `parameter_overrides` and `use_sim_time`. A node with simulated time shows that of the test
        from the beginning. A client that the node creates can call a service at once for which the
        test has waited."""
        from feros.testing._node import NodeOfTest

        node = self.spin(NodeOfTest(name, context=self.context, **options))
        if self._time is not None:
            self._time.wait_for(node)
        return node

    def spin(self, node: N) -> N:
        """Runs the callbacks of a node on a thread of its own until the end of the test; returns
        the node. The next wait, or the end of the test, raises an exception of a callback.

        Raises `TypeError` for a node of rclpy, which `rclpy.spin` runs on a thread of the test.
        """
        from feros.node import Node

        if not isinstance(node, Node):
            raise TypeError(
                f"`spin` takes nodes of feros, not {type(node).__name__}: run a node of rclpy with "
                "threading.Thread(target=rclpy.spin, args=(node,), daemon=True).start()")
        spinning = Spinning(node, self._waiting)
        self._spinning.append(spinning)
        self._closing.callback(spinning.end)
        return node

    def launch(self, *what: Any, **arguments: Any) -> Launch:
        """Launches a file, a file of a package (two words, as for `feros launch`), a
        `LaunchDescription`, or a list of actions. `arguments` are the arguments of the launch file.

        Raises `LaunchFailed` with the reason if the launch cannot start.
        """
        if not what:
            raise TypeError("`launch` needs a launch file, or a launch description")
        words = [f"{name}:={_word(value)}" for name, value in arguments.items()]
        if all(isinstance(word, (str, os.PathLike)) for word in what):
            names = [os.fspath(word) for word in what]
            first = self._path_of(names[0]) if len(names) == 1 else names[0]
            return self._start(" ".join(names), [first, *names[1:], *words], None)
        if len(what) > 1:
            raise TypeError("`launch` takes one launch description: write a list of actions")
        from feros.testing._description import DescriptionHost

        path = self._file or Path(__file__)
        host = DescriptionHost(what[0], path)
        return self._start(f"launch description of {path.name}", [str(path), *words], host)

    def run(self, *words: Any, **environment: Any) -> Launch:
        """Starts one process, as `feros run` does: an executable of a package with its arguments,
        or a script of Python. The path of another program, such as `./driver`, also works; it may
        be beside the test. `environment` are additional variables."""
        texts = [os.fspath(one) if isinstance(one, os.PathLike) else str(one) for one in words]
        if not texts:
            raise TypeError("`run` needs a package and an executable, a script, or a path")
        is_script, is_path = texts[0].endswith(".py"), "/" in texts[0]
        if is_script or is_path:
            name, texts[0] = Path(texts[0]).stem, self._path_of(texts[0])
        else:
            name = texts[min(1, len(texts) - 1)]
        starter = [] if is_path and not is_script else [command(), "run"]
        variables = {"PYTHONUNBUFFERED": "1"}
        variables.update((key, str(value)) for key, value in environment.items())
        file = _file_of_process(name, [*starter, *texts], variables)
        path = self._closing.enter_context(_written(file))
        return self._start(name, [path], None)

    def _start(self, title: str, words: list[str], host: Any) -> Launch:
        try:
            launch = Launch(self._waiting, title, words, host)
        except OSError:
            if host is not None:
                host.close()
            raise
        self._launches.append(launch)
        self._closing.callback(launch.end)
        launch.wait_until_begun()
        return launch

    def _path_of(self, name: str) -> str:
        """The path of a file beside the test, if there is one."""
        beside = (self._file.parent if self._file is not None else Path()) / name
        return str(beside.absolute()) if beside.is_file() else name

    def listen(
        self, topic: str, cls: type[M], *, qos: int | QoSProfile | None = None,
    ) -> Messages[M]:
        """Subscribes to a topic, unless an earlier call has done so; returns its messages."""
        key = (self.node.resolve_topic_name(topic), cls)
        if key not in self._messages or qos is not None:
            self._messages[key] = Messages(self.node, self._waiting, topic, cls, qos)
        return self._messages[key]

    def expect_message(
        self, topic: str, cls: type[M], timeout: float = TIMEOUT,
        where: Callable[[M], object] | None = None,
    ) -> M:
        """Returns the next message of a topic. The first call for a topic subscribes to it; later
        calls return later messages. `listen` subscribes earlier. With `where`, the call skips
        messages for which `where(message)` is false.

        Raises `NotInTime` if there is no message within `timeout` seconds; the text says what the
        topic has instead.
        """
        try:
            return self.listen(topic, cls).expect(timeout, where)
        except AssertionError as error:
            raise type(error)(f"{error}{self._dead()}") from None

    def publish(
        self, topic: str, message: Any, *, qos: int | QoSProfile = 10, subscriptions: int = 1,
        timeout: float = TIMEOUT,
    ) -> None:
        """Publishes a message as soon as the topic has that many subscriptions."""
        cls = type(message)
        key = (self.node.resolve_topic_name(topic), cls)
        if key not in self._publishers:
            self._publishers[key] = self.node.create_publisher(cls, topic, qos)
        publisher = self._publishers[key]
        self._waiting.until(
            lambda: True if publisher.subscription_count >= subscriptions else None, timeout,
            lambda: self._missing_endpoints(topic, "subscription", subscriptions))
        publisher.publish(message)

    def wait_for_topic(
        self, topic: str, *, publishers: int = 1, subscriptions: int = 0,
        timeout: float = TIMEOUT,
    ) -> None:
        """Waits until a topic has at least that many publishers and subscriptions, not counting
        those of the test's own node."""
        for kind, count in (("publisher", publishers), ("subscription", subscriptions)):
            self._waiting.until(
                lambda: True if len(self._endpoints(topic, kind)) >= count else None, timeout,
                lambda: self._missing_endpoints(topic, kind, count))

    def wait_for_service(self, service: str, *, timeout: float = TIMEOUT) -> None:
        """Waits until a service has a server, which the clients of the nodes that the test spins
        have found."""
        from feros.testing._node import let_clients_find_server

        self._waiting.until(
            lambda: True if _graph.servers(self.node, service) else None, timeout,
            lambda: f"the service {service} has no server"
            f"{_graph.similar(service, self.node.service_names_and_types())}{self._dead()}")
        let_clients_find_server(
            [one.node for one in self._spinning], self.node.resolve_service_name(service))

    def wait_for_node(self, name: str, *, timeout: float = TIMEOUT) -> None:
        """Waits until a node with this full name exists."""
        wanted = "/" + name.strip("/")

        def names() -> dict[str, list[str]]:
            found = self.node.node_names()
            return {f"{space.rstrip('/')}/{base}": [] for base, space in found}

        self._waiting.until(
            lambda: True if wanted in names() else None, timeout,
            lambda: f"there is no node {wanted}{_graph.similar(wanted, names())}{self._dead()}")

    def wait_until(
        self, condition: Callable[[], object], what: str = "the condition", *,
        timeout: float = TIMEOUT,
    ) -> None:
        """Waits until `condition()` is true."""
        self._waiting.until(
            lambda: True if condition() else None, timeout, lambda: f"{what} was never true")

    @property
    def time(self) -> SimulatedTime:
        """Simulated time. It begins with the first use."""
        if self._time is None:
            node = self.node
            self._time = SimulatedTime(
                node, self._waiting,
                lambda: [one.node for one in self._spinning if one.node is not node])
        return self._time

    def reports(self) -> list[tuple[str, str]]:
        """The output of each launch, with its title."""
        return [(launch.title, launch.output()) for launch in self._launches]

    def _endpoints(self, topic: str, kind: str) -> list[dict[str, Any]]:
        of_kind = _graph.publishers if kind == "publisher" else _graph.subscriptions
        return of_kind(self.node, topic)

    def _missing_endpoints(self, topic: str, kind: str, count: int) -> str:
        found = self._endpoints(topic, kind)
        name = self.node.resolve_topic_name(topic)
        hint = _graph.similar(name, self.node.topic_names_and_types())
        has = f"only {_graph.described(found)}" if found else f"no {kind}"
        wanted = "" if count == 1 else f" of {count}"
        return f"{name} has {has}{wanted}{'' if found else hint}{self._dead()}"

    def _dead(self) -> str:
        """The processes that ended by themselves: a possible reason why something is missing."""
        found = [
            f"{process.name} ended with {process.returncode}"
            for launch in self._launches for process in launch.processes.values()
            if process.returncode is not None and not process.was_asked]
        return f"; {', '.join(found)}" if found else ""


@contextlib.contextmanager
def _written(text: str) -> Iterator[str]:
    """The path of a temporary launch file."""
    with tempfile.NamedTemporaryFile("w", suffix=".launch.xml") as file:
        file.write(text)
        file.flush()
        yield file.name


def _file_of_process(name: str, words: list[str], environment: dict[str, str]) -> str:
    """A launch file that starts one process."""
    variables = "".join(
        f"<env name={_attribute(key)} value={_attribute(value)}/>"
        for key, value in environment.items())
    command_line = _attribute(shlex.join(words))
    return (f"<launch><executable name={_attribute(name)} cmd={command_line} output='screen'>"
            f"{variables}</executable></launch>")


def _attribute(text: str) -> str:
    """A text as an attribute, without substitutions."""
    return quoteattr(text.replace("\\", "\\\\").replace("$(", "\\$("))


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
