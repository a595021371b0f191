"""Tests of the scripts that `./test` consists of.

    python3 scripts/test/own_tests.py
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import commands
import counts
import leftovers
import parts
import rust_tests
import schedule
import table
import variables

JUNIT = """<?xml version="1.0"?>
<testsuites><testsuite name="a">
<testcase name="passes" classname="a::it"/>
<testcase name="fails" classname="a::it"><failure/></testcase>
<testcase name="is_flaky" classname="a::it"><flakyFailure/></testcase>
<testcase name="is_left_out" classname="a::it"><skipped/></testcase>
</testsuite></testsuites>
"""


class Numbers(unittest.TestCase):
    def test_of_libtest_adds_all_programs(self):
        line = "test result: {}. {} passed; {} failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s\n"
        found = counts.of_libtest("x\n" + line.format("ok", 3, 0) + line.format("FAILED", 4, 2))
        self.assertEqual((found.passed, found.failed), (7, 2))

    def test_of_pytest_reads_the_last_line(self):
        found = counts.of_pytest("....\n=== 2 failed, 100 passed, 3 skipped in 12.30s (0:00:12) ===\n")
        self.assertEqual((found.passed, found.failed, found.skipped), (100, 2, 3))
        self.assertEqual(counts.of_pytest("81 passed in 3s\n").passed, 81)

    def test_of_pytest_names_what_was_run_again(self):
        said = "RERUN t.py::a\nRERUN t.py::b\nFAILED t.py::b - assert\n1 failed, 4 passed, 2 rerun in 3s\n"
        found = counts.of_pytest(said)
        self.assertEqual((found.passed, found.failed, found.run_again), (4, 1, ["t.py::a"]))

    def test_of_node_reads_the_summary(self):
        found = counts.of_node("ℹ tests 59\nℹ pass 57\nℹ fail 1\nℹ skipped 1\n")
        self.assertEqual((found.passed, found.failed, found.skipped), (57, 1, 1))

    def test_of_unittest_reads_the_end(self):
        self.assertEqual(counts.of_unittest("..F\nRan 9 tests in 0.1s\n\nFAILED (failures=1, errors=1)\n"), counts.Counts(7, 2))
        self.assertEqual(counts.of_unittest("Ran 9 tests in 0.1s\n\nOK\n"), counts.Counts(9))

    def test_of_lines_reads_whole_lines_alone(self):
        found = counts.of_lines("it says 9 passed, 9 failed\n16 passed, 1 failed\n")
        self.assertEqual((found.passed, found.failed), (16, 1))

    def test_of_nextest_names_what_was_run_again(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "junit.xml"
            file.write_text(JUNIT)
            found = counts.of_nextest(file)
        self.assertEqual((found.passed, found.failed), (2, 1))
        self.assertEqual(found.run_again, ["a::it is_flaky"])


class Failures(unittest.TestCase):
    def test_each_runner_is_read(self):
        for line in (
            "error: could not compile `feros`",
            "error[E0425]: cannot find value",
            "        FAIL [   1.2s] feros::it topics",
            "  TRY 1 FAIL [   1.2s] feros::it topics",
            "test topics::a ... FAILED",
            "FAIL: test_a (own_tests.Order)",
            "FAILED tests/test_a.py::b - assert",
            "not ok 3 - a pane",
            "thread 'topics::a' (17) panicked at src/a.rs:3:1:",
        ):
            said = "\n".join(["begins", line, "because", *map(str, range(100))])
            self.assertEqual(counts.failures(said)[:2], [line, "because"])
            self.assertEqual(len(counts.failures(said)), counts.LINES_AFTER)

    def test_another_output_is_told_by_its_end(self):
        said = "\n".join(["ok 1 - fail", "an error: none", *map(str, range(100))])
        self.assertEqual(counts.failures(said)[-1], "99")
        self.assertEqual(len(counts.failures(said)), counts.LINES_AFTER)


class Order(unittest.TestCase):
    """Schedules of small commands."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(setattr, parts, "RESULTS", parts.RESULTS)
        self.addCleanup(setattr, schedule, "say", schedule.say)
        parts.RESULTS = pathlib.Path(folder.name)
        self.said = []
        schedule.say = self.said.append

    def run_steps(self, *steps):
        plan = schedule.Schedule(list(steps), {})
        return plan, plan.run()

    def step(self, name, words, after=(), lane=parts.RUN, **more):
        return parts.Step(name, lane, ["sh", "-c", words], list(after), **more)

    def test_only_steps_that_need_a_failed_step_are_not_run(self):
        plan, passed = self.run_steps(
            self.step("builds", "echo broken; exit 3", lane=parts.BUILD),
            self.step("needs it", "true", ["builds"]),
            self.step("needs nothing", "true"),
        )
        states = {name: result.state for name, result in plan.results.items()}
        self.assertFalse(passed)
        expected = {"builds": schedule.FAILED, "needs it": schedule.NOT_RUN, "needs nothing": schedule.PASSED}
        self.assertEqual(states, expected)
        self.assertIn("exit code 3", "".join(self.said))
        self.assertIn("| broken", "".join(self.said))

    def test_a_step_begins_after_those_that_it_needs(self):
        plan, passed = self.run_steps(
            self.step("last", "cat made", ["middle"]),
            self.step("middle", "test -f made", ["first"], lane=parts.BUILD),
            self.step("first", "echo 1 >made"),
        )
        self.addCleanup((parts.REPOSITORY / "made").unlink)
        self.assertTrue(passed, self.said)

    def test_a_step_that_hangs_is_ended_and_says_so(self):
        plan, passed = self.run_steps(self.step("hangs", "sleep 600", limit_seconds=0))
        self.assertFalse(passed)
        self.assertEqual(plan.results["hangs"].reason, "did not end within 0 s")

    def test_when_the_time_is_over_only_steps_that_may_be_left_out_are(self):
        steps = [
            self.step("builds", "true", lane=parts.BUILD, if_time=True),
            self.step("needs it", "true", ["builds"]),
            self.step("other", "true"),
        ]
        for seconds, expected in ((0, schedule.LEFT_OUT), (600, schedule.PASSED)):
            plan = schedule.Schedule(steps, {}, seconds)
            self.assertTrue(plan.run())
            states = [plan.results[name].state for name in ("builds", "needs it", "other")]
            self.assertEqual(states, [expected, expected, schedule.PASSED])

    def test_a_signal_ends_what_runs_and_begins_nothing_more(self):
        plan = schedule.Schedule([self.step("runs", "sleep 600"), self.step("waits", "true", ["runs"])], {})
        thread = threading.Thread(target=plan.run)
        thread.start()
        while not plan.running:
            time.sleep(0.01)
        plan.stop()
        thread.join()
        self.assertEqual(plan.results["runs"].state, schedule.NOT_RUN)
        self.assertEqual(plan.results["runs"].reason, "ended by a signal")
        self.assertEqual(plan.results["waits"].state, schedule.NOT_RUN)

    def test_skips_are_counted_with_their_reasons(self):
        write = r'printf "feros\tleaves_out\tno peer\nferos\tleaves_out\tno disk\n" >>"$FEROS_TESTS_SKIPPED"'
        libtest = 'echo "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured"'
        plan, _ = self.run_steps(self.step("tests", f"{write}; {libtest}", counts="libtest"))
        result = plan.results["tests"]
        self.assertEqual((result.tests.passed, result.tests.skipped), (2, 1))
        self.assertEqual(result.skips[0], "feros leaves_out: no peer")
        self.assertIn("- feros leaves_out: no disk", table.text([result], 1, []))

    def test_a_command_that_is_missing_fails_and_holds_up_nothing(self):
        missing = parts.Step("missing", parts.RUN, ["/nonexistent/command"])
        plan, passed = self.run_steps(missing, self.step("waits", "true", ["missing"]))
        self.assertFalse(passed)
        self.assertEqual(plan.results["missing"].state, schedule.FAILED)
        self.assertEqual(plan.results["waits"].state, schedule.NOT_RUN)

    def test_a_test_that_passed_when_run_again_is_no_failure(self):
        lines = 'echo "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured"; echo "run again: a b"'
        plan, _ = self.run_steps(self.step("tests", lines, counts="libtest"))
        self.assertEqual(plan.results["tests"].tests, counts.Counts(4, 0, 0, ["a b"]))

    def test_every_part_names_steps_that_are_there(self):
        for part in [*parts.PARTS, parts.QUICK]:
            names = [step.name for step in parts.wanted([part.name])]
            self.assertTrue(set(part.steps) <= set(names), part.name)
        in_parts = {step.name for part in parts.PARTS for step in parts.wanted([part.name])}
        self.assertEqual(in_parts, {step.name for step in parts.STEPS})


