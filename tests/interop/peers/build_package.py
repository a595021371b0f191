"""Builds a package of messages for stock rclpy that no wheel has, with the generators of the wheels.

    python build_package.py INTERFACES PACKAGE OUTPUT

INTERFACES has a folder PACKAGE/msg with .msg files; the packages that they refer to are among the wheels. OUTPUT
gets lib/ (for LD_LIBRARY_PATH) and python/ (for PYTHONPATH). Needs gcc, g++ and the headers of Python.
"""
import pathlib
import shutil
import subprocess
import sys
import sysconfig

from rosidl_cli.command.generate.api import generate

PREFIX = pathlib.Path(sys.prefix)
# The functions of messages, what each RMW wants, what chooses between those, and what Python loads.
GENERATORS = [("generator_c", {"types": ["c"]}), ("typesupport_introspection_c", {"typesupports": ["introspection_c"]}),
              ("typesupport_fastrtps_c", {"typesupports": ["fastrtps_c"]}), ("typesupport_c", {"typesupports": ["c"]}),
              ("generator_py", {"types": ["py"]})]


def main(interfaces, package, output):
    messages = [f"{interfaces / package}:msg/{path.name}" for path in (interfaces / package / "msg").glob("*.msg")]
    for name, what in GENERATORS:
        generate(package_name=package, interface_files=messages, include_paths=[PREFIX / "share"],
                 output_path=output / "work" / name / package, **what)
    compile_all(package, output)


def compile_all(package, output):
    import numpy
    work, lib, python = output / "work", output / "lib", output / "python" / package
    lib.mkdir(parents=True, exist_ok=True)
    shutil.copytree(work / "generator_py" / package, python, dirs_exist_ok=True)
    includes = [path for path in (PREFIX / "include").iterdir() if path.is_dir()]
    includes += [work / name for name, _ in GENERATORS]
    includes += [sysconfig.get_paths()["include"], numpy.get_include()]
    flags = ["-shared", "-fPIC", "-O1", "-w", *(f"-I{path}" for path in includes), f"-L{lib}", f"-L{PREFIX / 'lib'}",
             "-Wl,--unresolved-symbols=ignore-all"]

    def link(output, sources, libraries):
        compiler = "g++" if any(source.suffix == ".cpp" for source in sources) else "gcc"
        libraries = [f"-l{library}" for library in libraries]
        subprocess.run([compiler, *flags, "-o", output, *sources, "-Wl,--no-as-needed", *libraries], check=True)

    known = []
    for name, _ in GENERATORS:
        folder = work / name / package
        sources = [path for path in folder.rglob("*.c*") if ".ep." not in path.name]
        library = f"{package}__rosidl_{name}"
        link(lib / f"lib{library}.so", sources, known)
        known.append(library)
    for entry in (work / "generator_py" / package).glob("*.ep.*.c"):
        support = entry.name.split(".")[-2]
        link(python / f"{package}_s__{support}.so", [entry], known)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], pathlib.Path(sys.argv[3]).resolve())
