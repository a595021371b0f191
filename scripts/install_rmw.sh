#!/usr/bin/env bash
# Installs rmw_feros for the ROS 2 that is sourced (Jazzy, Kilted or Lyrical), as an ament prefix.
#
#   source /opt/ros/kilted/setup.bash
#   scripts/install_rmw.sh PREFIX
#   source PREFIX/local_setup.bash
#   RMW_IMPLEMENTATION=rmw_feros ros2 run demo_nodes_cpp talker
#
# A prefix that already has setup files keeps them, and they are sufficient for this package.
# FEROS_RMW_LIBRARY can name a library that has been built already.
set -euo pipefail
here="$(cd "$(dirname "$0")/.." && pwd)"

fail() { printf 'install_rmw: error: %s\n' "$*" >&2; exit 1; }
(($# == 1)) || fail "one argument is needed: the prefix"

# The prefix of the sourced ROS 2 is the one that has the package rmw.
ros=""
IFS=: read -r -a sourced <<<"${AMENT_PREFIX_PATH:-}"
for one in "${sourced[@]}"; do
    if [[ -z $ros && -f $one/share/rmw/package.xml ]]; then ros="$(cd "$one" && pwd)"; fi
done
[[ -n $ros ]] || fail "no ROS 2 is sourced: run source /opt/ros/DISTRIBUTION/setup.bash first"
prefix="$(realpath -ms -- "$1")"
cd "$here"

library="${FEROS_RMW_LIBRARY:-}"
if [[ -z $library ]]; then
    cargo build --release --lib -p feros-rmw
    library="${CARGO_TARGET_DIR:-target}/release/librmw_feros.so"
fi
[[ -f $library ]] || fail "$library is missing"

# The library has the table of the distributions that it serves.
distribution="$(python3 - "$library" "$ros" <<'PYTHON'
import ctypes, os, sys

library, prefix = sys.argv[1:]
try:
    ask = ctypes.CDLL(os.path.abspath(library)).feros_rmw_distribution
except (OSError, AttributeError) as error:
    print(f"{library} is not a librmw_feros.so that can be loaded: {error}")
    sys.exit(1)
ask.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
text = ctypes.create_string_buffer(1024)
code = ask(os.fsencode(prefix), text, len(text))
print(text.value.decode(errors="replace"))
sys.exit(code)
PYTHON
)" || fail "$distribution"
scripts/rmw_prefix.py "$library" "$prefix"

if [[ ! -e $prefix/local_setup.sh && ! -e $prefix/setup.sh ]]; then
    for shell in sh bash zsh; do
        cat >"$prefix/local_setup.$shell" <<SETUP
# Adds this prefix to the environment of a shell that has sourced ROS 2 $distribution.
export AMENT_PREFIX_PATH="$prefix\${AMENT_PREFIX_PATH:+:\$AMENT_PREFIX_PATH}"
export CMAKE_PREFIX_PATH="$prefix\${CMAKE_PREFIX_PATH:+:\$CMAKE_PREFIX_PATH}"
export LD_LIBRARY_PATH="$prefix/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
SETUP
    done
fi
printf 'rmw_feros for ROS 2 %s is in %s\n' "$distribution" "$prefix"
