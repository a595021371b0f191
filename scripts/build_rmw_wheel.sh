#!/usr/bin/env bash
# Makes feros_rmw-VERSION-py3-none-linux_ARCH.whl: librmw_feros.so for the wheels of ROS 2 Kilted.
#
#   scripts/build_rmw_wheel.sh [FOLDER]     (default: target/wheels)
#   pip install FOLDER/feros_rmw-*.whl
#   RMW_IMPLEMENTATION=rmw_feros python node.py
#
# The wheels of ROS 2 cannot load another rmw library: their librcl.so is linked to
# librmw_fastrtps_cpp.so. So a .pth file makes every Python of the environment check
# RMW_IMPLEMENTATION. If it is rmw_feros, Python loads the library before any other library, with
# global symbols. FEROS_RMW_LIBRARY can name a library that has been built already.
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
import base64, hashlib, os, pathlib, platform, zipfile

version, out = os.environ["VERSION"], pathlib.Path(os.environ["OUT"])
tag = f"py3-none-linux_{platform.machine()}"
info = f"feros_rmw-{version}.dist-info"

LOADER = '''"""Loads librmw_feros.so before the libraries of ROS 2, if RMW_IMPLEMENTATION names it."""
import ctypes
import pathlib
import sys


def load():
    """With global symbols: librcl.so then takes the functions of rmw from here."""
    library = pathlib.Path(sys.prefix) / "lib" / "librmw_feros.so"
    try:
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        print(f"feros_rmw: RMW_IMPLEMENTATION is rmw_feros, and {library} cannot be loaded: {error}", file=sys.stderr)
'''
PTH = 'import os; os.environ.get("RMW_IMPLEMENTATION") == "rmw_feros" and __import__("_feros_rmw").load()\n'
METADATA = f"""Metadata-Version: 2.1
Name: feros-rmw
Version: {version}
Summary: The transports of Feros for ROS 2 Kilted: RMW_IMPLEMENTATION=rmw_feros
License: Apache-2.0
Requires-Python: >=3.10
"""
WHEEL = f"Wheel-Version: 1.0\nGenerator: feros\nRoot-Is-Purelib: false\nTag: {tag}\n"

files = {
    f"feros_rmw-{version}.data/data/lib/librmw_feros.so": pathlib.Path(os.environ["LIBRARY"]).read_bytes(),
    "_feros_rmw.py": LOADER.encode(),
    "feros_rmw.pth": PTH.encode(),
    f"{info}/METADATA": METADATA.encode(),
    f"{info}/WHEEL": WHEEL.encode(),
}


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content in files.items())
files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
wheel = out / f"feros_rmw-{version}-{tag}.whl"
with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
    for name, content in files.items():
        archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
print(wheel)
PYTHON
