"""The parts of `./test`, with their needs and their steps.

A person runs a part by its name. A step is one command. The schedule (`schedule.py`) runs
the steps of all chosen parts; a step that two parts share runs once.
"""

import dataclasses
import os
import pathlib

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target")).resolve()
# The folder for the output of each step, the reports of tests, and the table.
RESULTS = TARGET / "test"

# Lanes run at the same time; the numbers are steps at once. Most tests wait for other processes, so
# a build and several steps with tests keep two processors busy. With two builds at once, each build
# took a third more of the processors' time, and the tests began three minutes later.
SETUP, BUILD, RUN = "setup", "build", "run"
LANES = {SETUP: 1, BUILD: 1, RUN: 2}

# Makes cargo compile our crates with clippy, as `cargo clippy -- -D warnings` does, but completely
# (clippy's src/main.rs shows the form of the arguments), and with rustdoc.
LINTED = {
    "RUSTC_WORKSPACE_WRAPPER": str(REPOSITORY / "scripts/test/compile_and_document"),
    "CLIPPY_ARGS": "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
}
CARGO = {
    # A fresh clone is built only once, so the compiler's data for incremental builds would only
    # take disk space.
    "CARGO_INCREMENTAL": "0",
    # Line numbers in back traces would double the disk space again. The same applies to build
    # dependencies; Cargo.toml has the reason.
    "CARGO_PROFILE_DEV_DEBUG": "none",
    "CARGO_PROFILE_DEV_BUILD_OVERRIDE_DEBUG": "none",
    # Names of functions are a third of each of the 200 test programs; a panic names its file and line.
    "CARGO_PROFILE_DEV_STRIP": "symbols",
    # All builds share one build of Cyclone DDS (crates/engines/cyclonedds-sys/build/cache.rs).
    "FEROS_CYCLONEDDS_CACHE": str(TARGET / "cyclonedds"),
    # The extension of the wheel is built with the workspace, without libpython, as maturin would
    # build it.
    "PYO3_BUILD_EXTENSION_MODULE": "1",
}
# The tools that scripts/setup.sh installs.
TOOLS = {"PATH": f"{REPOSITORY / '.venv' / 'bin'}:{os.environ['PATH']}"}
# With this variable, tests do not rebuild programs that the run has built.
BUILT = {"FEROS_TESTS_BUILT": "1"}
AS_BUILT = {"CARGO": str(REPOSITORY / "scripts/test/cargo_as_built")}


@dataclasses.dataclass
class Step:
    """One command."""

    name: str
    lane: str
    command: list
    # The names of the steps that must pass before.
    after: list = dataclasses.field(default_factory=list)
    environment: dict = dataclasses.field(default_factory=dict)
    # The numbers of tests come from the output of the command, through this reader in counts.py,
    # ...
    counts: str = ""
    # ... or from this file in JUnit format.
    report: pathlib.Path = None
    # A watchdog for a command that hangs. Beside tests, a slow machine needs half an hour for builds
    # that usually take minutes.
    limit_seconds: int = 3600
    # Whether most other steps wait for this build, so that it does not give way to them.
    is_awaited: bool = False
    # Whether the step is left out if the run's time (FEROS_TEST_MINUTES) is over when it could begin.
    if_time: bool = False


@dataclasses.dataclass
class Build:
    """Test programs that one call of cargo builds."""

    # The packages to compile, and those with tests to run, as arguments of cargo.
    compiled: list
    tested: list
    manifest: pathlib.Path = REPOSITORY / "Cargo.toml"
    environment: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Suite:
    """Tests of a build that run together, with the nextest profile of the same name."""

    build: str
    # A nextest filter.
    filter: str = "all()"
    environment: dict = dataclasses.field(default_factory=dict)


# Engines that are features are built in, so that their tests need no separate build.
ENGINES = "--features=feros-cli/ros1,feros/fastdds,feros-fastdds/suite"
FAST_DDS_2 = {"FEROS_FASTDDS_PREFIX": "/usr", "FEROS_FASTDDS_EXPECTED": "2."}
ON_FAST_DDS = ["--package=feros-fastdds", "--features=suite", "--tests"]
BUILDS = {
    "workspace": Build(["--workspace", "--all-targets", ENGINES], ["--workspace", ENGINES]),
    # This build uses Debian's Fast DDS. The builds for Fast DDS 3 are repeated after this build.
    "fastdds2": Build(ON_FAST_DDS, ON_FAST_DDS, environment=FAST_DDS_2),
    # This is a separate workspace; see its Cargo.toml.
    "zenoh": Build(["--all-targets"], ["--tests"], REPOSITORY / "crates/engines/zenoh/Cargo.toml"),
}
# Tests that talk with stock ROS 2: those that run once more with Jazzy.
WITH_STOCK = " | ".join((
    "package(feros-interop) & not test(/^humble::/)",
    "package(feros-cli) & test(/^stock::/)",
    "package(feros-container) & test(/^stock::/)",
    "package(feros-rmw) & binary(it)",
    "package(feros-typesupport) & test(/^(fast_cdr|layouts)::/)",
))
# Tests that need a wheel, which is built last.
ON_WHEEL = "binary_id(feros-lab::peers)"
WITH_JAZZY = {"FEROS_ROS2": str(REPOSITORY / ".venv-jazzy")}
SUITES = {
    "workspace": Suite(
        "workspace", f"not package(feros-fastdds) & not {ON_WHEEL}", BUILT
    ),
    "jazzy": Suite("workspace", WITH_STOCK, BUILT | WITH_JAZZY),
    "peers": Suite("workspace", ON_WHEEL, BUILT),
    "fastdds": Suite("workspace", "package(feros-fastdds)"),
    "fastdds_jazzy": Suite("workspace", "package(feros-fastdds) & binary(stock)", WITH_JAZZY),
    "library": Suite("workspace", "package(feros) & binary(it)", {"FEROS_ENGINE": "fastdds"}),
    "fastdds2": Suite("fastdds2", "all()", FAST_DDS_2),
    "zenoh": Suite("zenoh"),
}


