"""Actions that start a process."""

from typing import Any, Dict, Iterable, List, Mapping, Optional, Text, Union

from .. import _link, _wire
from .._entities import listed, reaction
from .._text import flag, normalize_to_list_of_substitutions, some
from .._unsupported import NO_EFFECT, NO_OUTPUT
from ..action import KnownAction
from ..descriptions import Executable
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ._events import checked_reaction

_STREAMS = ('stdout', 'stderr', 'both')
_SINKS = ('screen', 'log', 'own_log')


def _output(output: Any) -> Any:
    """Returns the parts of a text, or the sinks of each stream."""
    if not isinstance(output, Mapping):
        return normalize_to_list_of_substitutions(output)
    found: Dict[str, List[str]] = {}
    for stream, sinks in output.items():
        if stream not in _STREAMS:
            raise ValueError(f"`output` has {stream!r}: expected {', '.join(_STREAMS)}")
        found[stream] = [sinks] if isinstance(sinks, str) else sorted(sinks)
        for sink in found[stream]:
            if sink not in _SINKS:
                raise ValueError(f"`output` has {sink!r}: expected {', '.join(_SINKS)}")
    return found


class ExecuteLocal(KnownAction):
    """Starts a process on this machine."""

    def __init__(
        self,
        *,
        process_description: Executable,
        shell: bool = False,
        sigterm_timeout: Optional[SomeSubstitutionsType] = None,
        sigkill_timeout: Optional[SomeSubstitutionsType] = None,
        emulate_tty: Optional[bool] = None,
        output: Union[SomeSubstitutionsType, Mapping[Text, Any], None] = None,
        output_format: Optional[Text] = None,
        cached_output: bool = False,
        log_cmd: bool = False,
        on_exit: Any = None,
        respawn: Union[bool, SomeSubstitutionsType] = False,
        respawn_delay: Optional[float] = None,
        respawn_max_retries: int = -1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not isinstance(process_description, Executable):
            raise TypeError(
                f'`process_description` is {process_description!r:.80}: expected an Executable')
        self.__process_description = process_description
        self.__shell = flag(shell)
        self.__sigterm_timeout = None if sigterm_timeout is None else some(sigterm_timeout)
        self.__sigkill_timeout = None if sigkill_timeout is None else some(sigkill_timeout)
        self.__emulate_tty = flag(emulate_tty)
        self.__output = None if output is None else _output(output)
        self.__output_format = output_format
        self.__log_cmd = log_cmd
        self.__on_exit = None if on_exit is None else checked_reaction(on_exit, 'on_exit')
        self.__respawn = flag(respawn)
        self.__respawn_delay = None if respawn_delay is None else some(respawn_delay)
        self.__respawn_max_retries = None if respawn_max_retries == -1 else some(
            respawn_max_retries)
        self._feros_details: Optional[Dict[str, Any]] = None
        self._feros_return_code: Optional[int] = None

    @property
    def process_description(self) -> Executable:
        """What is started."""
        return self.__process_description

    @property
    def shell(self) -> Any:
        """Whether a shell starts the process."""
        return self.__shell

    @property
    def emulate_tty(self) -> Any:
        """Whether the process writes to a terminal."""
        return self.__emulate_tty

    @property
    def output(self) -> Any:
        """Where the output goes."""
        return self.__output

    @property
    def sigterm_timeout(self) -> Optional[List[Substitution]]:
        """The seconds between SIGINT and SIGTERM."""
        return self.__sigterm_timeout

    @property
    def sigkill_timeout(self) -> Optional[List[Substitution]]:
        """The seconds between SIGTERM and SIGKILL."""
        return self.__sigkill_timeout

    @property
    def process_details(self) -> Optional[Dict[str, Any]]:
        """The command line, number and name of the process, once a handler knows them."""
        return self._feros_details

    @property
    def return_code(self) -> Optional[int]:
        """The exit code, once a handler knows it."""
        return self._feros_return_code

    def get_sub_entities(self) -> List[LaunchDescriptionEntity]:
        """Returns the actions of `on_exit`."""
        return listed(self.__on_exit)

    def get_stdout(self) -> bytes:
        """Raises `NotImplementedError`."""
        raise NotImplementedError(NO_OUTPUT)

    def get_stderr(self) -> bytes:
        """Raises `NotImplementedError`."""
        raise NotImplementedError(NO_OUTPUT)

    def _feros_options(self) -> Dict[str, Any]:
        """The options that all processes have, as data."""
        for name, value in (
                ('output_format', self.__output_format), ('log_cmd', self.__log_cmd)):
            if value and _link.is_connected():
                _link.ask({'ask': 'warn', 'at': _wire.at(self), 'text': NO_EFFECT.format(name)})
        output = self.__output
        description = self.__process_description
        return {
            'cwd': _wire.optional(description.cwd),
            'env': None if description.env is None else _wire.pairs(description.env),
            'additional_env': None if description.additional_env is None
            else _wire.pairs(description.additional_env),
            'prefix': _wire.optional(description.prefix),
            'output': output if isinstance(output, dict) else _wire.optional(output),
            'respawn': _wire.flag(self.__respawn),
            'respawn_delay': _wire.optional(self.__respawn_delay),
            'respawn_max_retries': _wire.optional(self.__respawn_max_retries),
            'sigterm_timeout': _wire.optional(self.__sigterm_timeout),
            'sigkill_timeout': _wire.optional(self.__sigkill_timeout),
            'emulate_tty': _wire.flag(self.__emulate_tty),
            'on_exit': reaction(self.__on_exit),
        }

    def _feros_data(self) -> Dict[str, Any]:
        description = self.__process_description
        return {
            'do': 'execute',
            'cmd': [_wire.template(word) for word in description.cmd + description.arguments],
            'name': _wire.optional(description.name),
            'shell': _wire.flag(self.__shell),
            **self._feros_options(),
        }


class ExecuteProcess(ExecuteLocal):
    """Starts a process with a command line."""

    def __init__(
        self,
        *,
        cmd: Iterable[SomeSubstitutionsType],
        prefix: Optional[SomeSubstitutionsType] = None,
        name: Optional[SomeSubstitutionsType] = None,
        cwd: Optional[SomeSubstitutionsType] = None,
        env: Optional[Mapping[Any, Any]] = None,
        additional_env: Optional[Mapping[Any, Any]] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            process_description=Executable(
                cmd=cmd, prefix=prefix, name=name, cwd=cwd, env=env,
                additional_env=additional_env),
            **kwargs)

    @property
    def name(self) -> Any:
        """The name of the process in the output."""
        return self.process_description.name

    @property
    def cmd(self) -> List[List[Substitution]]:
        """The words of the command line."""
        return self.process_description.cmd

    @property
    def cwd(self) -> Optional[List[Substitution]]:
        """The working directory."""
        return self.process_description.cwd

    @property
    def env(self) -> Any:
        """The variables that replace the environment."""
        return self.process_description.env

    @property
    def additional_env(self) -> Any:
        """The variables that are added to the environment."""
        return self.process_description.additional_env