class Targets(unittest.TestCase):
    def test_those_that_are_built_without_tests_have_none(self):
        command = ["cargo", "metadata", "--format-version=1", "--no-deps", "--locked", "--offline"]
        said = subprocess.run(command, cwd=parts.REPOSITORY, check=True, stdout=subprocess.PIPE).stdout
        for package in json.loads(said)["packages"]:
            for target in package["targets"]:
                if target["test"] or not {"lib", "cdylib", "dylib", "bin"} & set(target["kind"]):
                    continue
                for file in sources_of(pathlib.Path(target["src_path"])):
                    tests = re.findall(r"#\[test\]\s+fn \w+", file.read_text())
                    self.assertEqual(tests, [], f"{file}: its target has `test = false`")

    def test_each_suite_has_a_profile_of_nextest(self):
        settings = (parts.REPOSITORY / ".config" / "nextest.toml").read_text()
        profiles = set(re.findall(r"^\[profile\.(\w+)\]$", settings, re.M))
        self.assertEqual(profiles - {"default"}, set(parts.SUITES))


def sources_of(root):
    """Returns a target's files: all files in its folder; but a program next to a library has only
    one file."""
    is_beside_library = root.parent.name == "bin" or (root.name == "main.rs" and (root.parent / "lib.rs").exists())
    return [root] if is_beside_library else sorted(root.parent.rglob("*.rs"))