def report_of(suite):
    """Returns the file with the results of the suite's tests, in JUnit format."""
    return RESULTS / f"{suite}.xml"


FEROS = TARGET / "debug" / "feros"
FUZZ_SECONDS = os.environ.get("FEROS_FUZZ_SECONDS", "5")
LOOM = {
    "RUSTFLAGS": "--cfg loom",
    # The folder is separate, since other flags would make cargo build everything else again.
    "CARGO_TARGET_DIR": str(TARGET / "loom"),
}
LOOM_TESTS = ["cargo", "test", "--locked", "--profile=loom", "--lib"] + [
    f"--package=feros-{name}"
    for name in (
        *("doorbell", "executor", "shm", "trace"),
        *("cyclonedds-queue-under-loom", "turns-under-loom", "goals-under-loom"),
    )
]
COUNT_BUILD = ["scripts/count_message.py", "--counted", "--build"]
DENY = ["cargo-deny", "--locked", "check", "licenses", "bans", "sources"]

COMPILERS, PACKAGES, PYTHON = "compilers", "packages of the system", "stock ROS 2 and tools"
RUST_TESTS = "scripts/test/rust_tests.py"
JAZZY_TESTS = "interop with stock ROS 2 Jazzy"
# The steps whose tests run on Fast DDS 3, and their suites.
ON_FAST_DDS_3 = {
    "engine on Fast DDS": "fastdds",
    "engine on Fast DDS beside Jazzy": "fastdds_jazzy",
    "library on Fast DDS": "library",
}


def build_tests(name, after, **settings):
    """Returns the step that compiles test programs."""
    return Step(f"build: {name}", BUILD, [RUST_TESTS, "build", name], after, **settings)


def run_tests(title, suite, after=()):
    """Returns the step that runs test programs."""
    after = [f"build: {SUITES[suite].build}", *after]
    return Step(title, RUN, [RUST_TESTS, "run", suite], after, report=report_of(suite))


STEPS = [
    Step(COMPILERS, SETUP, ["scripts/setup.sh", "--demo", "--packages"]),
    Step(PACKAGES, SETUP, ["scripts/setup.sh", "--lab", "--packages"], [COMPILERS]),
    Step(PYTHON, SETUP, ["scripts/setup.sh", "--lab"], [PACKAGES]),
    # Builds that only need compilers run while the other systems are fetched.
    Step("build: loom", BUILD, [*LOOM_TESTS, "--no-run"], [COMPILERS], LOOM),
    Step("build: cost of a message", BUILD, COUNT_BUILD, [COMPILERS]),
    build_tests("workspace", [PYTHON], is_awaited=True),
    Step("build: wheel", BUILD, ["scripts/test_python.sh", "--build"], ["build: workspace"], BUILT | AS_BUILT),
    run_tests("tests, interop with stock ROS 2 among them", "workspace"),
    Step("format", RUN, ["cargo", "fmt", "--all", "--check"]),
    Step("text", RUN, ["scripts/check_text.py"]),
    Step("figure of the README", RUN, ["scripts/latency_figure.py", "--check"]),
    Step("scripts of these tests", RUN, ["python3", "scripts/test/own_tests.py"], counts="unittest"),
    Step("page of the view, made from src", RUN, ["crates/tools/view/page/build", "--check"], [PACKAGES]),
    Step("book", RUN, ["mdbook", "build", "docs/book"], [PYTHON]),
    Step("licences, bans, sources", RUN, DENY, [PYTHON]),
    Step("loom", RUN, LOOM_TESTS, ["build: loom"], LOOM, "libtest"),
    Step("wheel", RUN, ["scripts/test_python.sh", "--run"], ["build: wheel"], counts="pytest"),
    Step(
        "commands of README and book",
        RUN,
        ["scripts/check_text.py", "--command", FEROS],
        ["build: workspace"],
    ),
    Step(
        "files of a release",
        RUN,
        ["python3", "scripts/test/release_tests.py"],
        ["build: workspace"],
        counts="unittest",
    ),
    Step(
        "commands of README, book and examples, run",
        RUN,
        ["scripts/run_commands.py", str(FEROS.parent)],
        ["build: workspace"],
    ),
    Step(
        "page of the view, in Chromium",
        RUN,
        ["crates/tools/view/page/test"],
        ["build: workspace", "page of the view, made from src"],
        {"FEROS_COMMAND": str(FEROS)},
        "node",
    ),
    Step(
        "examples of the documentation",
        BUILD,
        ["cargo", "test", "--workspace", "--locked", "--doc", ENGINES],
        ["build: workspace"],
        LINTED,
        "libtest",
    ),
    # The parts that share the fewest crates with other parts are built last.
    build_tests("zenoh", [PYTHON], if_time=True),
    Step("build: fuzz", BUILD, ["scripts/fuzz.sh", "build"], [PYTHON], if_time=True),
    build_tests("fastdds2", list(ON_FAST_DDS_3)),
    run_tests(JAZZY_TESTS, "jazzy"),
    run_tests("peers of the laboratory", "peers", ["build: wheel"]),
    *(run_tests(name, suite) for name, suite in ON_FAST_DDS_3.items()),
    run_tests("engine on Fast DDS 2", "fastdds2"),
    run_tests("engine on Zenoh", "zenoh"),
    Step(
        "cost of a message",
        RUN,
        ["scripts/count_message.py", "--counted", "--check"],
        ["build: cost of a message", PACKAGES],
    ),
    Step("fuzz", RUN, ["scripts/fuzz.sh", FUZZ_SECONDS], ["build: fuzz"], counts="lines"),
]

