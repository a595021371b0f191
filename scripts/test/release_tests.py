"""Tests of the scripts that make a release, with programs that `./test` has built.

    python3 scripts/test/release_tests.py
"""

import ctypes
import gzip
import hashlib
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from unittest import mock
from xml.etree import ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import bill_of_materials
import debian_packages
import installed_files
import parts
import release_programs

BUILT = parts.TARGET / "debug"
PROGRAMS = ["feros", *release_programs.CONTAINERS, release_programs.SHARED_FEROS, "librmw_feros.so"]
VERSION = release_programs.workspace_version()
UNIT = "usr/lib/systemd/system/feros-launch@.service"


def run(*words, **options):
    """Runs a command, which must succeed; returns its output."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


def fields(package):
    """Returns the fields of a Debian package's description."""
    lines = run("dpkg-deb", "--field", package).splitlines()
    return dict(line.split(": ", 1) for line in lines if not line.startswith(" "))


class Release(unittest.TestCase):
    """One release, which all tests read."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.programs, cls.out = cls.folder / "programs", cls.folder / "out"
        cls.programs.mkdir()
        for name in PROGRAMS:
            (cls.programs / name).symlink_to(BUILT / name)
        # The release only copies the wheel, which `./test` installs and tests by other steps.
        (cls.programs / f"feros-{VERSION}-cp311-abi3-linux.whl").write_bytes(b"a wheel")
        cls.said = cls.release(VERSION, "--from", cls.programs, "--out", cls.out)
        machine = platform.machine()
        architecture = run("dpkg", "--print-architecture").strip()
        cls.debs = {
            name: cls.out / f"{name}_{VERSION}_{architecture}.deb"
            for name in debian_packages.PACKAGES
        }
        cls.tarball = cls.out / f"feros-{VERSION}-linux-{machine}.tar.gz"
        cls.root = cls.folder / "root"
        for package in cls.debs.values():
            run("dpkg-deb", "--extract", package, cls.root)

    @staticmethod
    def release(*words):
        script = parts.REPOSITORY / "scripts/release.sh"
        return run(script, *words, "--compression", "gzip")

    def installed(self, *words, **more):
        """Runs the installed command."""
        environment = dict(os.environ, PATH=f"{self.root}/usr/bin:{os.environ['PATH']}", **more)
        return run(self.root / "usr/bin/feros", *words, env=environment, cwd=self.folder)

    def test_all_files_have_checksums(self):
        sums = dict(reversed(line.split("  ")) for line in (self.out / "SHA256SUMS").read_text().splitlines())
        files = {path.name for path in self.out.iterdir()} - {"SHA256SUMS"}
        self.assertEqual(files, set(sums))
        self.assertEqual(len(files), 8, files)
        for name, digest in sums.items():
            self.assertEqual(hashlib.sha256((self.out / name).read_bytes()).hexdigest(), digest)

    def test_the_installed_command_works_and_finds_the_installed_containers(self):
        self.assertEqual(self.installed("-V"), f"feros {VERSION}\n")
        self.assertIn("commit: ", self.installed("--version"))
        listed = self.installed("pkg", "executables", "--full-path", "rclcpp_components")
        for name in release_programs.CONTAINERS:
            self.assertIn(f"{self.root}/usr/lib/feros/{name}\n", listed)

    def test_the_programs_load_nothing_from_the_machine_that_built_them(self):
        for path in sorted((self.root / "usr/lib/feros").iterdir()):
            dynamic = run("readelf", "-d", path)
            paths = [line for line in dynamic.splitlines() if "PATH)" in line]
            self.assertLessEqual(len(paths), 1, dynamic)
            self.assertTrue(all(line.endswith("[$ORIGIN]") for line in paths), paths)
        found = run("ldd", self.root / "usr/lib/feros/component_container")
        self.assertNotIn("not found", found)
        self.assertIn(f"libferos_shared.so => {self.root}/usr/lib/feros/", found)
        self.assertRegex(found, rf"libstd-\w+\.so => {self.root}/usr/lib/feros/")

    def test_the_packages_depend_on_the_libraries_of_the_system(self):
        feros, containers = (fields(self.debs[name]) for name in ("feros", "feros-containers"))
        self.assertIn("libc6 (>= ", feros["Depends"])
        self.assertTrue(containers["Depends"].startswith(f"feros (= {VERSION}), "), containers)
        for package in (feros, containers):
            self.assertEqual(package["Maintainer"], "Feros developers")
            self.assertNotIn("libferos", package["Depends"])
            self.assertGreater(int(package["Installed-Size"]), 1000)

    def test_no_file_belongs_to_a_person_or_to_two_packages(self):
        seen = set()
        for package in self.debs.values():
            for line in run("dpkg-deb", "--contents", package).splitlines():
                mode, owner, *_, name = line.split(" -> ")[0].split()
                self.assertEqual(owner, "root/root", line)
                self.assertNotIn("w", mode[5] + mode[8] if mode[0] != "l" else "", line)
                if mode[0] != "d":
                    self.assertNotIn(name, seen)
                    seen.add(name)
        self.assertIn(f"./{UNIT}", seen)

    def test_each_verb_has_a_page_and_each_shell_a_completion(self):
        pages = {path.name: path for path in (self.root / "usr/share/man/man1").iterdir()}
        self.assertGreater(len(pages), 80)
        page = gzip.decompress(pages["feros-topic-echo.1.gz"].read_bytes()).decode()
        self.assertIn(".SH OPTIONS", page)
        for place in installed_files.SHELLS.values():
            self.assertIn("feros", (self.root / "usr" / place).read_text())

    def test_the_unit_starts_the_installed_command(self):
        unit = (self.root / UNIT).read_text()
        program = next(l for l in unit.splitlines() if l.startswith("ExecStart=")).split("=")[1]
        self.assertTrue((self.root / program.split()[0].lstrip("/")).exists(), program)
        self.assertIn("KillMode=mixed", unit)

    def test_the_rmw_library_is_a_package_of_each_distribution(self):
        for name in debian_packages.DISTRIBUTIONS:
            needed = fields(self.debs[f"ros-{name}-rmw-feros"])["Depends"].split(", ")
            self.assertIn(f"ros-{name}-rmw", needed)
            self.assertTrue(any(need.startswith("libstdc++6 (>= ") for need in needed), needed)
            prefix = self.root / "opt/ros" / name
            index = prefix / "share/ament_index/resource_index"
            self.assertEqual((index / "packages/rmw_feros").read_text(), "")
            self.assertIn("rosidl_typesupport_cpp", (index / "rmw_typesupport/rmw_feros").read_text())
            manifest = ElementTree.parse(prefix / "share/rmw_feros/package.xml")
            self.assertEqual(manifest.findtext("version"), VERSION)
            library = ctypes.CDLL(str(prefix / "lib/librmw_feros.so"))
            library.rmw_get_implementation_identifier.restype = ctypes.c_char_p
            self.assertEqual(library.rmw_get_implementation_identifier(), b"rmw_feros")

    def test_the_tarball_has_the_files_of_the_packages(self):
        with tarfile.open(self.tarball) as archive:
            top = f"feros-{VERSION}-linux-{platform.machine()}"
            names = {name.removeprefix(top) for name in archive.getnames()}
            owners = {(entry.uid, entry.uname) for entry in archive.getmembers()}
        usr = self.root / "usr"
        paths = (path.relative_to(usr) for path in usr.rglob("*"))
        packed = {f"/{path}" for path in paths if not path.match("share/doc/ros-*") and not path.parent.match("share/doc/ros-*")}
        self.assertEqual(names - packed, {"", "/LICENSE"})
        self.assertEqual(packed - names, set())
        self.assertEqual(owners, {(0, "root")})

    def test_the_same_programs_give_the_same_bytes(self):
        again = self.folder / "again"
        self.release(VERSION, "--from", self.programs, "--out", again)
        self.assertEqual((self.out / "SHA256SUMS").read_text(), (again / "SHA256SUMS").read_text())
        shutil.rmtree(again)

    def test_the_bill_of_materials_names_what_is_linked(self):
        bill = json.loads((self.out / f"feros-{VERSION}.cdx.json").read_text())
        names = {entry["name"] for entry in bill["components"]}
        self.assertLess({"feros-cli", "clap", "iceoryx2", "cyclonedds-src"}, names)
        self.assertFalse({"bindgen", "cmake", "loom"} & names)
        for entry in bill["components"]:
            self.assertTrue(entry["licenses"][0]["expression"], entry)
            has_sum = "hashes" in entry
            self.assertEqual(has_sum, not entry["name"].startswith("feros"), entry["name"])


class Refusals(unittest.TestCase):
    def refused(self, *words):
        script = parts.REPOSITORY / "scripts/release.sh"
        done = subprocess.run([script, *words], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_another_version_and_a_full_folder_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            said = self.refused("99.0.0", "--from", BUILT, "--out", folder)
            self.assertIn(f"the sources have the version {VERSION}, not 99.0.0", said)
            self.assertEqual(os.listdir(folder), [])
            (pathlib.Path(folder) / "file").touch()
            self.assertIn("is not empty", self.refused(VERSION, "--from", BUILT, "--out", folder))

    def test_a_missing_program_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(release_programs.ReleaseError, "there is no .*/feros"):
                release_programs.Programs(folder)

    def test_containers_and_a_library_of_different_builds_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name in PROGRAMS:
                (folder / name).symlink_to(BUILT / name)
            shared = folder / release_programs.SHARED_FEROS
            other = shared.read_bytes().replace(b"rustc 1.", b"rustc 0.")
            shared.unlink()
            shared.write_bytes(other)
            with self.assertRaisesRegex(release_programs.ReleaseError, "come from different builds"):
                installed_files.put_containers(release_programs.Programs(folder), folder / "usr")

    def test_a_program_of_another_machine_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "feros"
            program.write_bytes(b"\x7fELF" + bytes(14) + (0x28).to_bytes(2, "little"))
            with self.assertRaisesRegex(release_programs.ReleaseError, "not a program for x86_64"):
                release_programs.Programs(folder)
            other = 0xB7 if platform.machine() == "x86_64" else 0x3E
            program.write_bytes(b"\x7fELF" + bytes(14) + other.to_bytes(2, "little"))
            with self.assertRaisesRegex(release_programs.ReleaseError, "apt-get install qemu-user"):
                release_programs.Programs(folder)

    def test_what_this_machine_lacks_is_told_before_anything_is_built(self):
        other = "aarch64" if platform.machine() == "x86_64" else "x86_64"
        with tempfile.TemporaryDirectory() as folder:
            for name in ("rustc", "sh"):
                (pathlib.Path(folder) / name).symlink_to(shutil.which(name))
            with mock.patch.dict(os.environ, {"PATH": folder}, clear=False):
                lines = release_programs.missing_tools(f"{other}-unknown-linux-gnu", True)
                without_rust = release_programs.missing_tools("no-such-target", False)
        said = "\n".join(lines)
        for name in ("maturin", "cargo-zigbuild", "dpkg-shlibdeps", f"{other}-linux-gnu-strip"):
            self.assertIn(f"there is no {name}: ", said)
        self.assertIn(f"CARGO_TARGET_{other.upper()}_UNKNOWN_LINUX_GNU_LINKER names no program", said)
        self.assertIn("rustc failed: ", "\n".join(without_rust))

    def test_versions_before_a_release_come_before_it_in_debian(self):
        self.assertEqual(debian_packages.debian_version("0.2.0-rc.1"), "0.2.0~rc.1")
        run("dpkg", "--compare-versions", "0.2.0~rc.1", "lt", "0.2.0")

    def test_the_time_of_the_files_is_that_of_the_commit(self):
        said = run("git", "log", "-1", "--format=%ct", cwd=parts.REPOSITORY)
        os.environ.pop("SOURCE_DATE_EPOCH", None)
        self.assertEqual(bill_of_materials.moment(), int(said))


if __name__ == "__main__":
    unittest.main()