class Environment(unittest.TestCase):
    def test_programs_of_another_ros_2_do_not_inherit_this_one(self):
        started_again = {"_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1", "HOME": "/h"}
        for before, after in [("/v/lib:/mine", "/mine"), ("/v/lib", None), ("", None)]:
            environment = started_again | {"LD_LIBRARY_PATH": before}
            rust_tests.forget_own_ros2(environment, "/v")
            expected = {"HOME": "/h"} | ({"LD_LIBRARY_PATH": after} if after else {})
            self.assertEqual(environment, expected)

    def test_an_environment_that_no_wheel_has_changed_stays(self):
        environment = {"LD_LIBRARY_PATH": "/v/lib"}
        rust_tests.forget_own_ros2(environment, "/v")
        self.assertEqual(environment, {"LD_LIBRARY_PATH": "/v/lib"})


class Commands(unittest.TestCase):
    def test_they_are_found_in_pages_readmes_and_comments(self):
        lines = [line for block in commands.blocks() for _, line in block.lines]
        found = [commands.without_comment(line) for line in lines]
        for command in (
            "feros param get /camera rate",  # a page of the book
            "feros param set /camera spot.is_lit false",  # in a README, with a comment after it
            "feros launch examples/launch/greeting.launch.xml -p",  # in a comment in XML
            "cargo run --bin fibonacci_client -- 8",  # in a comment in Rust
            "pipeline camera detector",  # in a sentence, over two lines
        ):
            self.assertIn(command, found)
        self.assertNotIn("feros launch", found)  # a verb that a sentence names

    def test_the_longest_beginning_says_what_is_known(self):
        page = commands.PAGES / "view.md"
        for command, table in (
            ("feros view", commands.ENDLESS),
            ("feros view --listen 0.0.0.0", commands.NOT_HERE),
            ("FEROS_TRANSPORTS=network feros topic echo /image", commands.ENDLESS),
            ("feros node list", commands.ENDS),
        ):
            self.assertIs(commands.known(command, page)[0], table, command)
        self.assertIs(commands.known("feros x", commands.PAGES / "zenoh.md")[0], commands.NOT_HERE)


