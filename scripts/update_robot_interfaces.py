#!/usr/bin/env python3
"""Regenerates interfaces/robots/ and interfaces/robots_of_jazzy/, with their hashes, from the released packages that
interfaces/README.md lists.

    .venv/bin/python scripts/update_robot_interfaces.py [--check]

The script gets each release from its repository by git, and takes interface facts only: types, names, constants and defaults,
in the order of the definition; no comments. The parser of stock ROS 2 then reads the release and the result: both must have
the same facts. The hashes come from the release too: the generator of stock ROS 2 computes them, in the environment that runs
the script, so that tests compare Feros with it. With --check, it prints what would change, and writes nothing.
"""

import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from update_interfaces import strip

INTERFACES = pathlib.Path(__file__).resolve().parent.parent / "interfaces"
README = INTERFACES / "README.md"
# The sections of the table of each folder. The later folder has what differs from the former.
SECTIONS = {"robots": "## Packages of robots", "robots_of_jazzy": "## Packages of robots in Jazzy"}
KINDS = ("msg", "srv", "action")
# A row of the table: package, repository, tag, commit.
ROW = re.compile(r"^\| (\w+) \| ([\w.-]+/[\w.-]+) \| (\S+) \| ([0-9a-f]{12}) \|", re.MULTILINE)


def fail(text):
    sys.exit(f"update_robot_interfaces: {text}")


def definitions(folder):
    return [file for kind in KINDS for file in sorted((folder / kind).glob(f"*.{kind}"))]


def git(folder, *words):
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True, encoding="utf-8").stdout


def release(work, package, repository, tag, commit):
    """Gets the definitions of a release, and returns the folder of its package."""
    clone = work / "releases" / package
    url = f"https://github.com/{repository}"
    # Only the files that are checked out below are transferred: some releases contain recordings.
    options = ["--quiet", "--depth", "1", "--no-checkout", "--filter=blob:none", "--branch", tag]
    subprocess.run(["git", "-c", "advice.detachedHead=false", "clone", *options, url, str(clone)], check=True)
    head = git(clone, "rev-parse", "HEAD")
    if not head.startswith(commit):
        fail(f"{repository}: {tag} is {head[:12]}, but interfaces/README.md names {commit}")
    paths = [pathlib.PurePath(path) for path in git(clone, "ls-tree", "-r", "--name-only", "HEAD").splitlines()]
    git(clone, "checkout", "HEAD", "--", *(str(path) for path in paths if path.name == "package.xml"))
    named = [file for file in clone.rglob("package.xml") if f"<name>{package}</name>" in file.read_text(encoding="utf-8")]
    if len(named) != 1:
        fail(f"{repository}: {tag} has {len(named)} packages {package}")
    folder = named[0].parent
    found = [path for path in paths if (clone / path).parent.parent == folder and path.suffix == f".{path.parent.name}"]
    git(clone, "checkout", "HEAD", "--", *map(str, found))
    if not definitions(folder):
        fail(f"{repository}: the package {package} of {tag} has no definitions")
    return folder


def facts(package, name, text):
    """The facts of a message, as the parser of stock ROS 2 reads them."""
    from rosidl_adapter.parser import parse_message_string

    message = parse_message_string(package, name, text)
    fields = [(str(field.type), field.name, repr(field.default_value)) for field in message.fields]
    return fields, [(item.type, item.name, repr(item.value)) for item in message.constants]


def take(package, folder):
    """Returns the definitions of a package by path, reduced to facts."""
    taken = {}
    for file in definitions(folder):
        whole = file.read_text(encoding="utf-8-sig")
        reduced = strip("\n".join(line.strip() for line in whole.splitlines()))
        parts, reduced_parts = (re.split(r"^---$", text, flags=re.MULTILINE) for text in (whole, reduced))
        for one, other in zip(parts, reduced_parts, strict=True):
            if facts(package, file.stem, one) != facts(package, file.stem, other):
                fail(f"{file}: the reduced definition differs from the whole one")
        taken[f"{file.parent.name}/{file.name}"] = reduced
    return taken


