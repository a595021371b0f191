#!/usr/bin/env python3
"""Installs the files of a release into bare root folders of Debian, and uses each as a newcomer
would: as an ordinary user (root only installs the Debian packages), with nothing but Python, without
a network but loopback.

    scripts/check_in_bare_roots.py FOLDER [SUITE...]

FOLDER is what `scripts/release.sh` made; the suites are bookworm and trixie unless named. It needs
root, debootstrap and unshare, and takes some two minutes a suite. `debootstrap`, `pip` and `apt`
fetch packages. For each suite it prints the seconds from the empty environment to the first message.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from release_programs import workspace_version

SUITES = ["bookworm", "trixie"]
PACKAGES = "python3,python3-venv,ca-certificates"
NEEDED = {"debootstrap": "debootstrap", "unshare": "util-linux", "ip": "iproute2"}
# In the root, everything lies below this folder of the user.
HOME = "/home/user"
# A limit for what hangs, not a measure.
SECONDS = 900
# /dev/shm as a container has it.
SHARED_MEMORY = "64m"
ENTER = """
set -eu
mount --rbind /dev "$0/dev"; mount --make-rslave "$0/dev"
mount -t tmpfs -o size={shared},mode=1777 tmpfs "$0/dev/shm"
mount -t proc proc "$0/proc"
{network}
exec chroot --userspec={user} "$0" /bin/sh -euc "$1"
"""
FIRST_MESSAGE = """
feros topic pub --rate 10 /chatter std_msgs/msg/String '{{data: hello}}' >/dev/null &
publisher=$!
{echo} | grep -q hello
kill $publisher; wait $publisher || true
"""
LISTENER = """
import rclpy
from std_msgs.msg import String

rclpy.init()
node = rclpy.create_node("listener")
heard = []
node.create_subscription(String, "chatter", lambda message: heard.append(message.data), 10)
while not heard:
    rclpy.spin_once(node, timeout_sec=1)
print(heard[0], flush=True)
rclpy.shutdown()
"""
# Records and plays a bag, opens the page, asks the doctor.
REST = """
feros topic pub --rate 20 /chatter std_msgs/msg/String '{data: hello}' >/dev/null & publisher=$!
feros bag record -o bag /chatter >/dev/null 2>&1 & recorder=$!
sleep 4
kill -INT $recorder; wait $recorder || true
kill $publisher; wait $publisher || true
feros topic echo --once /chatter >heard & listener=$!
feros bag play bag >/dev/null 2>&1
wait $listener
grep -q hello heard
feros view --port 18642 >view.log 2>&1 & view=$!
python - <<'PYTHON'
import time, urllib.request
for _ in range(100):
    try:
        page = urllib.request.urlopen("http://127.0.0.1:18642/").read().decode()
        break
    except OSError:
        time.sleep(0.1)
