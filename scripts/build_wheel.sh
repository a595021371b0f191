#!/usr/bin/env bash
# Builds the wheel of the Python package: the extension, the command, the interfaces, type stubs.
#
#   scripts/build_wheel.sh [--profile PROFILE] [--out DIR] [--python PYTHON] [--features NAMES]
#       [--target TRIPLE] [--glibc VERSION]
#
# PROFILE is one of Cargo's (release by default; the tests use dev), DIR is the folder for the wheel
# (target/wheels). One wheel is for CPython 3.11 and all later versions; with an interpreter of
# CPython 3.10 as PYTHON, it is for that version alone. NAMES are engines in addition to Cyclone
# DDS, which FEROS_ENGINE can name: zenoh, fastdds or ros1, separated by commas. TRIPLE is one of
# Cargo's targets. With VERSION, such as 2.28, the wheel works with that version of the C library
# and newer ones: zig compiles C and links (scripts/requirements-release.txt). The script needs
# maturin, which scripts/setup.sh installs.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { printf 'build_wheel: error: %s\n' "$*" >&2; exit 1; }

profile=release
target="${CARGO_TARGET_DIR:-$PWD/target}"
out="$target/wheels"
python=python3
interface=()
features=()
triple=
glibc=
while (($# > 0)); do
    case "$1" in
        --profile) profile="${2:?--profile needs a name}"; shift 2 ;;
        --out) out="${2:?--out needs a folder}"; shift 2 ;;
        --python) python="${2:?--python needs an interpreter}"; shift 2 ;;
        --features) features=(--features "${2:?--features needs names}"); shift 2 ;;
        --target) triple="${2:?--target needs a triple, such as aarch64-unknown-linux-gnu}"; shift 2 ;;
        --glibc) glibc="${2:?--glibc needs a version, such as 2.28}"; shift 2 ;;
        -h | --help) sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) fail "unknown argument $1 (known: --profile, --out, --python, --features, --target, --glibc)" ;;
    esac
done
command -v maturin >/dev/null || fail "there is no maturin. Run scripts/setup.sh, and put .venv/bin on PATH."

# CPython's stable interface includes the buffer protocol since version 3.11.
case "$("$python" -c 'import sys; print((sys.version_info >= (3, 11)) + (sys.version_info >= (3, 10)))')" in
    2) ;;
    1) interface=(--no-default-features --interpreter "$python") ;;
    *) fail "$python is older than CPython 3.10" ;;
esac

folder="$profile"
[[ "$profile" != dev ]] || folder=debug
build=(cargo build)
[[ -z "$glibc" ]] || build=(cargo zigbuild)
platform=()
if [[ -n "$triple$glibc" ]]; then
    triple="${triple:-$(rustc -vV | sed -n 's/^host: //p')}"
    folder="$triple/$folder"
    build+=(--target "$triple${glibc:+.$glibc}")
    platform=(--target "$triple")
    [[ -z "$glibc" ]] || platform+=(--zig --compatibility "manylinux_${glibc/./_}")
fi
package=crates/bindings/python
most_bytes=20000000 # the limit for a published wheel

# In ./test, the command has already been built with the workspace.
[[ "$profile" == dev && -n "${FEROS_TESTS_BUILT:-}" ]] ||
    "${build[@]}" --locked --profile "$profile" -p feros-cli --bin feros "${features[@]}"
command="$target/$folder/feros"
install -D "$command" "$package/data/scripts/feros"
scripts/release_programs.py strip "$package/data/scripts/feros"

# Each package gets a folder with its types for type checkers, and with two lines of code that make
# classes on demand.
messages="$package/python/feros/msgs"
compatible="$package/python/feros/compat"
find "$messages" -mindepth 1 -maxdepth 1 -type d -exec rm -rf {} +
modules() {
    env -u AMENT_PREFIX_PATH -u FEROS_INTERFACES \
        scripts/release_programs.py run "$command" interface stubs "$@" --shipped --modules >/dev/null
}
modules "$messages" --root feros.msgs
# The same packages are also added under the names of stock ROS 2, next to the package rclpy.
modules "$compatible"
# This .pth file contains a path and no code. It appends this path to the path of the interpreter
# that the wheel is installed for, so that a sourced ROS and any package of the same name come
# first. Files of packages are read in the order of their names, so the name of this file puts it
# last.
install -d "$package/data/platlib"
printf 'feros/compat\n' >"$package/data/platlib/zz_feros.pth"
# This .pth file contains a line of code, which Python runs at its start: if FEROS_PREFIX_PATH is
# set, it runs feros/compat/ament_index_python/_prefixes.py.
cat >"$package/data/platlib/feros_prefixes.pth" <<'PTH'
import os, sys; os.environ.get("FEROS_PREFIX_PATH") and exec(open(os.path.join(sys._getframe(1).f_locals["sitedir"], "feros/compat/ament_index_python/_prefixes.py")).read(), {"__name__": "__main__"})
PTH

mkdir -p "$package/sbom"
scripts/bill_of_materials.py ${triple:+--target "$triple"} "$package/sbom/feros.cdx.json" >/dev/null

maturin build --locked --quiet --profile "$profile" --manifest-path "$package/Cargo.toml" \
    --out "$out" "${interface[@]}" "${features[@]}" "${platform[@]}"
wheel="$(ls -t "$out"/feros-*.whl | head -1)"
size="$(stat -c %s "$wheel")"
printf '%s: %d bytes\n' "$wheel" "$size"
# The limit applies to release builds without additional engines.
if [[ "$profile" == release ]] && ((${#features[@]} == 0 && size >= most_bytes)); then
    fail "the wheel has $size bytes, more than $most_bytes"
fi
