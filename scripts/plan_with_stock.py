"""Plans one launch file with stock `launch`, for scripts/compare_launch_plans.py.

    STOCK_PYTHON scripts/plan_with_stock.py FILE

Prints, after the word PLANNED, the arguments that the file requires and the command lines of its
processes as JSON. Nothing is started. A required argument gets a value. What the file names and the
prefixes lack (packages, executables, included files) is made in the first one, empty.
"""

import json
import os
import re
import shlex
import sys
from pathlib import Path
from unittest.mock import MagicMock

import ament_index_python
import ament_index_python.packages as packages

PREFIX = Path(os.environ["AMENT_PREFIX_PATH"].partition(":")[0]).resolve()


def add(path, text=""):
    """Makes a file of the prefix, unless it is there."""
    if not path.exists() and PREFIX in path.resolve().parents:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)


def find_or_add(name, find=packages.get_package_prefix):
    """Returns the prefix of a package, which is made if it is not there."""
    try:
        return find(name)
    except LookupError:
        add(PREFIX / "share/ament_index/resource_index/packages" / name)
        add(PREFIX / "share" / name / "package.xml", f"<package><name>{name}</name></package>")
        return find(name)


# The classes of stock take these functions when they are imported.
packages.get_package_prefix = ament_index_python.get_package_prefix = find_or_add
import launch_ros.ros_adapters  # noqa: E402

launch_ros.ros_adapters.get_ros_node = lambda context: MagicMock()
from launch import (  # noqa: E402
    LaunchContext,
    LaunchDescription,
    LaunchDescriptionSource,
    LaunchService,
)
from launch.actions import ExecuteLocal, IncludeLaunchDescription, TimerAction  # noqa: E402
from launch.launch_description_sources import AnyLaunchDescriptionSource  # noqa: E402
from launch.utilities import perform_substitutions  # noqa: E402
from launch_ros.actions import LifecycleNode, LoadComposableNodes  # noqa: E402
from launch_ros.substitutions import ExecutableInPackage  # noqa: E402

started = []


def is_empty(path):
    """Whether stock wrote a file of parameters without a parameter."""
    return "/launch_params_" in path and re.search(r"ros__parameters: {}\s*$", Path(path).read_text())


def find_executable(self, context, stock=ExecutableInPackage.perform):
    package, name = (perform_substitutions(context, one) for one in (self.package, self.executable))
    find_or_add(package)
    add(PREFIX / "lib" / package / name, "#!/bin/sh\n")
    return stock(self, context)


def include(self, context, stock=LaunchDescriptionSource.get_launch_description):
    path = self._LaunchDescriptionSource__location
    path = Path(path if isinstance(path, str) else perform_substitutions(context, path))
    python = "from launch import LaunchDescription as generate_launch_description\n"
    add(path, python if path.suffix == ".py" else "<launch/>")
    return stock(self, context)


async def start(self, context):
    words = list(self.process_details["cmd"])
    for at in reversed(range(1, len(words))):
        if words[at - 1] == "--params-file" and is_empty(words[at]):
            del words[at - 1:at + 1]
    started.append(shlex.split(" ".join(words)) if self.shell else words)
    self._ExecuteLocal__cleanup()


def main():
    """Plans the file, and prints the result."""
    ExecutableInPackage.perform = find_executable
    LaunchDescriptionSource.get_launch_description = include
    ExecuteLocal._ExecuteLocal__execute_process = start
    LifecycleNode._on_change_state_event = lambda self, context: None
    LoadComposableNodes.execute = lambda self, context: None
    TimerAction.execute = lambda self, context: list(self.actions)
    source = AnyLaunchDescriptionSource(sys.argv[1])
    declared = source.get_launch_description(LaunchContext(argv=[])).get_launch_arguments()
    arguments = {
        one.name: (one.choices or ["a"])[0] for one in declared if one.default_value is None}
    service = LaunchService(argv=[])
    service.include_launch_description(LaunchDescription([
        IncludeLaunchDescription(source, launch_arguments=arguments.items())]))
    failed = service.run()
    print("PLANNED " + json.dumps([arguments, started]))
    sys.exit(failed)


if __name__ == "__main__":
    main()
