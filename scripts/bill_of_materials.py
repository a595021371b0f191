#!/usr/bin/env python3
"""Writes the bill of materials of the released programs: each crate in them, with its version,
licence and checksum, in CycloneDX's JSON. The facts come from `cargo metadata` and Cargo.lock, so
the same sources give the same file.

    scripts/bill_of_materials.py [--target TRIPLE] FILE
"""

import argparse
import json
import os
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARGO = os.environ.get("CARGO", "cargo")
# The crates whose programs and libraries are released.
RELEASED = ["feros-cli", "feros-container", "feros-python", "feros-rmw"]
# Crates that are built only as tools, but whose C or C++ sources end up in the programs.
LINKED_SOURCES = ["cyclonedds-src"]


def moment():
    """Returns the time of the release in seconds since the epoch: the time of the commit, unless
    SOURCE_DATE_EPOCH gives another time."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    command = ["git", "log", "-1", "--format=%ct"]
    return int(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def metadata(target):
    """Returns what cargo knows about the crates for a target."""
    command = [CARGO, "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    answer = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return json.loads(answer.stdout)


def own_target():
    """Returns the target of this machine."""
    command = [os.environ.get("RUSTC", "rustc"), "-vV"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return next(line.removeprefix("host: ") for line in said.splitlines() if line.startswith("host: "))


def linked(known):
    """Returns the crates that the released crates link, by their ids, each with the crates that it
    links itself."""
    names = {package["id"]: package["name"] for package in known["packages"]}
    nodes = {node["id"]: node for node in known["resolve"]["nodes"]}

    def is_linked(dependency):
        kinds = {kind["kind"] for kind in dependency["dep_kinds"]}
        return None in kinds or names[dependency["pkg"]] in LINKED_SOURCES

    open_ids = [member for member in known["workspace_members"] if names[member] in RELEASED]
    missing = set(RELEASED) - {names[member] for member in open_ids}
    if missing:
        raise SystemExit(f"bill_of_materials: error: the workspace has no {', '.join(missing)}")
    found = {}
    while open_ids:
        crate = open_ids.pop()
        if crate not in found:
            found[crate] = sorted(d["pkg"] for d in nodes[crate]["deps"] if is_linked(d))
            open_ids += found[crate]
    return found


def checksums():
    """Returns the checksum of each crate of the registry, by name and version."""
    entry = r'name = "(.*)"\nversion = "(.*)"\nsource = ".*"\nchecksum = "(.*)"'
    found = re.findall(entry, (ROOT / "Cargo.lock").read_text())
    return {(name, version): checksum for name, version, checksum in found}


def component(package, checksum):
    """Returns the entry of a crate."""
    reference = f"pkg:cargo/{package['name']}@{package['version']}"
    entry = {
        "type": "library",
        "bom-ref": reference,
        "name": package["name"],
        "version": package["version"],
        "purl": reference,
    }
    if package["license"]:
        # Some old manifests write a slash for "or".
        entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if checksum:
        entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return entry


def bill(known):
    """Returns the bill of materials."""
    packages = {package["id"]: package for package in known["packages"]}
    crates, sums = linked(known), checksums()
    entries = {}
    for crate in crates:
        package = packages[crate]
        entries[crate] = component(package, sums.get((package["name"], package["version"])))
    version = next(p["version"] for p in packages.values() if p["name"] == "feros-cli")
    time = datetime.fromtimestamp(moment(), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    references = {crate: entry["bom-ref"] for crate, entry in entries.items()}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "component": {
                "type": "application", "bom-ref": "feros", "name": "feros", "version": version,
            },
        },
        "components": sorted(entries.values(), key=lambda entry: entry["bom-ref"]),
        "dependencies": sorted(
            (
                {"ref": references[crate], "dependsOn": sorted(references[d] for d in below)}
                for crate, below in crates.items()
            ),
            key=lambda entry: entry["ref"],
        ),
    }


def write(path, target=None):
    """Writes the bill of materials into a file; returns the number of crates in it."""
    found = bill(metadata(target or own_target()))
    path.write_text(json.dumps(found, indent=1) + "\n")
    return len(found["components"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target")
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    print(f"{arguments.file}: {write(arguments.file, arguments.target)} crates")


if __name__ == "__main__":
    main()