def needed(package, taken):
    """The other packages whose types the definitions use."""
    return set(re.findall(r"^(\w+)/", "".join(taken.values()), re.MULTILINE)) - {package}


def hashes(work, package, folder, described_before):
    """Computes the hashes of all types of a package by the generator of stock ROS 2."""
    from rosidl_adapter.action import convert_action_to_idl
    from rosidl_adapter.msg import convert_msg_to_idl
    from rosidl_adapter.srv import convert_srv_to_idl
    from rosidl_generator_type_description import generate_type_hash

    convert = {"msg": convert_msg_to_idl, "srv": convert_srv_to_idl, "action": convert_action_to_idl}
    idl, described = work / "idl" / package, work / "described"
    with contextlib.redirect_stdout(io.StringIO()):  # the output lists the files that it reads and writes
        for file in definitions(folder):
            kind = file.parent.name
            convert[kind](folder, package, file.relative_to(folder), idl / kind)
    # A later folder replaces an earlier one with the same package.
    places = [pathlib.Path(sys.prefix) / "share", *described_before, described]
    known = [path for place in places if place.is_dir() for path in place.iterdir() if path.is_dir()]
    arguments = {
        "package_name": package,
        "output_dir": str(described / package),
        "idl_tuples": [f"{idl}:{file.relative_to(idl)}" for file in sorted(idl.rglob("*.idl"))],
        "include_paths": [f"{path.name}:{path}" for path in known],
    }
    file = work / "arguments.json"
    file.write_text(json.dumps(arguments))
    rows = {}
    for path in generate_type_hash(str(file)):
        row = json.loads(path.read_text())["type_hashes"][0]
        rows[row["type_name"]] = row["hash_string"]
    return rows


def table(section):
    """The rows of a section of the README, by package."""
    text = README.read_text(encoding="utf-8")
    text = text.split(f"\n{section}\n", 1)[1].split("\n## ", 1)[0]
    return {row[0]: row for row in ROW.findall(text)}


def collect(work, rows_of, described_before):
    """Returns the definitions by path, and the hashes by type, of the packages of a table."""
    folders, taken, files, rows = {}, {}, {}, {}
    for package, row in rows_of.items():
        folders[package] = release(work, *row)
        taken[package] = take(package, folders[package])
    # The hash of a type covers the types to which it refers, so their packages come first.
    waiting = dict(rows_of)
    while waiting:
        ready = [package for package in waiting if not needed(package, taken[package]) & set(waiting)]
        if not ready:
            fail(f"packages that need each other: {', '.join(waiting)}")
        for package in ready:
            del waiting[package]
            rows |= hashes(work, package, folders[package], described_before)
            files |= {f"{package}/{path}": text for path, text in taken[package].items()}
    return files, rows


def update(folder, files, rows, writes):
    """Prints what differs from the files in a folder, and writes it there if `writes`."""
    place = INTERFACES / folder
    known = {str(file.relative_to(place)) for kind in KINDS for file in place.glob(f"*/{kind}/*.{kind}")}
    for path in sorted({*files, *known}):
        target = place / path
        old = target.read_text(encoding="utf-8") if path in known else None
        if old != files.get(path):
            print(f"{'gone' if path not in files else 'new' if old is None else 'changed'}: {folder}/{path}")
        if writes and path in files:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(files[path], encoding="utf-8")
        elif writes:
            target.unlink()
    if writes:
        lines = [f"{name}\t{hash_}\tcomputed\n" for name, hash_ in sorted(rows.items())]
        (place / "type_hashes.tsv").write_text("".join(lines))
    print(f"{folder}: {len(files)} definitions, {len(rows)} type hashes")


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        fail("usage: update_robot_interfaces.py [--check]")
    os.environ["AMENT_PREFIX_PATH"] = sys.prefix  # the adapter looks for its templates there
    described = []
    with tempfile.TemporaryDirectory() as name:
        for folder, section in SECTIONS.items():
            work = pathlib.Path(name) / folder
            work.mkdir()
            files, rows = collect(work, table(section), described)
            described.append(work / "described")
            update(folder, files, rows, writes=len(sys.argv) == 1)


if __name__ == "__main__":
    main()
