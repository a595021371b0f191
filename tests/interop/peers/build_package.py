"""Builds a package of messages that no wheel contains, for stock ROS 2, with the generators of the wheels.

    python build_package.py PACKAGE OUTPUT

idl/PACKAGE/msg in the folder of this script has the messages as .idl files (converting .msg files needs more than the
wheels contain); the packages that the messages refer to are in the wheels. OUTPUT gets lib/ (for LD_LIBRARY_PATH) and python/
(for PYTHONPATH). Needs gcc, g++ and the headers of Python.
"""
import importlib.metadata
import pathlib
import shutil
import subprocess
import sys
import sysconfig

from rosidl_cli.command.generate.api import generate

# The wheels declare each generator twice, as an egg and as a wheel, which their `rosidl` command
# refuses.
points = {(point.group, point.name): point
          for distribution in importlib.metadata.distributions() for point in distribution.entry_points}
importlib.metadata.entry_points = lambda: importlib.metadata.EntryPoints(points.values())

PREFIX = pathlib.Path(sys.prefix)
# The generators of the message functions, of the code for each RMW, of the selection between RMWs,
# and for Python.
GENERATORS = [("generator_c", {"types": ["c"]}), ("typesupport_introspection_c", {"typesupports": ["introspection_c"]}),
              ("typesupport_fastrtps_c", {"typesupports": ["fastrtps_c"]}), ("typesupport_c", {"typesupports": ["c"]}),
              ("generator_cpp", {"types": ["cpp"]}),
              ("typesupport_introspection_cpp", {"typesupports": ["introspection_cpp"]}),
              ("typesupport_fastrtps_cpp", {"typesupports": ["fastrtps_cpp"]}),
              ("typesupport_cpp", {"typesupports": ["cpp"]}), ("generator_py", {"types": ["py"]})]


def main(package, output):
    folder = pathlib.Path(__file__).resolve().parent / "idl" / package
    messages = [f"{folder}:{path.relative_to(folder)}" for path in folder.glob("msg/*.idl")]
    for name, what in GENERATORS:
        generate(package_name=package, interface_files=messages, include_paths=[PREFIX / "share"],
                 output_path=output / "work" / name / package, **what)
    compile_all(package, output)


def compile_all(package, output):
    import numpy
    work, lib, python = output / "work", output / "lib", output / "python" / package
    lib.mkdir(parents=True, exist_ok=True)
    shutil.copytree(work / "generator_py" / package, python, dirs_exist_ok=True)
    # The header of Fast CDR lies in the include folder itself.
    includes = [PREFIX / "include", *(path for path in (PREFIX / "include").iterdir() if path.is_dir())]
    includes += [work / name for name, _ in GENERATORS]
    includes += [sysconfig.get_paths()["include"], numpy.get_include()]
    flags = ["-shared", "-fPIC", "-O2", "-w", *(f"-I{path}" for path in includes), f"-L{lib}", f"-L{PREFIX / 'lib'}",
             f"-Wl,-rpath,{PREFIX / 'lib'}", "-Wl,--as-needed"]
    # The libraries of the messages to which the package refers, and the libraries that all messages need. The linker drops
    # unused libraries.
    of_wheels = [path.name[3:-3] for pattern in ("lib*__rosidl_*_c*.so", "lib*__rosidl_generator_py.so", "librosidl_*_c*.so")
                 for path in (PREFIX / "lib").glob(pattern)] + ["fastcdr", "rmw", "rcutils"]

    def link(output, sources, libraries):
        compiler = "g++" if any(source.suffix == ".cpp" for source in sources) else "gcc"
        libraries = [f"-l{library}" for library in [*libraries, *of_wheels]]
        # With a soname, the libraries that need this library find it if it is already open.
        named = [*flags, f"-Wl,-soname,{output.name}", "-o", output]
        subprocess.run([compiler, *named, *sources, *libraries], check=True)

    known = []
    for name, _ in GENERATORS:
        folder = work / name / package
        sources = [path for path in folder.rglob("*.c*") if ".ep." not in path.name]
        if not sources:  # the package has only headers
            continue
        library = f"{package}__rosidl_{name}"
        link(lib / f"lib{library}.so", sources, known)
        known.append(library)
    for entry in (work / "generator_py" / package).glob("*.ep.*.c"):
        support = entry.name.split(".")[-2]
        link(python / f"{package}_s__{support}.so", [entry], known)


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve())
