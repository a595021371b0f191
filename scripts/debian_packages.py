#!/usr/bin/env python3
"""Makes Debian packages from programs that are built already: `feros`, `feros-containers`, and
`ros-DISTRIBUTION-rmw-feros` for a ROS 2 that other Debian packages installed into /opt/ros.

    scripts/debian_packages.py --programs TARGET/release [--out FOLDER] [--compression gzip]

The packages depend on what `dpkg-shlibdeps` finds, so they are for the Debian or Ubuntu release on
which this script runs, and for newer ones. The same programs give the same bytes.
"""

import argparse
import hashlib
import os
import re
import tempfile
from pathlib import Path

import bill_of_materials
import installed_files
import rmw_prefix
from release_programs import ROOT, Programs, ReleaseError, tool

MAINTAINER = "Feros developers"
# The distributions of the packages with the rmw library; the library recognizes them by itself.
DISTRIBUTIONS = ["jazzy", "kilted"]


def put_rmw(programs, root, distribution):
    """Puts the rmw library as an ament package into the prefix of a ROS 2 distribution."""
    prefix = root / "opt/ros" / distribution
    rmw_prefix.lay_out(programs.path("librmw_feros.so"), prefix)
    programs.binutil("strip", "--strip-unneeded", prefix / "lib/librmw_feros.so")
    installed_files.put_documents(programs, root / "usr", f"ros-{distribution}-rmw-feros")


def rmw_package(distribution):
    """Returns what to pack for the ROS 2 that Debian packages install into /opt/ros."""
    names = [name.replace("_", "-") for name in rmw_prefix.DEPENDENCIES]
    return {
        "put": lambda programs, root: put_rmw(programs, root, distribution),
        "needs": [f"ros-{distribution}-{name}" for name in names],
        "relations": [],
        "description": (
            f"ROS 2 built for the shortest path: the rmw library for ROS 2 {distribution.title()}\n"
            " Programs of ROS 2 use the transports of Feros if RMW_IMPLEMENTATION is rmw_feros."
        ),
    }


PACKAGES = {
    "feros": {
        "put": lambda programs, root: installed_files.put_command(programs, root / "usr"),
        "needs": [],
        "relations": ["Suggests: feros-containers"],
        "description": (
            "ROS 2 built for the shortest path: the command\n"
            " The command inspects, feeds and measures a ROS 2 system, starts launch files, records\n"
            " and plays bags, and shows the system in a browser. It needs no ROS installation.\n"
            " .\n"
            " A service for launch files and the pages of the manual are in the package too."
        ),
    },
    "feros-containers": {
        "put": lambda programs, root: installed_files.put_containers(programs, root / "usr"),
        "needs": ["feros (= {version})"],
        "relations": [],
        "description": (
            "ROS 2 built for the shortest path: containers for components in Rust\n"
            " The containers load components that were built with the same compiler and the same\n"
            " version of Feros. The package has the library that they share, and the shared form of\n"
            " Rust's standard library."
        ),
    },
    **{f"ros-{name}-rmw-feros": rmw_package(name) for name in DISTRIBUTIONS},
}


def debian_version(version):
    """Returns a version in Debian's order, in which a tilde precedes everything."""
    return version.replace("-", "~", 1)


def system_dependencies(root, architecture):
    """Returns the packages of the system whose libraries the programs below a root use. For another
    architecture, this system needs the packages of that architecture."""
    files = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    programs = sorted(path for path in files if path.read_bytes()[:4] == b"\x7fELF")
    with tempfile.TemporaryDirectory() as folder:
        control = Path(folder) / "debian/control"
        control.parent.mkdir()
        control.write_text("Source: feros\n\nPackage: feros\nArchitecture: any\n")
        # No package has the libraries in our own folders, and that is right.
        words = ["-O", "--ignore-missing-info"]
        words += [f"-l{place}" for place in sorted({program.parent for program in programs})]
        words += [f"-e{program}" for program in programs]
        environment = dict(os.environ, DEB_HOST_ARCH=architecture)
        said = tool("dpkg-shlibdeps", "dpkg-dev", *words, cwd=folder, env=environment)
    found = re.search(r"^shlibs:Depends=(.+)$", said, re.M)
    if not found:
        raise ReleaseError(f"dpkg-shlibdeps found no dependencies of {programs}")
    return found[1].split(", ")


def write_control(name, root, version, architecture):
    """Writes the files that dpkg reads: the description of the package and the checksums."""
    package, control = PACKAGES[name], root / "DEBIAN"
    files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    sums = (f"{hashlib.md5(f.read_bytes()).hexdigest()}  {f.relative_to(root)}\n" for f in files)
    size = sum(-(-path.stat().st_size // 1024) for path in files)
    depends = [need.format(version=version) for need in package["needs"]]
    depends += system_dependencies(root, architecture)
    control.mkdir()
    (control / "md5sums").write_text("".join(sums))
    lines = [
        f"Package: {name}",
        f"Version: {version}",
        f"Architecture: {architecture}",
        f"Maintainer: {MAINTAINER}",
        "Section: devel",
        "Priority: optional",
        f"Installed-Size: {size}",
        f"Depends: {', '.join(depends)}",
        *package["relations"],
        f"Description: {package['description']}",
    ]
    (control / "control").write_text("\n".join(lines) + "\n")
    for path in control.iterdir():
        path.chmod(0o644)


def make(name, programs, out, compression):
    """Makes one package; returns its path."""
    version = debian_version(programs.version)
    file = out / f"{name}_{version}_{programs.architecture}.deb"
    moment = bill_of_materials.moment()
    # With several threads, the bytes would depend on their number.
    environment = dict(os.environ, SOURCE_DATE_EPOCH=str(moment), DPKG_DEB_THREADS_MAX="1")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        PACKAGES[name]["put"](programs, root)
        write_control(name, root, version, programs.architecture)
        installed_files.date(root, moment)
        words = ["--build", "--root-owner-group", f"-Z{compression}"]
        # For trials: gzip at its fastest.
        words += ["-z1"] if compression == "gzip" else []
        tool("dpkg-deb", "dpkg", *words, root, file, env=environment)
    return file


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=ROOT / "target/dist")
    parser.add_argument("--compression", choices=["xz", "gzip"], default="xz")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    try:
        programs = Programs(arguments.programs)
        for name in PACKAGES:
            file = make(name, programs, arguments.out, arguments.compression)
            print(f"{file}: {file.stat().st_size} bytes")
    except ReleaseError as error:
        raise SystemExit(f"debian_packages: error: {error}") from error


if __name__ == "__main__":
    main()
