#!/usr/bin/env python3
"""Lays out rmw_feros as an ament package below a prefix: the library, its entries in the ament
index, its manifest, and what CMake reads. `scripts/install_rmw.sh` and the Debian packages of
`scripts/debian_packages.py` install these files.

    scripts/rmw_prefix.py LIBRARY PREFIX
"""

import sys
from pathlib import Path

from installed_files import put, put_text
from release_programs import ReleaseError, workspace_version

INTROSPECTION = {
    "rmw_typesupport_c": "rosidl_typesupport_c;rosidl_typesupport_introspection_c",
    "rmw_typesupport_cpp": "rosidl_typesupport_cpp;rosidl_typesupport_introspection_cpp",
}
DEPENDENCIES = [
    "rmw",
    "rosidl_typesupport_introspection_c",
    "rosidl_typesupport_introspection_cpp",
]
# The entries of the ament index that an rmw has: the kind, and the text of the entry.
RESOURCES = {
    "packages": "",
    "package_run_dependencies": ";".join(DEPENDENCIES),
    "rmw_typesupport": ";".join(INTROSPECTION.values()),
    **INTROSPECTION,
}
MANIFEST = """<?xml version="1.0"?>
<package format="3">
  <name>rmw_feros</name>
  <version>{version}</version>
  <description>The ROS middleware interface on the transports of Feros.</description>
  <maintainer email="feros@invalid.example">Feros</maintainer>
  <license>Apache-2.0</license>
{dependencies}
  <member_of_group>rmw_implementation_packages</member_of_group>
  <export><build_type>ament_cmake</build_type></export>
</package>
"""
CONFIG = """\
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
"""
CONFIG_VERSION = """\
set(PACKAGE_VERSION "{version}")
if("${{PACKAGE_FIND_VERSION}}" VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
"""


def lay_out(library, prefix):
    """Puts the library and all files of the ament package below a prefix."""
    put(library, prefix / "lib/librmw_feros.so", 0o755)
    for kind, text in RESOURCES.items():
        put_text(text, prefix / "share/ament_index/resource_index" / kind / "rmw_feros")
    version = workspace_version()
    share = prefix / "share/rmw_feros"
    dependencies = "\n".join(f"  <exec_depend>{name}</exec_depend>" for name in DEPENDENCIES)
    put_text(MANIFEST.format(version=version, dependencies=dependencies), share / "package.xml")
    put_text(CONFIG, share / "cmake/rmw_ferosConfig.cmake")
    put_text(CONFIG_VERSION.format(version=version), share / "cmake/rmw_ferosConfig-version.cmake")


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__.strip())
    try:
        lay_out(Path(sys.argv[1]), Path(sys.argv[2]))
    except (OSError, ReleaseError) as error:
        raise SystemExit(f"rmw_prefix: error: {error}") from error


if __name__ == "__main__":
    main()
