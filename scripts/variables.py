"""Finds the environment variables that Feros reads, and those that the book's page names."""

import re

PAGE = "docs/book/pages/environment.md"
# The variables that the page must have. Others, such as HOME, belong to the whole system.
OWN = (
    r"(?:(?:FEROS|ROS|CYCLONEDDS|ZENOH|FASTDDS|FASTRTPS|RMW_FASTRTPS)_[A-Z0-9_]*[A-Z0-9]"
    r"|AMENT_PREFIX_PATH|OVERRIDE_LAUNCH_PROCESS_OUTPUT|RMW_IMPLEMENTATION)"
)
# Variables that sources have, but that users do not set, with the reasons.
INTERNAL = {
    "FEROS_COMPONENT_CRATES": "`feros component build` sets it for its own builds",
    "FEROS_LAB_CELL": "the laboratory marks the processes of a measurement with it",
    "FEROS_LAB_OUT": "the laboratory sets it for the builds of its peers",
}
# Crates that only tests use.
FOR_TESTS = "crates/base/test-support/"


def is_source(place):
    """Whether a file, by its path in the repository, belongs to a program that users run."""
    folders = place.split("/")
    stem = folders[-1].partition(".")[0]
    has_programs = "src" in folders or place.startswith("crates/bindings/python/python/")
    has_programs = has_programs or "/shim/" in place
    is_test = {"tests", "benches", "examples"} & set(folders) or stem.endswith("tests")
    in_place = place.startswith(("crates/", "lab/laboratory/"))
    return in_place and has_programs and not is_test and not place.startswith(FOR_TESTS)


def is_build(place):
    """Whether a file is a part of a build script."""
    return place.startswith("crates/") and ("/build/" in place or place.endswith("/build.rs"))


def read_by(place, text):
    """Returns the variables that a source has as whole texts. Values that the compiler reads (`env!`)
    and tests are left out, and in C++ all texts but the arguments of `getenv`."""
    if place.endswith((".c", ".h", ".cpp", ".hpp")):
        return set(re.findall(rf"getenv\s*\(\s*\"({OWN})\"", text))
    if place.endswith(".rs"):
        text = re.sub(r"//.*", "", text)
        text = re.split(r"^#\[cfg\(.*\btest\b.*\)\]\nmod \w+ \{", text, flags=re.M)[0]
        text = re.sub(r"\b(?:option_)?env!\(\s*\"\w+\"", "", text)
        return set(re.findall(rf"(?<!b)\"({OWN})\"", text))
    return set(re.findall(rf"[\"']({OWN})[\"']", text))


def on_page(text):
    """Returns the variables that the first cells of the page's tables name."""
    rows = re.findall(r"^\| (`[^|]*) \|", text, re.M)
    return {name for row in rows for name in re.findall(rf"`({OWN})`", row)}


def faults(page, sources, builds):
    """Returns what is wrong with a page, given all variables of sources and of build scripts."""
    named = on_page(page)
    missing = sorted(sources - named - INTERNAL.keys())
    unknown = sorted(named - sources - builds)
    unused = sorted(INTERNAL.keys() - sources - builds)
    return [
        *(f"{name} is missing, which a source reads" for name in missing),
        *(f"no source reads {name}" for name in unknown),
        *(f"scripts/variables.py names {name}, which no source has" for name in unused),
    ]
