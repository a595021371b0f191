#!/usr/bin/env python3
"""Counts what launch files in Python use of stock's packages, and the share that Feros has.

    PYTHON scripts/count_launch_names.py FOLDER [LINES]

PYTHON has the wheel of Feros. FOLDER has launch files of others, at any depth: files whose names
end in `launch.py`. A file is only read, never run. Three things are counted: each name that a file
imports, each place at which it uses an imported name, and each keyword that it gives in a call of
one. The shares are printed for all files, and without tests (files that import `launch_testing`).
A name or keyword that Feros accepts but does not support (`UNSUPPORTED` and `UNSUPPORTED_KEYWORDS`
of `launch._unsupported`) counts as missing. LINES limits the table of what Feros has (40).
"""

import ast
import importlib
import importlib.util
import inspect
import sys
from collections import Counter, defaultdict
from pathlib import Path
from types import ModuleType

STOCK = {
    "ament_index_python", "launch", "launch_param_builder", "launch_pytest", "launch_ros",
    "launch_testing", "launch_testing_ament_cmake", "launch_testing_ros", "launch_xml",
    "launch_yaml", "osrf_pycommon", "ros2launch",
}
"""The packages of stock ROS 2 whose uses are counted; of others, only the files are counted."""


class File:
    """The imports, uses and keywords of one launch file, by dotted names."""

    def __init__(self, tree):
        self.counted = imports, uses, keywords = [], [], []
        self._imports, self._uses, self._keywords = imports, uses, keywords
        self.others = set()
        self._bound = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    bound = alias.name if alias.asname else alias.name.partition(".")[0]
                    self._imported(alias.name, alias.asname or bound, bound)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    name = node.module if alias.name == "*" else f"{node.module}.{alias.name}"
                    self._imported(name, alias.asname or alias.name, name)
        self._visit(tree)
        self.is_test = any(name.startswith("launch_testing") for name in imports)

    def _imported(self, name, local, bound):
        if name.partition(".")[0] not in STOCK:
            self.others.add(name.partition(".")[0])
            return
        self._imports.append(name)
        self._bound[local] = bound

    def _visit(self, node):
        if isinstance(node, ast.Call):
            called = self._dotted(node.func)
            self._keywords += [(called, one.arg) for one in node.keywords if called and one.arg]
        name = self._dotted(node)
        if name:
            self._uses.append(name)
            return
        for child in ast.iter_child_nodes(node):
            self._visit(child)

    def _dotted(self, node):
        """The dotted name of an expression such as `launch.actions.Shutdown`, or nothing."""
        if isinstance(node, ast.Attribute):
            base = self._dotted(node.value)
            return base and f"{base}.{node.attr}"
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return self._bound.get(node.id)
        return None


def found(name):
    """The object that has a dotted name; raises `ImportError` or `AttributeError`."""
    first, *parts = name.split(".")
    one, path = importlib.import_module(first), first
    for part in parts:
        path = f"{path}.{part}"
        try:
            one = getattr(one, part)
        except AttributeError as error:
            if not isinstance(one, ModuleType):
                raise
            try:
                one = importlib.import_module(path)
            except ImportError:
                raise error from None
    return one


def keywords_of(called):
    """The keywords that a class or function takes by name; its bases get those that it passes on."""
    inits = [called]
    if inspect.isclass(called):
        inits = [vars(cls)["__init__"] for cls in called.__mro__ if "__init__" in vars(cls)]
    known = set()
    for init in inits:
        if not inspect.isfunction(init):
            break
        taken = inspect.signature(init).parameters.values()
        known.update(
            one.name for one in taken if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD))
        if not any(one.kind is one.VAR_KEYWORD for one in taken):
            break
    return known


