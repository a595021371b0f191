#!/usr/bin/env python3
"""Finds out for which machine the built programs of a release are, and runs and reads them here.

    scripts/release_programs.py run PROGRAM [ARGUMENT...]
    scripts/release_programs.py strip PROGRAM

Programs for another machine are run by the program that cargo also uses, for example with
CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=qemu-aarch64.

    scripts/release_programs.py check TRIPLE [zig]

names each tool that a release for a target needs and this machine lacks. With `zig`, zig links
the command and the wheel.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTAINERS = [
    "component_container",
    "component_container_isolated",
    "component_container_mt",
    "component_container_process",
]
SHARED_FEROS = "libferos_shared.so"
# The machines, by the number in the head of a program. The second name is Debian's.
MACHINES = {0x3E: ("x86_64", "amd64"), 0xB7: ("aarch64", "arm64")}


class ReleaseError(Exception):
    """Something is wrong with the programs or with this machine."""


def tool(name, package, *words, **options):
    """Runs a tool of the system; returns its output."""
    if not shutil.which(name):
        raise ReleaseError(f"there is no {name}. Run: apt-get install {package}")
    done = subprocess.run([name, *map(str, words)], capture_output=True, text=True, **options)
    if done.returncode:
        raise ReleaseError(f"{name} failed: {done.stderr.strip()}")
    return done.stdout


def workspace_version():
    """Returns the version of all crates."""
    manifest = (ROOT / "Cargo.toml").read_text()
    return re.search(r'^\[workspace\.package\]\n(?:.+\n)*?version = "(.*)"', manifest, re.M)[1]


def machine_of(program):
    """Returns the names of the machine for which a program is: the system's and Debian's."""
    head = program.read_bytes()[:20]
    found = MACHINES.get(int.from_bytes(head[18:20], "little"))
    if head[:4] != b"\x7fELF" or not found:
        known = " or ".join(name for name, _ in MACHINES.values())
        raise ReleaseError(f"{program} is not a program for {known}")
    return found


def variable_of_cargo(machine, end):
    """Returns the variable that tells cargo how it links or runs programs for a machine."""
    return f"CARGO_TARGET_{machine.upper()}_UNKNOWN_LINUX_GNU_{end}"


def runner(machine):
    """Returns the words that run a program for a machine, before the name of the program."""
    if machine == platform.machine():
        return []
    variable = variable_of_cargo(machine, "RUNNER")
    words = os.environ.get(variable, "").split()
    if not words:
        raise ReleaseError(
            f"the programs are for {machine}, and this machine is {platform.machine()}. Set "
            f"{variable} to a program that runs them, such as qemu-{machine} (apt-get install "
            "qemu-user), or run this script on such a machine."
        )
    return words


def binutils(machine):
    """Returns the beginning of the names of the tools for a machine, and Debian's package of them."""
    if machine == platform.machine():
        return "", "binutils"
    return f"{machine}-linux-gnu-", f"binutils-{machine.replace('_', '-')}-linux-gnu"


def binutil(machine, name, *words):
    """Runs a tool that reads or changes programs for a machine; returns its output."""
    prefix, package = binutils(machine)
    return tool(prefix + name, package, *words)


