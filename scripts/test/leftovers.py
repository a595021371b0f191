"""Finds leftovers of tests: processes, network namespaces, and files in shared memory."""

import ctypes
import os
import pathlib
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
SHARED_MEMORY = pathlib.Path("/dev/shm")
# Words in the names of files that Feros and the measured systems make. Files of other programs are
# left alone.
OF_TESTS = ("feros", "iox", "iceoryx", "fastdds", "fastrtps")


def adopt_orphans():
    """From now on, makes orphaned processes children of this process (prctl(2))."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    """Returns the ids and the command lines of this process's children."""
    found = {}
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            # The format is `pid (name) state parent ...`; the name may have blanks and brackets.
            state, parent = status.read_text().rpartition(")")[2].split()[:2]
            words = (status.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if int(parent) == os.getpid() and state != "Z":
            found[int(status.parent.name)] = words.strip()
    return found


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


def is_used(name):
    """Whether a process maps this file of shared memory, or has it open."""
    path = str(SHARED_MEMORY / name)
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if path in (process / "maps").read_text():
                return True
            if any(os.readlink(file) == path for file in (process / "fd").iterdir()):
                return True
        except OSError:
            continue  # the process has ended, or belongs to another user
    return False


def shared_memory():
    """Returns the names of files in shared memory that Feros or a measured system has made."""
    try:
        names = {file.name for file in SHARED_MEMORY.iterdir()}
    except OSError:
        return set()
    return {name for name in names if any(word in name for word in OF_TESTS)}


class Before:
    """The state before a run of tests."""

    def __init__(self):
        self.began = time.time()
        self.namespaces = namespaces()
        self.shared_memory = shared_memory()

    def new_files(self):
        """Returns new files in shared memory that no process uses."""
        return sorted(name for name in shared_memory() - self.shared_memory if not is_used(name))

    def new_namespaces(self):
        """Returns new network namespaces."""
        return sorted(namespaces() - self.namespaces)

    def remove_new(self):
        """Ends and removes leftovers; returns lines that name them."""
        processes = children()
        lines = [f"process {process}: {words[:160]}" for process, words in processes.items()]
        end(processes)
        # Another program may have made a network namespace in the meantime, so namespaces are named
        # but not removed.
        lines += [f"network namespace {name}" for name in self.new_namespaces()]
        for name in self.new_files():
            path = SHARED_MEMORY / name
            # The time shows the steps in which to look for the cause.
            written = max(0.0, path.stat().st_mtime - self.began)
            lines.append(f"{path}, last written after {written:.0f} s")
            path.unlink()
        return lines
