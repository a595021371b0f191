#!/usr/bin/env bash
# Makes feros_rmw-VERSION-py3-none-PLATFORM.whl: librmw_feros.so for the wheels of ROS 2 Jazzy and
# Kilted. The library finds out by itself which of them is loaded. PLATFORM is what auditwheel
# (scripts/setup.sh installs it) finds out, such as manylinux_2_34_x86_64; without auditwheel, it is
# linux_MACHINE, and package indexes refuse the wheel.
#
#   scripts/build_rmw_wheel.sh [FOLDER]     (default: target/wheels)
#   pip install FOLDER/feros_rmw-*.whl
#   RMW_IMPLEMENTATION=rmw_feros python node.py
#
# The wheels of ROS 2 cannot load another rmw library: their librcl.so is linked to
# librmw_fastrtps_cpp.so. So a .pth file makes every Python of the environment check
# RMW_IMPLEMENTATION. If it is rmw_feros, Python loads the library before any other library, with
# global symbols, and asks it whether it serves the ROS 2 of the environment. FEROS_RMW_LIBRARY can
# name a library that has been built already.
set -euo pipefail
cd "$(dirname "$0")/.."

out="${1:-target/wheels}"
library="${FEROS_RMW_LIBRARY:-}"
if [[ -z $library ]]; then
    cargo build --release --lib -p feros-rmw
    library="${CARGO_TARGET_DIR:-target}/release/librmw_feros.so"
fi
[[ -f $library ]] || { printf 'build_rmw_wheel: error: %s is missing\n' "$library" >&2; exit 1; }
mkdir -p "$out"

LIBRARY="$library" OUT="$out" VERSION="$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)" \
    python3 - <<'PYTHON'
import base64, hashlib, json, os, pathlib, shutil, subprocess, sys, tempfile, zipfile

sys.path.insert(0, "scripts")
from release_programs import binutil, machine_of

version, out = os.environ["VERSION"], pathlib.Path(os.environ["OUT"])
library = pathlib.Path(os.environ["LIBRARY"])
info = f"feros_rmw-{version}.dist-info"

LOADER = '''"""Loads librmw_feros.so before the libraries of ROS 2, if RMW_IMPLEMENTATION names it."""
import ctypes
import functools
import importlib.util
import os
import pathlib
import sys

# The result of feros_rmw_distribution for a ROS 2 that the library does not serve.
UNSUPPORTED = 3


@functools.cache  # in a virtual environment, Python reads each .pth file twice
def load():
    """With global symbols: librcl.so then takes the functions of rmw from here."""
    starts_again = importlib.util.find_spec("ros_wheels_bootstrapper") is not None
    if starts_again and not os.environ.get("_ROS_WHEELS_BOOTSTRAP_COMPLETE"):
        return  # the wheels of ROS 2 start Python again, with the paths to their libraries
    path = pathlib.Path(sys.prefix) / "lib" / "librmw_feros.so"
    try:
        library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        print(f"feros_rmw: RMW_IMPLEMENTATION is rmw_feros, and {path} cannot be loaded: {error}", file=sys.stderr)
        return
    ask = library.feros_rmw_distribution
    ask.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    text = ctypes.create_string_buffer(1024)
    if ask(os.fsencode(sys.prefix), text, len(text)) == UNSUPPORTED:
        print(f"feros_rmw: {text.value.decode(errors='replace')}", file=sys.stderr)
'''
PTH = 'import os; os.environ.get("RMW_IMPLEMENTATION") == "rmw_feros" and __import__("_feros_rmw").load()\n'
METADATA = f"""Metadata-Version: 2.1
Name: feros-rmw
Version: {version}
Summary: The transports of Feros for ROS 2 Jazzy and Kilted: RMW_IMPLEMENTATION=rmw_feros
License: Apache-2.0
Requires-Python: >=3.10
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: feros\nRoot-Is-Purelib: false\nTag: {}\n"


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def stripped():
    """Returns the library without the names that only a debugger needs."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(library, folder)
        binutil(machine, "strip", "--strip-unneeded", copy)
        return pathlib.Path(copy).read_bytes()


def write(folder, platform):
    """Writes the wheel for a platform; returns its path."""
    tag = f"py3-none-{platform}"
    files = {
        f"feros_rmw-{version}.data/data/lib/librmw_feros.so": content,
        "_feros_rmw.py": LOADER.encode(),
        "feros_rmw.pth": PTH.encode(),
        f"{info}/METADATA": METADATA.encode(),
        f"{info}/WHEEL": WHEEL.format(tag).encode(),
    }
    sums = (f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = f"{''.join(sums)}{info}/RECORD,,\n".encode()
    wheel = pathlib.Path(folder) / f"feros_rmw-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return wheel


machine, _ = machine_of(library)
content = stripped()
platform = f"linux_{machine}"
if shutil.which("auditwheel"):
    with tempfile.TemporaryDirectory() as folder:
        command = ["auditwheel", "show", "--json", write(folder, platform)]
        shown = subprocess.run(command, capture_output=True, text=True)
        if shown.returncode != 0:
            sys.exit(f"build_rmw_wheel: error: auditwheel refuses the wheel:\n{shown.stderr}")
        platform = json.loads(shown.stdout)["overall_tag"]
print(write(out, platform))
PYTHON
