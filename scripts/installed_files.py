#!/usr/bin/env python3
"""Lays out what a release installs from programs that are built already: the command with its
completions, manual pages and service, and the containers with the libraries that they share. The
Debian packages and the tarball consist of these files.

    scripts/installed_files.py --programs TARGET/release [--out FOLDER]

makes the tarball feros-VERSION-linux-MACHINE.tar.gz. The same programs give the same bytes.
"""

import argparse
import gzip
import io
import os
import shutil
import tarfile
import tempfile
from pathlib import Path

import bill_of_materials
from release_programs import CONTAINERS, ROOT, SHARED_FEROS, Programs, ReleaseError, tool

PACKAGING = ROOT / "scripts/packaging"
# The folder of the programs in an installation. The command looks for containers in its own
# folder, and the containers look for their libraries there.
PROGRAMS = "lib/feros"
SHELLS = {
    "bash": "share/bash-completion/completions/feros",
    "zsh": "share/zsh/vendor-completions/_feros",
    "fish": "share/fish/vendor_completions.d/feros.fish",
}
BILL = "bill-of-materials.cdx.json"

def put(source, place, mode=0o644):
    """Copies a file to its place, with this mode."""
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, place)
    place.chmod(mode)


def put_text(text, place):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    place.chmod(0o644)


def put_compressed(data, place):
    """Writes a file as gzip does, without its time."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(gzip.compress(data, 9, mtime=0))
    place.chmod(0o644)


def put_program(programs, source, place):
    """Copies a program or library without the names that only a debugger needs, and without the
    folders of the machine that built it: a program must not load libraries from a folder that
    somebody else may create."""
    put(source, place, 0o755)
    programs.binutil("strip", "--strip-unneeded", place)
    if tool("patchelf", "patchelf", "--print-rpath", place).strip():
        tool("patchelf", "patchelf", "--set-rpath", "$ORIGIN", place)


def put_documents(programs, prefix, package):
    """Puts the licence, the changes and the bill of materials into the folder of a package."""
    folder = prefix / "share/doc" / package
    put(PACKAGING / "copyright", folder / "copyright")
    put_compressed((ROOT / "CHANGELOG.md").read_bytes(), folder / "changelog.gz")
    bill_of_materials.write(folder / BILL, programs.target)
    (folder / BILL).chmod(0o644)


def put_command(programs, prefix):
    """Puts the command and what belongs to it below a prefix."""
    put_program(programs, programs.command, prefix / PROGRAMS / "feros")
    (prefix / "bin").mkdir(parents=True, exist_ok=True)
    (prefix / "bin/feros").symlink_to(f"../{PROGRAMS}/feros")
    for shell, place in SHELLS.items():
        put_text(programs.say("completion", shell), prefix / place)
    with tempfile.TemporaryDirectory() as folder:
        programs.say("man", folder)
        for page in sorted(Path(folder).iterdir()):
            put_compressed(page.read_bytes(), prefix / f"share/man/man1/{page.name}.gz")
    unit = "feros-launch@.service"
    put(PACKAGING / unit, prefix / "lib/systemd/system" / unit)
    put_documents(programs, prefix, "feros")


def put_containers(programs, prefix):
    """Puts the containers and the libraries that they share with components below a prefix, and
    starts each container there."""
    for name in [*CONTAINERS, SHARED_FEROS]:
        put_program(programs, programs.path(name), prefix / PROGRAMS / name)
    if library := programs.standard_library():
        put_program(programs, library, prefix / PROGRAMS / library.name)
    for name in CONTAINERS:
        # At its start, a container compares its build with that of the library.
        programs.run(prefix / PROGRAMS / name, "--help")
    put_documents(programs, prefix, "feros-containers")


def date(root, moment):
    """Gives all files below a folder the time of the release, and all folders the usual mode."""
    for path in [root, *root.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
        os.utime(path, (moment, moment), follow_symlinks=False)


def make_tarball(programs, out):
    """Makes the tarball; returns its path."""
    name = f"feros-{programs.version}-linux-{programs.machine}"
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder) / name
        put_command(programs, prefix)
        put_containers(programs, prefix)
        put(ROOT / "LICENSE", prefix / "LICENSE")
        moment = bill_of_materials.moment()
        date(prefix, moment)
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path in [prefix, *sorted(prefix.rglob("*"))]:
                entry = archive.gettarinfo(path, path.relative_to(folder).as_posix())
                entry.uid = entry.gid = 0
                entry.uname = entry.gname = "root"
                entry.mtime = moment
                with path.open("rb") if entry.isreg() else io.BytesIO() as content:
                    archive.addfile(entry, content)
        tarball = out / f"{name}.tar.gz"
        tarball.write_bytes(gzip.compress(packed.getvalue(), 6, mtime=0))
    return tarball


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=ROOT / "target/dist")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    try:
        tarball = make_tarball(Programs(arguments.programs), arguments.out)
    except ReleaseError as error:
        raise SystemExit(f"installed_files: error: {error}") from error
    print(f"{tarball}: {tarball.stat().st_size} bytes")


if __name__ == "__main__":
    main()
