#!/usr/bin/env python3
"""Builds an interface package of interfaces/ for the stock ROS 2 of this Python environment, for which no wheel exists.

    .venv/bin/python scripts/build_interfaces_for_ros2.py composition_interfaces

The environment's own generators make C, type supports and Python from the definitions; the compiler of the system builds
libraries from them. The results go to the folders of the wheels (lib/ and site-packages/), so that stock programs find them
like any package. The script does nothing if the installed package was made from the same definitions, generators and script.
"""

import contextlib
import hashlib
import importlib.metadata as metadata
import io
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import SimpleNamespace

ENVIRONMENT = Path(sys.prefix)
REPOSITORY = Path(__file__).resolve().parent.parent

# Type supports that stock nodes load, with the further libraries that each type support links.
TYPE_SUPPORTS = {
    "introspection_c": ["rosidl_typesupport_introspection_c"],
    "fastrtps_c": ["rosidl_typesupport_fastrtps_c", "rosidl_typesupport_fastrtps_cpp", "fastcdr"],
}


def fail(text):
    sys.exit(f"setup: error: {text}")


def stamp(package, definitions):
    """The inputs that determine the result: definitions, script, generators, Python."""
    hasher = hashlib.sha256(Path(__file__).read_bytes())
    for path in definitions:
        hasher.update(f"{path.name}\0".encode() + path.read_bytes())
    for generator in ("c", "py", "type_description"):
        hasher.update(metadata.version(f"rosidl_generator_{generator}").encode())
    hasher.update(f"{package} {sys.version} {ENVIRONMENT}".encode())
    return hasher.hexdigest()


def generate(package, definitions, work):
    """Generates the sources, in a folder for each kind: c, cpp, py, and the type supports."""
    # The prefix under which the generators find their templates.
    os.environ["AMENT_PREFIX_PATH"] = str(ENVIRONMENT)
    from rosidl_adapter.srv import convert_srv_to_idl

    idl = work / "idl" / package
    with contextlib.redirect_stdout(io.StringIO()):  # the output lists the files that it reads and writes
        for path in definitions:
            convert_srv_to_idl(path.parents[1], package, Path("srv") / path.name, idl / "srv")
    # The wheels declare each generator twice, which the generators' own command line refuses.
    every = metadata.entry_points
    unique = SimpleNamespace(select=lambda group: {point.name: point for point in every(group=group)}.values())
    metadata.entry_points = lambda: unique
    from rosidl_cli.cli import main

    line = ["rosidl", "generate", "--output-path", str(work / "sources")]
    for kind in ("c", "cpp", "py"):
        line += ["--type", kind]
    for kind in ("c", "fastrtps_cpp", *TYPE_SUPPORTS):
        line += ["--type-support", kind]
    line += ["--include-path", str(ENVIRONMENT / "share"), package]
    sys.argv = line + [f"{idl}:srv/{path.stem}.idl" for path in definitions]
    if main():
        fail(f"the generators of ROS 2 could not make {package}")


def needed_packages(package):
    """The packages whose types the definitions use, and the packages that every service uses."""
    text = "\n".join(path.read_text() for path in sorted((REPOSITORY / "interfaces" / package).rglob("*.srv")))
    used = {word.split("/")[0] for word in text.split() if "/" in word}
    return sorted(used | {"service_msgs", "builtin_interfaces"})