# --- the parts to run by name -----------------------------------------------------------------------


@dataclasses.dataclass
class Part:
    """A part that a person runs by name."""

    name: str
    what: str
    # The names of the part's steps; the schedule adds the steps that these need.
    steps: list


PARTS = [
    Part("sources", "format, text, figure, licences, the book, these scripts", [
        *("format", "text", "figure of the README", "scripts of these tests"),
        *("book", "licences, bans, sources"),
    ]),
    Part("lints", "clippy and rustdoc without warnings, which compiles all tests", ["build: workspace"]),
    Part("rust", "all Rust tests, interop with stock ROS 2 among them", [
        *("tests, interop with stock ROS 2 among them", JAZZY_TESTS, "peers of the laboratory"),
        *("commands of README and book", "commands of README, book and examples, run"),
        "files of a release",
    ]),
    Part("docs", "documentation without warnings, and its examples", [
        "build: workspace", "examples of the documentation",
    ]),
    Part("python", "the wheel in an empty environment, and its tests", ["wheel"]),
    Part("page", "the page of `feros view`, in Chromium", [
        "page of the view, made from src", "page of the view, in Chromium",
    ]),
    Part("cost", "instructions and cache lines of a message", ["cost of a message"]),
    Part("loom", "concurrency under loom", ["loom"]),
    Part("fuzz", "each fuzz target for FEROS_FUZZ_SECONDS (5)", ["fuzz"]),
    Part("fastdds", "the engine on Fast DDS 3 and 2, and the library on it", [
        *ON_FAST_DDS_3, "engine on Fast DDS 2",
    ]),
    Part("zenoh", "the engine on Zenoh", ["engine on Zenoh"]),
]
# These steps need no other systems and no installation, and are separate from all other steps.
SKIP_INTEROP = LINTED | {"FEROS_SKIP_INTEROP": "1"}
UNIT_TESTS = ["cargo", "test", "--workspace", "--locked", "--no-fail-fast", "--lib", "--bins"]
QUICK_STEPS = [
    Step("quick: lints", BUILD, ["cargo", "build", "--workspace", "--all-targets", "--locked"], [], LINTED),
    Step("quick: unit tests", BUILD, UNIT_TESTS, ["quick: lints"], SKIP_INTEROP, "libtest"),
    Step(
        "quick: library, over loopback",
        BUILD,
        ["cargo", "test", "--locked", "--package=feros", "--test=it"],
        ["quick: lints"],
        SKIP_INTEROP,
        "libtest",
    ),
    Step(
        "quick: examples of the book",
        BUILD,
        ["cargo", "test", "--locked", "--package=feros-book", "--doc"],
        ["quick: lints"],
        SKIP_INTEROP,
        "libtest",
    ),
]
QUICK = Part("quick", "what needs no installation: sources, lints, unit tests, the library", [
    *("format", "text", "figure of the README", "scripts of these tests"),
    *(step.name for step in QUICK_STEPS),
])


def wanted(names):
    """Returns the steps of these parts and all steps that these need, in the order of the list."""
    steps = [*STEPS, *QUICK_STEPS]
    by_name = {step.name: step for step in steps}
    found = set()
    missing = [name for part in [*PARTS, QUICK] if part.name in names for name in part.steps]
    while missing:
        name = missing.pop()
        if name not in found:
            found.add(name)
            missing += by_name[name].after
    return [step for step in steps if step.name in found]