class Variables(unittest.TestCase):
    def test_those_of_a_source_are_whole_texts_outside_of_tests(self):
        rust = (
            'const A: &str = "FEROS_A"; // "FEROS_IN_COMMENT"\n'
            'let b = env!("FEROS_B"); let c = "FEROS_"; let d = "FEROS_D is set"; let e = b"FEROS_E";\n'
            'let f = var_os("ROS_F"); let g = "HOME";\n'
            '#[cfg(test)]\nmod tests {\n    const T: &str = "FEROS_T";\n}\n'
        )
        self.assertEqual(variables.read_by("crates/a/b/src/c.rs", rust), {"FEROS_A", "ROS_F"})
        self.assertEqual(variables.read_by("a.py", "os.environ.get('ROS_A') + \"FEROS_B\""), {"ROS_A", "FEROS_B"})
        shim = 'x("FEROS_X"); std::getenv("FASTDDS_A")'
        self.assertEqual(variables.read_by("crates/a/b/shim/c.cpp", shim), {"FASTDDS_A"})

    def test_sources_are_those_of_programs(self):
        for place, is_source in (
            ("crates/engines/dds/src/library.rs", True),
            ("crates/bindings/python/python/feros/_messages.py", True),
            ("lab/laboratory/src/peer.rs", True),
            ("crates/base/test-support/src/domain.rs", False),
            ("crates/local/shm/src/storage/tests.rs", False),
            ("crates/tools/cli/tests/it/view.rs", False),
            ("crates/engines/fastdds-sys/build/main.rs", False),
            ("examples/components/src/lib.rs", False),
        ):
            self.assertEqual(variables.is_source(place), is_source, place)
        self.assertTrue(variables.is_build("crates/engines/fastdds-sys/build/main.rs"))
        self.assertTrue(variables.is_build("crates/client/component/build.rs"))

    def test_what_is_missing_on_the_page_and_what_nobody_reads_are_faults(self):
        page = "| `FEROS_A`, `ROS_B` | as `FEROS_IN_TEXT` |\n| `FEROS_OF_BUILD` | |\n| `FEROS_GONE` | |\n"
        sources = {"FEROS_A", "ROS_B", "FEROS_NEW", *variables.INTERNAL}
        self.assertEqual(
            variables.faults(page, sources, {"FEROS_OF_BUILD"}),
            ["FEROS_NEW is missing, which a source reads", "no source reads FEROS_GONE"],
        )
        unused = variables.faults(page, sources - {"FEROS_LAB_CELL"}, {"FEROS_OF_BUILD"})
        self.assertIn("scripts/variables.py names FEROS_LAB_CELL, which no source has", unused)


class Remains(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        leftovers.adopt_orphans()
        self.before = leftovers.Before(self.folder)

    def orphan_with(self, file):
        """Starts an orphan that has this file open, and returns when it has."""
        subprocess.run(["sh", "-c", f"sleep 600 3>{file} & while ! [ -e {file} ]; do sleep 0.01; done"], check=True)

    def lines_about(self, file, fate, lines):
        form = re.escape(str(file)) + r", last written after \d+ s" + re.escape(fate)
        return [line for line in lines if re.fullmatch(form, line)]

    def test_an_orphan_and_a_file_in_shared_memory_are_found_and_removed(self):
        file = self.folder / "feros_of_orphan"
        self.orphan_with(file)
        lines = self.before.remove_new()
        self.assertEqual(len([line for line in lines if "sleep 600" in line]), 1, lines)
        self.assertEqual(len(self.lines_about(file, "", lines)), 1, lines)
        self.assertFalse(file.exists())
        self.assertEqual(leftovers.children(), {})

    def test_a_file_and_a_folder_of_processes_that_have_ended_are_removed(self):
        folder = self.folder / "feros-test-folder"
        folder.mkdir()
        self.orphan_with(self.folder / "iox_of_orphan")
        self.orphan_with(folder / "lock")
        self.before.look()
        leftovers.end(leftovers.children())
        lines = self.before.remove_new()
        self.assertEqual(len(lines), 2, lines)
        self.assertEqual(list(self.folder.iterdir()), [], lines)

    def test_files_of_other_programs_are_named_and_left(self):
        file = self.folder / "feros_of_another_run"
        file.touch()
        self.orphan_with(self.folder / "feros_of_orphan")
        lines = self.before.remove_new()
        fate = ", not removed: it may be of another program"
        self.assertEqual(len(self.lines_about(file, fate, lines)), 1, lines)
        self.assertEqual(list(self.folder.iterdir()), [file], lines)

    def test_files_in_use_and_of_other_systems_are_not_named(self):
        (self.folder / "lttng-ust-wait-6").touch()
        with open(self.folder / "feros_in_use", "w"):
            self.assertEqual(self.before.remove_new(), [])
        self.assertEqual(len(list(self.folder.iterdir())), 2)

    def test_a_file_that_disappears_in_the_meantime_is_no_leftover(self):
        for of_run in (set(), {"feros_gone"}):
            self.before.of_run = of_run
            with unittest.mock.patch.object(self.before, "new_files", return_value=["feros_gone"]):
                self.assertEqual(self.before.remove_new(), [])
        self.assertEqual(leftovers.remove(self.folder / "feros_gone"), "")


if __name__ == "__main__":
    sys.exit(unittest.main())
