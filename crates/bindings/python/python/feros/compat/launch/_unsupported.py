"""What stock ROS 2 has, a launch file can import or pass, and Feros does not do.

The classes take their errors from here, and `scripts/count_launch_names.py` counts these names and
keywords as missing.
"""

from typing import Dict

NO_SERVICE = (
    'Feros has no LaunchService: give the file a function `generate_launch_description`,'
    ' and run it with `feros launch FILE`')
NO_LOOP = (
    '`feros launch` has no event loop of asyncio: return a TimerAction, register an event handler,'
    ' or start a process')
NO_COROUTINE = (
    '`feros launch` has no event loop of asyncio: write `OpaqueFunction`, a `TimerAction`, or an'
    ' `ExecuteProcess`')
NO_OUTPUT = (
    '`feros launch` does not keep the output of processes: write `output="log"`, and read the file'
    ' in the log folder')
NO_TAGS = (
    '`feros launch` reads XML and YAML files itself, and does not give {} to Python: write the'
    ' action in a launch file in Python')
NO_EFFECT = (
    '`{}` has no effect in Feros, whose lines begin with the name of the process;'
    ' `feros launch --print` shows the commands')

UNSUPPORTED: Dict[str, str] = {
    'launch.LaunchContext.add_completion_future': NO_LOOP,
    'launch.LaunchContext.asyncio_loop': NO_LOOP,
    'launch.LaunchService': NO_SERVICE,
    'launch.actions.ExecuteLocal.get_stderr': NO_OUTPUT,
    'launch.actions.ExecuteLocal.get_stdout': NO_OUTPUT,
    'launch.actions.OpaqueCoroutine': NO_COROUTINE,
    'launch.frontend.Entity': NO_TAGS.format('a tag'),
    'launch.frontend.Parser': NO_TAGS.format('a tag'),
    'launch.frontend.expose_action': NO_TAGS.format('a tag'),
    'launch.frontend.expose_substitution': NO_TAGS.format('a substitution'),
}
"""The names, with what to write instead."""

UNSUPPORTED_KEYWORDS: Dict[str, str] = {
    'cached_output': NO_OUTPUT,
    'log_cmd': NO_EFFECT.format('log_cmd'),
    'output_format': NO_EFFECT.format('output_format'),
}
"""The keywords, with what to do instead."""
