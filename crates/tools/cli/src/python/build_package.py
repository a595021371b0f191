# Builds a Python package for `feros build`: the package's own build backend makes a wheel, and this
# program unpacks it into a folder in the form of a prefix. The argument is a JSON object. The
# result, or the reason of a failure, goes to a file as JSON.
import ast
import importlib
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import warnings
import zipfile

WRAPPER = """#!/usr/bin/env python3
# Made by `feros build`: calls {target}.
import os
import sys

prefix = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
sys.path[0] = os.path.join(prefix, {site!r})
messages = os.path.join(prefix, "lib", "feros", "python")
if os.path.isdir(messages) and messages not in sys.path:
    sys.path.append(messages)
sys.argv[0] = __file__

from {module} import {first}

if __name__ == "__main__":
    sys.exit({attribute}())
"""


class Refused(Exception):
    """The reason why there is no package."""


def build(task, stage):
    """Puts the package into a folder in the form of a prefix; returns the folder of its modules."""
    work, package = pathlib.Path(task["work"]), task["package"]
    # setuptools writes between the sources unless told otherwise.
    extra = work / "setuptools.cfg"
    extra.write_text(f"[build]\nbuild_base = {work}/build\n[egg_info]\negg_base = {work}\n")
    os.environ["DIST_EXTRA_CONFIG"] = str(extra)
    os.chdir(task["folder"])
    backend = backend_of(task)
    try:
        if backend is not None and has_all(backend):
            return unpack(work / backend.build_wheel(str(work), {}, None), stage, package)
        if backend is not None and task["backend"].startswith("setuptools."):
            return install(stage, package)
    except SystemExit as end:
        raise Refused(f"its build ended with {end}") from end
    return unpack(wheel_of_pip(task), stage, package)


def install(stage, package):
    """Does without a wheel, which setuptools before version 70 cannot make alone."""
    import setuptools

    site = "lib/python3/site-packages"
    sys.argv = [
        "setup.py", "--quiet", "install", "--single-version-externally-managed",
        f"--prefix={stage}", f"--install-lib={stage / site}", f"--install-data={stage}",
        f"--install-scripts={stage}/scripts", f"--record={stage}/record", "--no-compile",
    ]
    sys.path.insert(0, os.getcwd())
    if os.path.isfile("setup.py"):
        import runpy
        runpy.run_path("setup.py", run_name="__main__")
    else:
        setuptools.setup()
    (stage / "record").unlink(missing_ok=True)
    for script in (stage / "scripts").glob("*"):
        target = stage / "lib" / package / script.name
        if script.name not in {name for name, _, _ in commands(stage / site)}:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(with_own_python(script.read_bytes()))
            target.chmod(0o755)
    shutil.rmtree(stage / "scripts", ignore_errors=True)
    if any((stage / site).rglob("*.so")):
        versioned = f"lib/python3.{sys.version_info.minor}/site-packages"
        (stage / versioned).parent.mkdir(parents=True)
        (stage / site).rename(stage / versioned)
        return versioned
    return site


def backend_of(task):
    """The build backend, if this Python has it."""
    sys.path[:0] = task["backend_path"]
    module, _, attributes = task["backend"].partition(":")
    try:
        backend = importlib.import_module(module)
    except ImportError:
        return None
    for attribute in filter(None, attributes.split(".")):
        backend = getattr(backend, attribute)
    return backend


def has_all(backend):
    """Whether this Python has the packages that the backend needs for a wheel."""
    needs = getattr(backend, "get_requires_for_build_wheel", lambda settings: [])({})
    names = [need.split(";")[0].split("=")[0].split(">")[0].split("<")[0].strip() for need in needs]
    return all(importlib.util.find_spec(name.replace("-", "_")) for name in names)


def wheel_of_pip(task):
    """Lets pip make the wheel, in an environment that pip makes for the backend."""
    folder = task["folder"]
    work = pathlib.Path(task["work"]) / "pip"
    shutil.rmtree(work, ignore_errors=True)
    # A copy, since setuptools would write between the sources.
    ignored = shutil.ignore_patterns("build", "*.egg-info", "__pycache__", ".git")
    shutil.copytree(folder, work / "sources", ignore=ignored)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet"]
    os.environ.pop("DIST_EXTRA_CONFIG", None)
    ended = subprocess.run([*command, "--wheel-dir", str(work), str(work / "sources")])
    wheels = list(work.glob("*.whl"))
    if ended.returncode != 0 or len(wheels) != 1:
        raise Refused(
            f"this Python lacks {task['backend'].split(':')[0]} or what it needs, and pip cannot get"
            f" it: `{os.path.basename(sys.executable)} -m pip install setuptools wheel`")
    return wheels[0]


