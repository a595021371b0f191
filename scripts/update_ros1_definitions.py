#!/usr/bin/env python3
"""Writes crates/types/ros1/definitions: the standard packages of ROS 1 as the installed Python packages define them.

It takes only facts (types, names, order and constants), and no comments. Run it with a Python that has the packages of
ROS 1, on Debian /usr/bin/python3 with python3-std-msgs and similar packages. tests/md5sums.tsv gets the checksums that
ROS 1 itself computed, for comparison in the tests.
"""
import importlib
import pathlib

PACKAGES = (
    "actionlib actionlib_msgs bond diagnostic_msgs geometry_msgs move_base_msgs nav_msgs roscpp rosgraph_msgs"
    " sensor_msgs shape_msgs std_msgs std_srvs stereo_msgs tf2_msgs trajectory_msgs visualization_msgs"
).split()
HERE = pathlib.Path(__file__).resolve().parent.parent / "crates/types/ros1"


def facts(full_text):
    """The definition itself, without referenced definitions, comments and blank lines."""
    lines = []
    for line in full_text.split("\n"):
        if line.startswith("=" * 80):
            break
        is_text = line.split("#")[0].split()[:1] == ["string"] and "=" in line.split("#")[0]
        line = line if is_text else line.split("#")[0]
        if line.strip():
            lines.append(" ".join(line.split()))
    return lines


def members(package, kind):
    try:
        module = importlib.import_module(f"{package}.{kind}")
    except ModuleNotFoundError:
        return []
    found = {name: getattr(module, name) for name in dir(module)}
    return sorted((name, c) for name, c in found.items() if isinstance(c, type) and c.__module__.startswith(package))


def main():
    sums = []
    for package in PACKAGES:
        text = []
        for name, message in members(package, "msg"):
            text += [f"MSG: {package}/{name}", *facts(message._full_text), ""]
            sums.append(f"{package}/{name}\tmsg\t{message._md5sum}")
        for name, service in members(package, "srv"):
            if not hasattr(service, "_request_class"):
                continue
            request, response = service._request_class._full_text, service._response_class._full_text
            text += [f"SRV: {package}/{name}", *facts(request), "---", *facts(response), ""]
            sums.append(f"{package}/{name}\tsrv\t{service._md5sum}")
        (HERE / "definitions" / f"{package}.txt").write_text("\n".join(text))
    (HERE / "tests" / "md5sums.tsv").write_text("\n".join(sums) + "\n")


if __name__ == "__main__":
    main()
