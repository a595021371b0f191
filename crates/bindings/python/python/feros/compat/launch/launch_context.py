"""The state of a launch that functions of launch files read and change."""

import os
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Mapping,
    MutableMapping,
    Optional,
    Protocol,
    Set,
    Text,
)

from . import _link, _wire
from ._handler import Handler, checked_handler
from ._positions import Placed
from ._unsupported import NO_LOOP
from .event import Event, checked_event


class Performable(Protocol):
    """What gives a text in a context: a substitution."""

    def perform(self, context: 'LaunchContext') -> Text:
        """Returns the text."""


class _Request(Placed):
    """One request of a function of a launch file, with a number and a position of its own."""


class Configurations(Dict[Text, Any]):
    """The values of arguments and variables; it notes the names that are read."""

    def __init__(self, values: Dict[Text, Any]) -> None:
        super().__init__(values)
        self.names_read: Set[str] = set()

    def __getitem__(self, name: Text) -> Any:
        self.names_read.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.names_read.add(str(name))
        return super().__contains__(name)

    def get(self, name: Text, default: Any = None) -> Any:
        """Returns a value, or the default."""
        self.names_read.add(name)
        return super().get(name, default)


class Call:
    """One call of a function of a launch file, with the state that it sees and changes."""

    def __init__(self, configurations: Dict[Text, Text], variables: Dict[Text, Any]) -> None:
        self.configurations = Configurations(configurations)
        self.sent = dict(configurations)
        self.environment = dict(_live_environment())
        self.locals = variables
        self.performed: List[Dict[str, Any]] = []

    def changes(self) -> Dict[str, Any]:
        """What has changed since the last question or reply."""
        found: Dict[str, Any] = {}
        now = {name: str(value) for name, value in self.configurations.items()}
        if now != self.sent:
            found['set'] = {
                name: value for name, value in now.items() if self.sent.get(name) != value}
            found['unset'] = [name for name in self.sent if name not in now]
            self.sent = now
        environment = _live_environment()
        if environment != self.environment:
            before, self.environment = self.environment, dict(environment)
            changed: Dict[str, Optional[str]] = {
                os.fsdecode(name): os.fsdecode(value) for name, value in environment.items()
                if before.get(name) != value}
            changed.update((os.fsdecode(name), None) for name in before if name not in environment)
            found['environment'] = changed
        return found


def _live_environment() -> Mapping[bytes, bytes]:
    """The environment; a comparison with the dict within `os.environ` needs no copy of it."""
    return getattr(os.environ, '_data', os.environb)


class _Locals:
    """The local variables as attributes."""

    def __init__(self, values: Dict[Text, Any]) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: Text) -> Any:
        raise AttributeError(
            f"the local variables have no `{name}`, only: {', '.join(sorted(self.__dict__))}")

    def __setattr__(self, name: Text, value: Any) -> None:
        raise AttributeError(
            f'the local variable `{name}` cannot be set here: call `context.extend_locals`')


class LaunchContext:
    """The state of a launch.

    A context that a launch file makes itself has variables of its own.
    """

    def __init__(
        self, *, argv: Optional[Iterable[Text]] = None, noninteractive: bool = False,
    ) -> None:
        self.__argv = [] if argv is None else list(argv)
        self.__noninteractive = noninteractive
        self.__globals: Dict[Text, Any] = {}
        self._feros_calls = [Call({}, {})]
        self._feros_is_host = False

    @property
    def argv(self) -> List[Text]:
        """The arguments of the launch."""
        return self.__argv

    @property
    def noninteractive(self) -> bool:
        """Whether the launch has no terminal."""
        return self.__noninteractive

    @property
    def is_shutdown(self) -> bool:
        """Whether the launch ends; after that no function of a launch file is called."""
        return False

    @property
    def launch_configurations(self) -> Dict[Text, Text]:
        """The values of arguments and variables."""
        return self._feros_calls[-1].configurations

    @property
    def environment(self) -> MutableMapping[Text, Text]:
        """The environment of processes that are started after this."""
        return os.environ

    def extend_globals(self, extensions: Dict[Text, Any]) -> None:
        """Adds variables that all later calls see."""
        self.__globals.update(extensions)

    def extend_locals(self, extensions: Dict[Text, Any]) -> None:
        """Adds variables that this call sees."""
        self._feros_calls[-1].locals.update(extensions)

    def get_locals_as_dict(self) -> Dict[Text, Any]:
        """Returns the variables of this call, and those of all calls."""
        return {**self.__globals, **self._feros_calls[-1].locals}

    @property
    def locals(self) -> Any:
        """The variables of this call, and those of all calls, as attributes."""
        return _Locals(self.get_locals_as_dict())

    def perform_substitution(self, substitution: Performable) -> Text:
        """Returns the text of a substitution."""
        return substitution.perform(self)

    def would_handle_event(self, event: Event) -> bool:
        """Returns whether a handler waits for an event; `feros launch` decides that later."""
        return True

    def register_event_handler(
        self, event_handler: Handler, append: bool = False,
    ) -> None:
        """Registers a handler."""
        handler = checked_handler(event_handler, 'RegisterEventHandler')
        self._feros_request(handler._feros_registration)

    def unregister_event_handler(self, event_handler: Handler) -> None:
        """Removes a handler."""
        handler = checked_handler(event_handler, 'UnregisterEventHandler')
        self._feros_request(handler._feros_removal)

    def emit_event_sync(self, event: Event) -> None:
        """Adds an event to the queue of events."""
        self._feros_request(checked_event(event)._feros_emission)

    async def emit_event(self, event: Event) -> None:
        """Adds an event to the queue of events."""
        self.emit_event_sync(event)

    def add_completion_future(self, completion_future: Any) -> None:
        """Raises `NotImplementedError`."""
        raise NotImplementedError(NO_LOOP)

    @property
    def asyncio_loop(self) -> Any:
        """Raises `NotImplementedError`."""
        raise NotImplementedError(NO_LOOP)

    def _feros_ask(self, question: Dict[str, Any]) -> Any:
        """Asks `feros launch` about the state of this context."""
        if not self._feros_is_host:
            question['configurations'] = self._feros_calls[-1].sent = {
                name: str(value) for name, value in self.launch_configurations.items()}
        return _link.ask(question)

    def _feros_text(self, template: Any) -> Text:
        """Asks `feros launch` for the text that data give."""
        return str(self._feros_ask({'ask': 'text', 'template': template}))

    def _feros_request(self, data: Callable[[], Dict[str, Any]]) -> None:
        """Notes what a function of a launch file requests."""
        with _wire.in_entity:
            self._feros_perform(_wire.present(_wire.numbered(_Request(), data())))

    def _feros_perform(self, data: Dict[str, Any]) -> None:
        """Notes an action, which is performed when the calling function has returned."""
        if not self._feros_is_host:
            raise RuntimeError(
                'an action is executed in a context that the launch file made: return the action,'
                ' or execute it in the context that `feros launch` gave')
        self._feros_calls[-1].performed.append(data)


_host: Optional[LaunchContext] = None


def current() -> Optional[LaunchContext]:
    """The context of `feros launch`; `None` in other processes."""
    return _host


def set_current(context: Optional[LaunchContext]) -> None:
    """Sets the context of `feros launch`."""
    global _host
    _host = context