assert "Feros" in page, page[:200]
PYTHON
kill -INT $view; wait $view || true
feros doctor >doctor.log || true
grep -q 'shared memory' doctor.log
"""


class CheckError(Exception):
    """A file of the release does not work, or this machine cannot try it."""


def run(words, **options):
    """Runs a command, which must succeed; returns its output."""
    options = {"capture_output": True, "text": True, "timeout": SECONDS} | options
    try:
        done = subprocess.run([str(word) for word in words], **options)
    except subprocess.TimeoutExpired as error:
        raise CheckError(f"{' '.join(map(str, words[:3]))} ... did not end: {error.stdout}") from error
    if done.returncode:
        said = (done.stdout + done.stderr)[-3000:]
        raise CheckError(f"{' '.join(map(str, words[:3]))} ... failed ({done.returncode}):\n{said}")
    return done.stdout


class Root:
    """A bare root folder of a suite of Debian."""

    def __init__(self, suite, folder):
        self.path = Path(folder) / suite
        run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite, self.path])
        # The network of this machine: its resolver, its certificates, its settings of pip.
        certificates = "etc/ssl/certs/ca-certificates.crt"
        for name in ("etc/resolv.conf", "etc/pip.conf", certificates):
            if Path("/", name).exists():
                shutil.copy(Path("/", name), self.path / name)
        self.run("useradd --create-home --uid 1000 user", user="0:0")

    def run(self, script, user="1000:1000", network=False):
        """Runs a script of a shell in the root; returns its output. Without a network, there is
        only loopback."""
        own = [] if network else ["--net"]
        enter = ENTER.format(
            shared=SHARED_MEMORY, user=user, network="" if network else "ip link set lo up"
        )
        settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        settings |= {"PATH": f"{HOME}/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": HOME}
        words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *own]
        words += ["sh", "-c", enter, self.path, f"cd {HOME if user != '0:0' else '/'}\n{script}"]
        return run(words, env=settings | {"LC_ALL": "C.UTF-8"})

    def give(self, file):
        """Copies a file into the home of the user; returns its path there."""
        shutil.copy(file, self.path / HOME.lstrip("/"))
        return f"{HOME}/{Path(file).name}"


def only(folder, pattern):
    """Returns the one file of a release that has a name of this form."""
    found = glob.glob(str(Path(glob.escape(str(folder))) / pattern))
    if len(found) != 1:
        raise CheckError(f"{folder} has {len(found)} files {pattern}, not one")
    return found[0]


def check_wheel(root, folder, version):
    """Installs the wheel; returns the seconds until the first message."""
    wheel = root.give(only(folder, f"feros-{version}-cp311-abi3-*.whl"))
    begin = time.monotonic()
    root.run(f"python3 -m venv venv; pip install --quiet {wheel}", network=True)
    root.run(FIRST_MESSAGE.format(echo="feros topic echo --once /chatter"))
    seconds = time.monotonic() - begin
    (root.path / HOME.lstrip("/") / "listener.py").write_text(LISTENER)
    root.run(FIRST_MESSAGE.format(echo="python listener.py"))
    root.run(REST)
    root.run("rm -r venv")
    return seconds


def check_rmw(root, folder, version):
    """Installs the wheel of the rmw library beside stock ROS 2 of the index, and uses it."""
    wheel = root.give(only(folder, f"feros_rmw-{version}-py3-none-*.whl"))
    stock = "'ros-jazzy-rclpy[fastrtps]' ros-jazzy-std-msgs"
    root.run(f"python3 -m venv venv; pip install --quiet {stock} {wheel}", network=True)
    root.run(
        "export RMW_IMPLEMENTATION=rmw_feros\n"
        "python - <<'PYTHON'\n"
        "import rclpy\n"
        "from rclpy.utilities import get_rmw_implementation_identifier as identifier\n"
        "rclpy.init(); rclpy.create_node('stock'); assert identifier() == 'rmw_feros', identifier()\n"
        "PYTHON"
    )
    root.run("rm -r venv")


def check_debian_packages(root, folder, version):
    """Installs the Debian packages, and uses the command and a container."""
    architecture = run(["dpkg", "--print-architecture"]).strip()
    files = [
        root.give(only(folder, f"{name}_{version}_{architecture}.deb"))
        for name in ("feros", "feros-containers")
    ]
    root.run(f"apt-get install --yes {' '.join(files)}", user="0:0", network=True)
    root.run(FIRST_MESSAGE.format(echo="feros topic echo --once /chatter"))
    root.run(
        "feros run rclcpp_components component_container >container.log 2>&1 & container=$!\n"
        "feros component load /ComponentManager robot_state_publisher "
        "robot_state_publisher::RobotStatePublisher -p robot_description:="
        "'<robot name=\"r\"><link name=\"base\"/></robot>'\n"
        "feros node list | grep -q robot_state_publisher\n"
        "kill -INT $container; wait $container || true"
    )
    root.run("apt-get remove --yes feros", user="0:0")


def check_tarball(root, folder, version):
    """Unpacks the tarball, and uses its command."""
    tarball = root.give(only(folder, f"feros-{version}-linux-*.tar.gz"))
    name = Path(tarball).name.removesuffix(".tar.gz")
    root.run(f"tar -xzf {tarball}; export PATH=$PWD/{name}/bin:$PATH\n"
             + FIRST_MESSAGE.format(echo="feros topic echo --once /chatter"))


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__.strip())
    folder, suites = Path(sys.argv[1]).resolve(), sys.argv[2:] or SUITES
    version = workspace_version()
    try:
        if os.geteuid():
            raise CheckError("this needs root: debootstrap makes devices, and unshare name spaces")
        for name, package in NEEDED.items():
            if not shutil.which(name):
                raise CheckError(f"there is no {name}. Run: apt-get install {package}")
        run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder)
        for suite in suites:
            with tempfile.TemporaryDirectory() as place:
                root = Root(suite, place)
                seconds = check_wheel(root, folder, version)
                print(f"{suite}: {seconds:.0f} s from nothing to the first message", flush=True)
                for check in (check_rmw, check_debian_packages, check_tarball):
                    check(root, folder, version)
                    print(f"{suite}: {check.__name__.removeprefix('check_')} works", flush=True)
    except (OSError, CheckError) as error:
        raise SystemExit(f"check_in_bare_roots: error: {error}") from error


if __name__ == "__main__":
    main()
