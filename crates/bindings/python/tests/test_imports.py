"""The imports of the package's files point one way: no file reaches itself by its imports."""

import ast
import importlib.util
from pathlib import Path

FEROS = Path(importlib.util.find_spec("feros").submodule_search_locations[0])
COMPATIBLE = FEROS / "compat"


def files(folder, prefix=""):
    """The files of a folder by the names of their modules; a package is its `__init__.py`.

    A stub alone stands for a module that is no file in Python.
    """
    found = {}
    for path in (*sorted(folder.rglob("*.py")), *sorted(folder.rglob("*.pyi"))):
        parts = path.relative_to(folder).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if prefix and parts[:1] == ("compat",):
            continue  # these have names of their own
        found.setdefault(".".join(filter(None, (prefix, *parts))), path)
    return found


def imported(module, path):
    """All names that a file imports, at its top, in functions and for the types alone."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    text = path.read_bytes() if path.suffix == ".py" else b""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[:len(package.split(".")) - node.level + 1]
            base = ".".join([*(base if node.level else ()), *filter(None, [node.module])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def parents(module):
    """The packages around a module."""
    parts = module.split(".")
    return {".".join(parts[:count]) for count in range(1, len(parts))}


def arrows(modules):
    """The modules that each module needs.

    An import also runs the `__init__.py` of each package on the way, unless the importing module
    is in that package itself.
    """
    found = {}
    for module, path in modules.items():
        found[module] = needed = set()
        for name in imported(module, path):
            target = name if name in modules else name.rpartition(".")[0]
            needed.update(({target} | parents(target) - parents(module)) & set(modules))
        needed.discard(module)
    return found


def circle(needs):
    """Modules that import each other, the first one again at the end; empty if there are none."""
    done, way = set(), []

    def follow(module):
        if module in way:
            return [*way[way.index(module):], module]
        if module in done:
            return []
        way.append(module)
        for needed in sorted(needs[module]):
            found = follow(needed)
            if found:
                return found
        done.add(way.pop())
        return []

    return next(filter(None, map(follow, sorted(needs))), [])


def test_no_circle_of_imports():
    modules = {**files(FEROS, "feros"), **files(COMPATIBLE)}
    assert {"feros", "launch.actions._include", "feros._feros", "rclpy.node"} <= set(modules)
    needs = arrows(modules)
    assert "launch.action" in needs["launch.actions._include"]
    assert circle(needs) == []


def written(folder, **contents):
    for name, text in contents.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for package in {path.parent for path in folder.rglob("*.py")} - {folder}:
        (package / "__init__.py").touch()
    return arrows(files(folder))


def test_a_circle_is_found(tmp_path):
    needs = written(
        tmp_path, p__a="from . import b", p__b="def f():\n    from .c import x",
        p__c="if TYPE_CHECKING:\n    from p.a import y")
    assert circle(needs) == ["p.a", "p.b", "p.c", "p.a"]


def test_a_package_counts_for_those_outside(tmp_path):
    face = tmp_path / "p" / "__init__.py"
    written(tmp_path, p__a="", p__b="import q", q="from p.a import x")
    assert circle(arrows(files(tmp_path))) == []
    face.write_text("from .b import y")
    assert circle(arrows(files(tmp_path))) == ["p", "p.b", "q", "p"]


def test_a_package_does_not_count_for_its_own_files(tmp_path):
    written(tmp_path, p__a="from .b import x\nimport p.b", p__b="import os")
    (tmp_path / "p" / "__init__.py").write_text("from .a import x\nfrom . import b")
    assert circle(arrows(files(tmp_path))) == []
