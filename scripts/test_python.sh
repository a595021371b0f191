#!/usr/bin/env bash
# Tests the Python package as users get it: builds the wheel, installs it into an empty environment,
# and runs its tests from there.
#
#   scripts/test_python.sh [--profile PROFILE] [PYTEST ARGUMENTS]
#   scripts/test_python.sh --build              only builds the wheel, for the laboratory's tests too
#   scripts/test_python.sh --run                tests the wheel that was built
#
# The tests use stock ROS 2 if .venv and .venv-jazzy, or the folder of FEROS_ROS2, have it, unless
# FEROS_SKIP_INTEROP=1.
set -euo pipefail
cd "$(dirname "$0")/.."

profile=dev
only=
if [[ "${1:-}" == --build || "${1:-}" == --run ]]; then
    only="$1"
    shift
fi
if [[ "${1:-}" == --profile ]]; then
    profile="${2:?--profile needs a name}"
    shift 2
fi
target="${CARGO_TARGET_DIR:-$PWD/target}"
wheels="$target/wheels-$profile"
venv="$target/python-venv"
python="${FEROS_PYTHON:-.venv/bin/python}"

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    { printf 'test_python: error: %s is older than CPython 3.10, which the wheel needs. Set FEROS_PYTHON.\n' "$python" >&2; exit 1; }
if [[ $only != --run ]]; then
    rm -rf "$wheels"
    scripts/build_wheel.sh --profile "$profile" --out "$wheels" --python "$python"
fi
[[ $only != --build ]] || exit 0

"$python" -m venv --clear "$venv"
# First, the wheel is installed without other packages, since importing it and running the command
# must not need other packages.
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps "$wheels"/*.whl
(cd / && "$venv/bin/python" -c 'import feros; from feros.msgs.std_msgs.msg import String; assert feros.deserialize(feros.serialize(String(data="a")), String).data == "a"')
(cd / && "$venv/bin/feros" interface show std_msgs/msg/String >/dev/null)
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r scripts/requirements-python.txt

# A test that fails runs once more; the table of `./test` then names it, and it still has to be fixed.
exec "$venv/bin/python" -m pytest -q -p no:cacheprovider -rsRf --reruns 1 crates/bindings/python/tests "$@"
