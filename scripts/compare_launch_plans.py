#!/usr/bin/env python3
"""Plans launch files of others with stock `launch` and with `feros launch`, and compares the
command lines of the processes.

    scripts/compare_launch_plans.py FEROS STOCK_PYTHON FOLDER [PART...]

FOLDER has clones of repositories; if there are any PARTs, only these files and folders of it are
planned. STOCK_PYTHON is a Python that finds stock `launch` and `launch_ros`; it gets this process's
PYTHONPATH and AMENT_PREFIX_PATH, which Feros does not get. FEROS must not have xacro beside it,
since both get a false one. No process of a launch file is started. The packages of FOLDER are copied
into a prefix, and scripts/plan_with_stock.py adds what is missing there. The actions of a timer
count; the reactions to events, and components, do not.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

ATTEMPTS = 8
SECONDS = 20  # a limit for a file that hangs, not a measure
PLAN_WITH_STOCK = Path(__file__).with_name("plan_with_stock.py")
XACRO = "#!/bin/sh\necho '<robot name=\"robot\"/>'\n"
FORMS = (
    (r"<parameters-\d+>|.*/launch_params_\w+", "<parameters>"),
    (r"\$\(command `.*?`\)|<robot name=\"robot\"/>\n", "<output>"),
    (r"^/tmp/[^/]+$", "<temporary>"),
)


def make_prefix(folder, prefix):
    """Copies the packages of all repositories, and their Python modules, into a prefix."""
    modules = prefix / f"lib/python3.{sys.version_info.minor}/site-packages"
    packages = prefix / "share/ament_index/resource_index/packages"
    for path in (modules, packages, prefix / "bin"):
        path.mkdir(parents=True)
    # Descriptions include files that are not there, and no command line has a description.
    (prefix / "bin/xacro").write_text(XACRO)
    (prefix / "bin/xacro").chmod(0o755)
    for manifest in sorted(folder.rglob("package.xml")):
        try:
            name = ElementTree.parse(manifest).findtext("name", "").strip()
        except ElementTree.ParseError:
            continue
        if not name:
            continue
        if not (packages / name).exists():
            (packages / name).touch()
            shutil.copytree(manifest.parent, prefix / "share" / name)
        for module in (*manifest.parent.glob("*/__init__.py"),
                       *manifest.parent.glob("src/*/__init__.py")):
            name = module.parent.name
            if name not in ("launch", "test", "tests") and not (modules / name).exists():
                shutil.copytree(module.parent, modules / name)
    return modules


def words_of(text, lines):
    """The words of a quoted command line, which goes on in the next lines if a word has them."""
    while True:
        try:
            return shlex.split(text)
        except ValueError:  # a quotation does not end in this line
            text += "\n" + next(lines)


def commands_of(plan):
    """The command lines of a plan that `feros launch --dry-run` printed."""
    found, lines, within = [], iter(plan.splitlines()), None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if within is not None and (not line or indent > within):
            continue
        within = indent if re.match(r" *when (?!it )", line) else None
        if line.lstrip().startswith("command: "):
            words = words_of(line.partition("command: ")[2], lines)
            found.append(shlex.split(words[2]) if words[:2] == ["/bin/sh", "-c"] else words)
    return found


def same_form(commands):
    """Sorts command lines, and removes what means the same in both: the names of temporary files; the
    number of files of parameters, and the word after each `-p`; the output of commands, which a dry
    run does not have; a `--ros-args` before another one or at the end. So parameters are not
    compared, but the files of parameters that a launch file names are."""
    found = []
    for words in commands:
        found.append([])
        for word in words:
            for pattern, text in FORMS:
                word = re.sub(pattern, text, word)
            if found[-1][-1:] == ["-p"]:  # what `SetParameter` gives
                found[-1][-1], word = "--params-file", "<parameters>"
            if word != "--ros-args" or word not in found[-1]:
                found[-1].append(word)
            if found[-1][-2:] == found[-1][-4:-2] == ["--params-file", "<parameters>"]:
                del found[-1][-2:]
        if found[-1][-1:] == ["--ros-args"]:
            found[-1].pop()
    return sorted(found)


def run(words, environment, folder):
    """Runs a program; returns whether it succeeded, its output and its errors."""
    try:
        ended = subprocess.run(words, env=environment, cwd=folder, stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return False, "", f"it did not end within {SECONDS} s"
    return ended.returncode == 0, ended.stdout, ended.stderr


def add_what_lacks(prefix, why):
    """Makes the packages and executables that Feros misses, since stock looks for those of reactions
    only after the event; returns whether there are any."""
    found = re.findall(r"no (?:executable `([^`]+)` in the )?package `([^`]+)`", why)
    for executable, package in found:
        path = prefix / (f"lib/{package}/{executable}" if executable
                         else f"share/ament_index/resource_index/packages/{package}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o755)
        (prefix / "share" / package).mkdir(parents=True, exist_ok=True)
    return bool(found)


def compare(file, feros, stock, environments):
    """Plans a file twice; returns the result and the reason."""
    ours, theirs = environments
    prefix = ours["AMENT_PREFIX_PATH"]
    done, out, errors = run([stock, PLAN_WITH_STOCK, file], theirs, prefix)
    last = out.rpartition("PLANNED ")[2] if "PLANNED " in out else "[{}, []]"
    arguments, commands = json.loads(last)
    words = [f"{name}:={value}" for name, value in arguments.items()]
    for _ in range(ATTEMPTS):
        planned, plan, why = run([feros, "launch", "--dry-run", file, *words], ours, prefix)
        if planned or not add_what_lacks(Path(prefix), why):
            break
    if not done:
        return (("stock fails, Feros plans", (errors or out)[-600:]) if planned
                else ("both fail", why))
    if not planned:
        return "Feros fails", why
    own, other = same_form(commands_of(plan)), same_form(commands)
    if own == other:
        return "same", ""
    return "different", (f"feros {[one for one in own if one not in other]}\n"
                         f"  stock {[one for one in other if one not in own]}")


def files_of(folder, parts):
    """The launch files that parts of a folder are or have."""
    for part in (folder / name for name in parts):
        yield from [part] if part.is_file() else part.rglob("*launch.py")


def main():
    """Plans each file twice; prints each file whose plans are not the same, and the counts."""
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    feros, stock, folder = (Path(word).absolute() for word in sys.argv[1:4])
    count = Counter()
    with tempfile.TemporaryDirectory() as prefix:
        modules = make_prefix(folder, Path(prefix))
        common = {**os.environ, "AMENT_PREFIX_PATH": prefix, "ROS_LOG_DIR": f"{prefix}/log",
                  "PATH": f"{prefix}/bin:{os.environ['PATH']}", "NO_COLOR": "1",
                  "PYTHONHASHSEED": "0"}  # some files have sets of remappings
        path = os.environ.get("PYTHONPATH", "")
        others = os.environ.get("AMENT_PREFIX_PATH", "")
        environments = {**common, "PYTHONPATH": ""}, {
            **common, "PYTHONPATH": f"{path}:{modules}", "AMENT_PREFIX_PATH": f"{prefix}:{others}"}
        for file in sorted(files_of(folder, sys.argv[4:] or [""])):
            result, why = compare(file, feros, stock, environments)
            count[result] += 1
            if result != "same":
                print(f"{result}: {file.relative_to(folder)}\n  {why.strip()}", flush=True)
    print(*(f"{number:5} {result}" for result, number in count.most_common()), sep="\n")


if __name__ == "__main__":
    main()
