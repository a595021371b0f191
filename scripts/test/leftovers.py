"""Finds leftovers of tests: processes, network namespaces, and files in shared memory."""

import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
SHARED_MEMORY = pathlib.Path("/dev/shm")
# Words in the names of files that Feros and the measured systems make. Files of other programs are
# left alone.
OF_TESTS = ("feros", "iox", "iceoryx", "fastdds", "fastrtps")
# Seconds between two looks at the files that the processes of the run use.
PERIOD_SECONDS = 1.0


def adopt_orphans():
    """From now on, makes orphaned processes children of this process (prctl(2))."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def processes():
    """Returns the parent of each process that has not ended, by its id."""
    found = {}
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            # The format is `pid (name) state parent ...`; the name may have blanks and brackets.
            state, parent = status.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue  # the process has ended
        if state != "Z":
            found[int(status.parent.name)] = int(parent)
    return found


def children():
    """Returns the ids and the command lines of this process's children."""
    found = {}
    for process, parent in processes().items():
        if parent != os.getpid():
            continue
        try:
            words = pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
        except OSError:
            continue
        found[process] = words.replace(b"\0", b" ").decode(errors="replace").strip()
    return found


def descendants():
    """Returns the ids of the processes below this one."""
    parents, found = processes(), {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def end(processes, patience_seconds=5.0):
    """Asks these processes to end, and kills the processes that do not end."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in processes:
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass
        until = time.monotonic() + patience_seconds
        while children().keys() & set(processes) and time.monotonic() < until:
            time.sleep(0.05)


def namespaces():
    """Returns the names of network namespaces."""
    try:
        listed = subprocess.run(["ip", "netns", "list"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except FileNotFoundError:
        return set()
    return {line.split()[0] for line in listed.stdout.splitlines() if line}


def used_by(process, folder):
    """Returns the names in this folder of which a process maps a file, or has it open."""
    place = pathlib.Path("/proc") / str(process)
    paths = []
    try:
        maps = (place / "maps").read_text(errors="replace").splitlines()
        paths += [line.split(maxsplit=5)[5] for line in maps if "/" in line]
        files = list((place / "fd").iterdir())
    except OSError:
        files = []  # the process has ended, or belongs to another user
    for file in files:
        try:
            paths.append(os.readlink(file))
        except OSError:
            continue  # the process has closed the file
    start = f"{folder}/"
    return {path.removeprefix(start).split("/")[0] for path in paths if path.startswith(start)}


def shared_memory(folder):
    """Returns the names in this folder that Feros or a measured system has made."""
    try:
        names = os.listdir(folder)
    except OSError:
        return set()
    return {name for name in names if any(word in name for word in OF_TESTS)}


def remove(path):
    """Removes a file or a folder, unless another process removes it."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        return f", not removed: {error.strerror}" if path.exists() else ""
    return ""


class Before:
    """The state before a run of tests, and what has been seen of the run since."""

    def __init__(self, folder=SHARED_MEMORY):
        self.began = time.time()
        self.folder = folder
        self.namespaces = namespaces()
        self.shared_memory = shared_memory(folder)
        self.of_run = set()  # the names that a process of the run was seen to use
        self.is_over = threading.Event()

    def watch(self):
        """From now on, looks which files the processes of the run use, in another thread."""
        threading.Thread(target=self._keep_looking, daemon=True).start()

    def _keep_looking(self):
        while not self.is_over.wait(PERIOD_SECONDS):
            self.look()

    def look(self):
        """Notes which new files the processes of the run use."""
        if shared_memory(self.folder) - self.shared_memory - self.of_run:
            for process in descendants():
                self.of_run |= used_by(process, self.folder)

    def new_files(self):
        """Returns new files in shared memory that no process uses."""
        new = shared_memory(self.folder) - self.shared_memory
        used = set().union(*(used_by(process, self.folder) for process in processes())) if new else set()
        return sorted(new - used)

    def new_namespaces(self):
        """Returns new network namespaces."""
        return sorted(namespaces() - self.namespaces)

    def remove_new(self):
        """Ends and removes leftovers; returns lines that name them."""
        self.is_over.set()
        self.look()
        left = children()
        lines = [f"process {process}: {words[:160]}" for process, words in left.items()]
        end(left)
        # Another program may have made a network namespace in the meantime, so namespaces are only
        # named. The same is true of files that no process of the run was seen to use.
        lines += [f"network namespace {name}" for name in self.new_namespaces()]
        for name in self.new_files():
            path = self.folder / name
            try:
                # The time shows the steps in which to look for the cause.
                written = max(0.0, path.lstat().st_mtime - self.began)
            except FileNotFoundError:
                continue  # its process was only slow to remove it
            fate = remove(path) if name in self.of_run else ", not removed: it may be of another program"
            lines.append(f"{path}, last written after {written:.0f} s{fate}")
        return lines