def compile_all(package, work):
    """Compiles the sources: libraries go to work/lib, and Python to work/python."""
    sources, include, lib = work / "sources", work / "include", work / "lib"
    lib.mkdir()
    flags = ["-shared", "-fPIC", "-O1", f"-L{lib}", f"-L{ENVIRONMENT / 'lib'}", "-Wl,-rpath,$ORIGIN"]
    for kind in sources.iterdir():
        (include / kind.name).mkdir(parents=True)
        (include / kind.name / package).symlink_to(kind)
        flags.append(f"-I{include / kind.name}")
    installed = ENVIRONMENT / "include"
    flags += [f"-I{path}" for path in (installed, *sorted(installed.iterdir())) if path.is_dir()]
    needed = needed_packages(package)

    def library(name, files, libraries, place=lib, extra=()):
        files = sorted(files)
        compiler = ["g++", "-std=c++17"] if files[0].suffix == ".cpp" else ["gcc"]
        links = [f"-l{library}" for library in libraries]
        command = [*compiler, *map(str, files), *flags, *extra, "-o", str(place / f"{name}.so"), *links]
        if subprocess.run(command).returncode != 0:
            fail(f"{name} of {package} could not be compiled")

    generated_c = f"{package}__rosidl_generator_c"
    support = f"{package}__rosidl_typesupport"
    c = sources / "c" / "srv"
    library(
        f"lib{generated_c}",
        (c / "detail").glob("*.c"),
        [*(f"{other}__rosidl_generator_c" for other in needed), "rosidl_typesupport_c", "rosidl_runtime_c", "rcutils"],
    )
    for kind, libraries in TYPE_SUPPORTS.items():
        detail = sources / kind / "srv" / "detail"
        others = [f"{other}__rosidl_typesupport_{kind}" for other in needed]
        library(f"lib{support}_{kind}", detail.glob("*.c*"), [generated_c, *others, *libraries])
    library(f"lib{support}_c", c.glob("*.cpp"), [generated_c, "rosidl_typesupport_c"])

    import numpy

    python = work / "python" / package
    shutil.copytree(sources / "py", python, ignore=shutil.ignore_patterns("*.c"))
    (python / "__init__.py").touch()
    headers = Path(sysconfig.get_paths()["include"])
    if not (headers / "Python.h").is_file():
        fail(f"{headers}/Python.h is missing. Run: apt-get install python{sysconfig.get_python_version()}-dev")
    includes = [f"-I{headers}", f"-I{numpy.get_include()}"]
    library(
        f"lib{package}__rosidl_generator_py",
        (sources / "py" / "srv").glob("*_s.c"),
        [generated_c, *(f"{other}__rosidl_generator_py" for other in needed)],
        extra=includes,
    )
    for kind in ("c", *TYPE_SUPPORTS):
        library(
            f"{package}_s__rosidl_typesupport_{kind}",
            [sources / "py" / f"_{package}_s.ep.rosidl_typesupport_{kind}.c"],
            [f"{package}__rosidl_generator_py", f"{support}_{kind}", f"{support}_c", generated_c, "rosidl_typesupport_c"],
            place=python,
            extra=[*includes, f"-Wl,-rpath,{ENVIRONMENT / 'lib'}"],
        )


def install(package, work):
    """Moves libraries and Python to the folders that the wheels use."""
    for path in (work / "lib").iterdir():
        shutil.copy2(path, ENVIRONMENT / "lib" / path.name)
    place = Path(sysconfig.get_paths()["purelib"]) / package
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(work / "python" / package, place)
    share = ENVIRONMENT / "share" / package / "srv"
    share.mkdir(parents=True, exist_ok=True)
    for path in (*(work / "idl" / package / "srv").glob("*.idl"), *(work / "sources" / "c" / "srv").glob("*.json")):
        shutil.copy2(path, share / path.name)


def main():
    if len(sys.argv) != 2:
        fail("usage: build_interfaces_for_ros2.py PACKAGE")
    package = sys.argv[1]
    definitions = sorted((REPOSITORY / "interfaces" / package / "srv").glob("*.srv"))
    if not definitions:
        fail(f"interfaces/{package} has no services")
    mark, wanted = ENVIRONMENT / f".feros-{package}", stamp(package, definitions)
    if mark.is_file() and mark.read_text() == wanted:
        return
    print(f"setup: {package} for stock ROS 2 (no wheel contains it; tests of containers use it)", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        generate(package, definitions, work)
        compile_all(package, work)
        install(package, work)
    mark.write_text(wanted)


main()