def unpack(wheel, stage, package):
    """Unpacks a wheel into a folder in the form of a prefix."""
    is_pure = wheel.stem.endswith("-none-any")
    version = "" if is_pure else f".{sys.version_info.minor}"
    site = f"lib/python3{version}/site-packages"
    folders = {
        "data": stage, "scripts": stage / "lib" / package, "headers": stage / "include" / package,
        "purelib": stage / site, "platlib": stage / site,
    }
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            parts = pathlib.PurePosixPath(entry.filename).parts
            if entry.is_dir() or not parts:
                continue
            if parts[0].endswith(".data") and len(parts) > 2:
                kind, target = parts[1], folders[parts[1]].joinpath(*parts[2:])
            else:
                kind, target = "purelib", (stage / site).joinpath(*parts)
            if ".." in parts:
                raise Refused(f"its wheel has the file {entry.filename}")
            if kind == "data" and list(parts[2:4]) == ["lib", package]:
                kind = "scripts"
            target.parent.mkdir(parents=True, exist_ok=True)
            content = archive.read(entry)
            if kind == "scripts":
                content = with_own_python(content)
            target.write_bytes(content)
            is_program = kind == "scripts" or entry.external_attr >> 16 & 0o111
            target.chmod(0o755 if is_program else 0o644)
    return site


def with_own_python(content):
    """A script that starts with the Python on PATH."""
    first, _, rest = content.partition(b"\n")
    if first.startswith(b"#!") and b"python" in first:
        return b"#!/usr/bin/env python3\n" + rest
    return content


COMMANDS = ("console_scripts", "gui_scripts")
COMPONENTS = "rclpy_components"


def entry_points(site):
    """The entry points that are commands or components: the group, the name, the module, and the
    function or class."""
    for listed in site.glob("*-info/entry_points.txt"):
        section = ""
        for line in listed.read_text(encoding="utf-8").splitlines():
            line = line.strip()
            if line.startswith("["):
                section = line.strip("[] ")
            elif "=" in line and section in (*COMMANDS, COMPONENTS):
                name, target = (part.strip() for part in line.split("=", 1))
                module, _, attribute = target.split("[")[0].strip().partition(":")
                if not attribute or "/" in name:
                    last = "CLASS" if section == COMPONENTS else "FUNCTION"
                    raise Refused(
                        f"its entry point {line!r} does not have the form NAME = MODULE:{last}")
                yield section, name, module, attribute


def commands(site):
    """The entry points that are commands, as names with modules and functions."""
    return [found[1:] for found in entry_points(site) if found[0] in COMMANDS]


def write_executables(stage, site, package):
    """Writes a program for each entry point that is a command."""
    for name, module, attribute in commands(stage / site):
        program = stage / "lib" / package / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(WRAPPER.format(
            target=f"{module}:{attribute}", site=site, module=module, attribute=attribute,
            first=attribute.split(".")[0]))
        program.chmod(0o755)


def unusable(site):
    """Yields a sentence for each module and each entry point that cannot work."""
    trees = {}
    for file in sorted(site.rglob("*.py")):
        name = file.relative_to(site)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of code that works
                trees[name] = ast.parse(file.read_bytes(), str(name))
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 1
            yield f"{name}:{line}: Python does not understand it: {getattr(error, 'msg', error)}"
    for group, name, module, attribute in entry_points(site):
        fails = (f"the component {name} cannot be loaded" if group == COMPONENTS
                 else f"the executable {name} cannot start")
        parts = module.split(".")
        if not any(parts[0] in (file.name, file.stem) for file in site.glob("*")):
            continue  # a module of another package
        path = pathlib.PurePath(*parts)
        files = [path.with_suffix(".py"), path / "__init__.py"]
        if not any((site / file).is_file() for file in files):
            if not list((site / path.parent).glob(f"{path.name}.*.so")):
                yield f"{fails}: there is no module {module}"
            continue
        tree = next((trees[file] for file in files if file in trees), None)
        wanted = attribute.split(".")[0]
        if tree is not None and not has_name(tree, wanted):
            yield f"{fails}: {module} has no {wanted}"


def has_name(tree, name):
    """Whether a module may have a name: it is written somewhere, or comes by `import *`."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names = [node.name]
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.asname or alias.name for alias in node.names]
        elif isinstance(node, ast.Name):
            names = [node.id]
        elif isinstance(node, ast.Constant):  # such as in globals()["name"]
            names = [node.value]
        else:
            continue
        if name in names or "*" in names:
            return True
    return False


def main():
    task = json.loads(sys.argv[1])
    sys.argv[1:] = []
    sys.path[:] = [folder for folder in sys.path if folder]  # not the working directory
    stage = pathlib.Path(task["stage"])
    result = {}
    try:
        site = build(task, stage)
        write_executables(stage, site, task["package"])
        result["warnings"] = list(unusable(stage / site))
    except Refused as refused:
        result["refused"] = str(refused)
    except SyntaxError as error:
        # setuptools compiles setup.py without its name.
        file = "setup.py" if error.filename == "<string>" else error.filename
        result["refused"] = f"{file}:{error.lineno}: {error.msg}"
    except Exception as error:
        import traceback
        traceback.print_exc()
        result["refused"] = f"{type(error).__name__}: {error}"
    pathlib.Path(task["result"]).write_text(json.dumps(result))


main()
