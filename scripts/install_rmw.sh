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
version="$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)"

install -D -m 755 "$library" "$prefix/lib/librmw_feros.so"

# The ament index: the installed packages, and the type supports that an rmw reads.
index="$prefix/share/ament_index/resource_index"
resource() {
    mkdir -p "$index/$1"
    printf '%s' "$2" >"$index/$1/rmw_feros"
}
c="rosidl_typesupport_c;rosidl_typesupport_introspection_c"
cpp="rosidl_typesupport_cpp;rosidl_typesupport_introspection_cpp"
resource packages ""
resource package_run_dependencies "rmw;rosidl_typesupport_introspection_c;rosidl_typesupport_introspection_cpp"
resource rmw_typesupport "$c;$cpp"
resource rmw_typesupport_c "$c"
resource rmw_typesupport_cpp "$cpp"

share="$prefix/share/rmw_feros"
mkdir -p "$share/cmake"
cat >"$share/package.xml" <<XML
<?xml version="1.0"?>
<package format="3">
  <name>rmw_feros</name>
  <version>$version</version>
  <description>The ROS middleware interface on the transports of Feros.</description>
  <maintainer email="feros@invalid.example">Feros</maintainer>
  <license>Apache-2.0</license>
  <exec_depend>rmw</exec_depend>
  <exec_depend>rosidl_typesupport_introspection_c</exec_depend>
  <exec_depend>rosidl_typesupport_introspection_cpp</exec_depend>
  <member_of_group>rmw_implementation_packages</member_of_group>
  <export><build_type>ament_cmake</build_type></export>
</package>
XML
cat >"$share/cmake/rmw_ferosConfig.cmake" <<'CMAKE'
# rmw_feros::rmw_feros is the library; RMW_IMPLEMENTATION loads it at run time, and programs that
# use librmw_implementation do not link it.
get_filename_component(_rmw_feros_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET rmw_feros::rmw_feros)
  add_library(rmw_feros::rmw_feros SHARED IMPORTED)
  set_target_properties(rmw_feros::rmw_feros PROPERTIES
    IMPORTED_LOCATION "${_rmw_feros_prefix}/lib/librmw_feros.so"
    IMPORTED_SONAME "librmw_feros.so")
endif()
set(rmw_feros_LIBRARIES rmw_feros::rmw_feros)
set(rmw_feros_TARGETS rmw_feros::rmw_feros)
set(rmw_feros_FOUND_AMENT_PACKAGE TRUE)
CMAKE
cat >"$share/cmake/rmw_ferosConfig-version.cmake" <<CMAKE
set(PACKAGE_VERSION "$version")
if("\${PACKAGE_FIND_VERSION}" VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
CMAKE

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
printf 'rmw_feros %s for ROS 2 %s is in %s\n' "$version" "$distribution" "$prefix"
