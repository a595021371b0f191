#!/usr/bin/env python3
"""Tries the released form of Feros: a user's package whose dependencies come from a registry.

    scripts/check_release.py [--command TARGET/feros] [--folder DIR]

Packs every published crate as `cargo publish` would, puts them beside third-party crates into a
folder that stands for the registry, creates a package with a component by `feros pkg create`,
builds it by `feros component build`, and loads it into its container. Publishes nothing.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT / "crates/client/shared/Cargo.toml"
# A packed crate contains only files below its own folder, so the interfaces are copied there for
# packing.
PACKED_INTERFACES = ROOT / "crates/types/interface/interfaces"
CARGO = os.environ.get("CARGO", "cargo")
# The number of attempts to find the container, one second apart. This is only a watchdog.
TRIES = 120


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run([str(word) for word in command], check=True, text=True, **options)


def published():
    """Returns the names of the workspace's members that are published."""
    answer = run(CARGO, "metadata", "--no-deps", "--format-version", "1", "--locked",
                 cwd=ROOT, stdout=subprocess.PIPE).stdout
    return sorted(p["name"] for p in json.loads(answer)["packages"] if p["publish"] != [])


def pack(folder):
    """Packs all published crates, including `feros-shared`; returns their .crate files."""
    target = folder / "packed"
    shutil.rmtree(target, ignore_errors=True)
    # Lock files are omitted, since the crates that they would name have not been published yet.
    options = ["--no-verify", "--allow-dirty", "--exclude-lockfile", "--target-dir", target]
    names = [word for name in published() for word in ("-p", name)]
    shutil.copytree(ROOT / "interfaces", PACKED_INTERFACES, dirs_exist_ok=True)
    try:
        run(CARGO, "package", *names, *options, cwd=ROOT)
        run(CARGO, "package", "--manifest-path", SHARED, *options, cwd=ROOT)
    finally:
        shutil.rmtree(PACKED_INTERFACES)
    return sorted((target / "package").glob("*.crate"))


def make_registry(folder, crates):
    """Makes a folder that cargo uses as a registry, with third-party crates and our packed crates."""
    registry = folder / "registry"
    shutil.rmtree(registry, ignore_errors=True)
    run(CARGO, "vendor", "--locked", "--versioned-dirs", registry, cwd=ROOT,
        stdout=subprocess.DEVNULL)
    for crate in crates:
        with tarfile.open(crate) as archive:
            archive.extractall(registry, filter="data")
        digest = hashlib.sha256(crate.read_bytes()).hexdigest()
        checksum = {"files": {}, "package": digest}
        (registry / crate.name.removesuffix(".crate") / ".cargo-checksum.json").write_text(
            json.dumps(checksum))
    return registry


def build(folder, registry, command):
    """Makes a package with a component and builds it against the registry; returns the prefix."""
    home, prefix = folder / "home", folder / "prefix"
    for path in (home, prefix):
        shutil.rmtree(path, ignore_errors=True)
    (home / ".cargo").mkdir(parents=True)
    (home / ".cargo/config.toml").write_text(
        '[source.crates-io]\nreplace-with = "packed"\n\n'
        f'[source.packed]\ndirectory = "{registry}"\n')
    run(command, "pkg", "create", "released", "--library-name", "ear", cwd=home)
    run(command, "component", "build", "--prefix", prefix, "--build-dir", folder / "build",
        cwd=home / "released")
    return prefix


def load(prefix, command):
    """Loads the component, and prints the components of the container."""
    environment = dict(os.environ, FEROS_PREFIX_PATH=str(prefix), ROS_DOMAIN_ID="102",
                       ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
    environment.pop("LD_LIBRARY_PATH", None)
    container = subprocess.Popen([prefix / "lib/feros_component/component_container"],
                                 env=environment)
    try:
        line = [command, "component", "load", "/ComponentManager", "released", "released::Ear"]
        for _ in range(TRIES):
            loaded = subprocess.run(line, env=environment, text=True, stdout=subprocess.PIPE)
            if loaded.returncode == 0:
                return loaded.stdout.strip()
            if container.poll() is not None:
                break
            time.sleep(1)
        sys.exit("the component was not loaded")
    finally:
        container.send_signal(signal.SIGINT)
        container.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", type=Path, default=ROOT / "target/debug/feros")
    parser.add_argument("--folder", type=Path, default=ROOT / "target/released")
    arguments = parser.parse_args()
    if not arguments.command.is_file():
        sys.exit(f"there is no {arguments.command}: cargo build -p feros-cli, or --command")
    folder, command = arguments.folder.resolve(), arguments.command.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    registry = make_registry(folder, pack(folder))
    print(load(build(folder, registry, command), command))


if __name__ == "__main__":
    main()