class Programs:
    """A folder with programs that are built already."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.command = self.path("feros")
        self.machine, self.architecture = machine_of(self.command)
        self.target = f"{self.machine}-unknown-linux-gnu"
        self.runner = runner(self.machine)
        self.version = self.say("-V").strip().removeprefix("feros ")
        if self.version != workspace_version():
            raise ReleaseError(
                f"{self.command} has the version {self.version!r}, and the sources have "
                f"{workspace_version()!r}. Build the programs again."
            )

    def path(self, name):
        """Returns the path of a program, which must exist."""
        path = self.folder / name
        if not path.is_file():
            raise ReleaseError(f"there is no {path}. Build it, or name another folder.")
        return path

    def standard_library(self):
        """Returns the shared standard library of Rust that the containers need. It is in the
        folder of the programs or in that of the compiler. Some compilers have none, such as Debian's
        for other machines: then libferos_shared.so contains it, and the result is None."""
        needed = self.binutil("readelf", "-d", self.path(CONTAINERS[0]))
        name = re.search(r"\[(libstd-\w+\.so)\]", needed)
        if not name:
            return None
        compiler = os.environ.get("RUSTC", "rustc")
        compilers = tool(compiler, "rustc", "--print", "target-libdir", "--target", self.target)
        for folder in (self.folder, Path(compilers.strip())):
            if (folder / name[1]).is_file():
                return folder / name[1]
        raise ReleaseError(
            f"there is no {name[1]}. Install the compiler that built the containers, or put the "
            f"library into {self.folder}."
        )

    def binutil(self, name, *words):
        """Runs a tool that reads or changes these programs; returns its output."""
        return binutil(self.machine, name, *words)

    def run(self, program, *words):
        """Runs one of the programs; returns what it prints."""
        first, *rest = [*self.runner, str(program), *words]
        return tool(first, "qemu-user", *rest)

    def say(self, *words):
        """Returns what the command prints."""
        return self.run(self.command, *words)


# The tools that a release needs, with the way to get each.
PYTHON_TOOLS = "run scripts/setup.sh, and put .venv/bin on PATH"
TOOLS = {
    "cargo": "install Rust (https://rustup.rs)",
    "cmake": "run scripts/setup.sh --demo",
    "cc": "run scripts/setup.sh --demo",
    "c++": "apt-get install g++",
    "maturin": PYTHON_TOOLS,
    "auditwheel": PYTHON_TOOLS,
    "patchelf": "apt-get install patchelf",
    "dpkg-deb": "apt-get install dpkg",
    "dpkg-shlibdeps": "apt-get install dpkg-dev",
}
ZIG_TOOLS = {"cargo-zigbuild": "pip install -r scripts/requirements-release.txt, and put it on PATH"}


def missing_tools(triple, with_zig):
    """Returns a line for each thing that a release for a target needs and this machine lacks."""
    wanted = TOOLS | (ZIG_TOOLS if with_zig else {})
    machine = triple.split("-")[0]
    prefix, package = binutils(machine)
    wanted |= {prefix + name: f"apt-get install {package}" for name in ("strip", "readelf")}
    lines = [f"there is no {name}: {cure}" for name, cure in wanted.items() if not shutil.which(name)]
    if machine != platform.machine():
        for end, example in (("LINKER", f"{machine}-linux-gnu-gcc"), ("RUNNER", f"qemu-{machine}")):
            variable = variable_of_cargo(machine, end)
            words = os.environ.get(variable, "").split()
            if not words or not shutil.which(words[0]):
                lines.append(f"{variable} names no program, such as {example}")
    try:
        library = Path(tool("rustc", "rustc", "--print", "target-libdir", "--target", triple).strip())
    except ReleaseError as error:
        return [*lines, str(error)]
    if not list(library.glob("libstd-*.rlib")):
        lines.append(f"there is no standard library of Rust for {triple} in {library}")
    return lines


def main():
    match sys.argv[1:]:
        case ["check", triple, *rest] if rest in ([], ["zig"]):
            if lines := missing_tools(triple, bool(rest)):
                raise ReleaseError("the release cannot be made here:\n  " + "\n  ".join(lines))
        case ["run", program, *words]:
            words = [*runner(machine_of(Path(program))[0]), program, *words]
            os.execvp(words[0], words)
        case ["strip", program]:
            binutil(machine_of(Path(program))[0], "strip", program)
        case _:
            raise SystemExit(__doc__.strip())


if __name__ == "__main__":
    try:
        main()
    except (OSError, ReleaseError) as error:
        raise SystemExit(f"release_programs: error: {error}") from error