class Known:
    """The names that the installed packages have, and the reasons for those that they lack."""

    def __init__(self):
        compatible = Path(importlib.util.find_spec("feros").submodule_search_locations[0])
        sys.path.insert(0, str(compatible / "compat"))
        from launch._missing import KEYWORDS
        from launch._unsupported import UNSUPPORTED, UNSUPPORTED_KEYWORDS

        self._other_keywords, self._unsupported_keywords = KEYWORDS, UNSUPPORTED_KEYWORDS
        self._unsupported = [(found(name), cure) for name, cure in UNSUPPORTED.items()]

    def without(self, name):
        """Why a name is missing; nothing if it is there."""
        try:
            one = found(name)
        except (ImportError, AttributeError) as error:
            return str(error)
        return next((cure for other, cure in self._unsupported if other is one), "")

    def without_keyword(self, name, keyword):
        """Why a keyword is missing; nothing if it is there."""
        reason = self.without(name)
        if reason:
            return reason
        if keyword in self._unsupported_keywords:
            return self._unsupported_keywords[keyword]
        if keyword in keywords_of(found(name)):
            return ""
        return self._other_keywords.get(keyword, "it takes no such keyword")


class Count:
    """The uses in some files."""

    def __init__(self, files):
        self.kinds = {"imports": Counter(), "uses of names": Counter(), "keywords": Counter()}
        self.files = defaultdict(int)
        for file in files:
            for kind, names in zip(self.kinds.values(), file.counted):
                kind.update(names)
            for name in {name for names in file.counted for name in names}:
                self.files[name] += 1
        self.all = sum(self.kinds.values(), Counter())

    def print_shares(self, title, missing):
        """Prints how many uses are covered."""
        print(f"| {title} | different | in all | covered | share |\n|---|--:|--:|--:|--:|")
        for kind, count in (*self.kinds.items(), ("all", self.all)):
            whole, lost = count.total(), sum(count[name] for name in missing)
            part = 100 * (whole - lost) / whole if whole else 100
            print(f"| {kind} | {len(count)} | {whole} | {whole - lost} | {part:.2f} % |")
        print()

    def print_names(self, title, names, reasons):
        """Prints the uses of some names, the most frequent first."""
        print(f"| {title} | files | imports | uses | given | reason |\n|---|--:|--:|--:|--:|---|")
        for name in names:
            numbers = " | ".join(str(count[name]) for count in self.kinds.values())
            print(f"| `{text_of(name)}` | {self.files[name]} | {numbers} | {reasons[name]} |")
        print()


def text_of(name):
    """A name, or a keyword with the name to which it is given, as text."""
    return name if isinstance(name, str) else f"{name[0]}({name[1]}=)"


def main():
    """Counts the names of all files in a folder, and prints the tables."""
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    lines = int(sys.argv[2]) if len(sys.argv) == 3 else 40
    known, files, unread = Known(), [], []
    for path in sorted(Path(sys.argv[1]).rglob("*launch.py")):
        try:
            files.append(File(ast.parse(path.read_bytes())))
        except (SyntaxError, ValueError) as error:
            unread.append(f"{path}: {error}")
    count, plain = Count(files), Count(file for file in files if not file.is_test)
    reasons = {name: known.without(name) if isinstance(name, str) else known.without_keyword(*name)
               for name in count.all}
    missing = {name for name, reason in reasons.items() if reason}

    tests = sum(file.is_test for file in files)
    print(f"{len(files)} files, of which {tests} are tests; {len(unread)} others are no Python 3\n")
    count.print_shares("all files", missing)
    plain.print_shares("without tests", missing)
    ranked = sorted(count.all, key=lambda name: (-count.all[name], text_of(name)))
    count.print_names("missing", [name for name in ranked if name in missing], reasons)
    count.print_names("there", [name for name in ranked if name not in missing][:lines], reasons)
    others = Counter(name for file in files for name in file.others)
    print("| other package | files |\n|---|--:|")
    print(*(f"| `{name}` | {number} |" for name, number in others.most_common(lines)), sep="\n")
    print(*unread, sep="\n")


if __name__ == "__main__":
    main()
