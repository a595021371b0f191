#!/usr/bin/env python3
"""Checks the text of the project; prints each fault with its position.

    scripts/check_text.py [--command TARGET/feros]

- Lines of Markdown and of Rust comments have at most 100 columns (not tables, links and code).
- The targets of relative links and anchors exist; files that ARCHITECTURE.md, docs/porting.md and
  docs/dds_security.md name exist, and the tables of crates have the imports of their manifests.
  docs/porting.md names each source file and manifest that is bound to Linux or Unix.
- The book's page of environment variables names each variable that a source reads, and no other.
- Messages on the book's troubleshooting page are in the sources, and the launch page names every
  action and substitution.
- Rust examples of the README are on pages of the book, where they are compiled.
- With --command: that command understands every `feros` line of README and book.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import variables

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = 100
PAGES = ROOT / "docs/book/pages"
PORTING = ROOT / "docs/porting.md"
DDS_SECURITY = ROOT / "docs/dds_security.md"
SKIPPED = {"target", ".git", ".venv", "html", "report"}
faults = []


def fault(path, line, text):
    faults.append(f"{path.relative_to(ROOT)}:{line}: {text}")


def files(suffix):
    """Returns tracked and new files, without those that git ignores."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", f"*{suffix}"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines()
    paths = [ROOT / name for name in listed]
    return [p for p in paths if p.is_file() and not SKIPPED & set(p.relative_to(ROOT).parts)]


def prose(text):
    """Yields the numbered lines of Markdown outside of code."""
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield number, line


def blocks(text, languages):
    """Yields the code blocks in these languages, each with the number of its first line."""
    pattern = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.M | re.S)
    for match in pattern.finditer(text):
        if match.group(1) in languages:
            yield text.count("\n", 0, match.start(2)) + 1, match.group(2)


def check_columns():
    for path in files(".md"):
        for number, line in prose(path.read_text()):
            is_free = line.lstrip().startswith("|") or "](" in line or "://" in line
            if len(line) > COLUMNS and not is_free:
                fault(path, number, f"{len(line)} columns, at most {COLUMNS} are allowed")
    for path in files(".rs"):
        comments = "\n".join(
            line.lstrip()[2:].lstrip("/!") if line.lstrip().startswith("//") else ""
            for line in path.read_text().splitlines()
        )
        lines = path.read_text().splitlines()
        for number, comment in prose(comments):
            line = lines[number - 1]
            if comment and len(line) > COLUMNS and "://" not in line and "|" not in line:
                fault(path, number, f"{len(line)} columns, at most {COLUMNS} are allowed")


def anchors(path):
    """Returns the anchors of a page's headings, as mdBook and forges make them."""
    headings = (line for _, line in prose(path.read_text()) if line.startswith("#"))
    words = (re.sub(r"[`*]", "", heading.lstrip("#").strip()).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in words}


def check_module_files():
    """Checks that a module with several files is `x.rs` and `x/`; in tests, it may be `x/mod.rs`."""
    for path in files(".rs"):
        if path.name == "mod.rs" and "src" in path.parts and "tests" not in path.parts:
            fault(path, 1, f"name it {path.parent.name}.rs, beside the folder")


def check_links():
    pattern = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
    for path in files(".md"):
        for number, line in prose(path.read_text()):
            for match in pattern.finditer(re.sub(r"`[^`]*`", "", line)):
                target = match.group(1) or match.group(2)
                if "://" in target or target.startswith("mailto:"):
                    continue
                name, _, anchor = target.partition("#")
                there = (path.parent / name).resolve() if name else path
                if not there.exists():
                    fault(path, number, f"the link {target} leads nowhere")
                elif anchor and there.suffix == ".md" and anchor not in anchors(there):
                    fault(path, number, f"{there.name} has no heading #{anchor}")
                elif PAGES in path.parents and name and PAGES not in there.parents:
                    fault(path, number, f"the link {target} leads out of the book")


def expanded(name):
    """Yields the paths that a name like `a/{b,c}.rs` stands for."""
    match = re.search(r"\{([^{}]*)\}", name)
    if not match:
        return [name]
    inserted = [name[: match.start()] + one + name[match.end() :] for one in match[1].split(",")]
    return [path for one in inserted for path in expanded(one)]


def named_files(page):
    """Yields the files that a page names, each with the number of its line."""
    folders = "crates|docs|examples|fuzz|interfaces|lab|scripts|tests"
    for number, line in prose(page.read_text()):
        for name in re.findall(rf"`((?:{folders})/[\w./{{}},-]+)`", line):
            yield from ((number, path) for path in expanded(name))


def check_map():
    """Checks the files that the pages on the structure name."""
    for page in (ROOT / "ARCHITECTURE.md", PORTING, DDS_SECURITY):
        for number, path in named_files(page):
            if not (ROOT / path).exists():
                fault(page, number, f"there is no {path}")


# What only Linux or only Unix has, by the endings of files. The type of error numbers alone binds no
# file to a system.
BOUND = {
    (".rs",): (
        r"rustix::(?!io::Errno\b)|\blibc::|\bstd::os::(?:unix|linux|fd)\b|\bprocfs::|signal_hook::"
        r"|thread_priority::unix|libloading::os\b|\"/(?:proc|dev|sys)/[^\" ]*\"|!\(\"/proc/"
        r"|\"(?:HOME|XDG_\w+)\"|\"[\w./]*bin/python\""
    ),
    (".c", ".h", ".cpp", ".hpp"): (
        r"#include <(?:(?:arpa|linux|net|netinet|sys)/\w+|dlfcn|poll|pthread|sched|signal|unistd)\.h>"
        r"|\"/(?:proc|dev|sys)/"
    ),
    (".py",): (
        r"\bos\.(?:fork|kill|pipe|register_at_fork|sched_\w+)|\badd_reader\b|\bfcntl\b"
        r"|[\"']/(?:proc|dev|sys)/"
    ),
    ("Cargo.toml",): (
        r"^\[(?:.*[.])?(?:build-)?dependencies\]\n(?:(?!\[).*\n)*?"
        r"(?:libc|procfs|rustix|signal-hook|thread-priority)\b"
    ),
    ("pyproject.toml",): r"Operating System ::.*",
}


def check_porting():
    """Checks that the page on porting names each source file that is bound to a system."""
    named = {path for _, path in named_files(PORTING)}
    for endings, pattern in BOUND.items():
        for path in (path for ending in endings for path in files(ending)):
            place = path.relative_to(ROOT)
            rest = place.parts[1:]
            is_source = place.parts[0] in ("crates", "examples", "lab") and (
                path.suffix != ".rs" or "src" in rest or "build" in path.parts
            )
            is_test = {"tests", "benches", "examples"} & set(rest) or path.stem.endswith("tests")
            if not is_source or is_test or place.as_posix() in named:
                continue
            code = path.read_text()
            if path.suffix == ".rs":
                code = re.sub(r"//.*", "", code)
                code = re.split(r"^#\[cfg\(.*\btest\b.*\)\]\nmod \w+ \{", code, flags=re.M)[0]
            if found := re.search(pattern, code, re.M):
                what = found[0].splitlines()[-1]
                fault(path, 1, f"docs/porting.md does not name this file, which has {what}")


# Every crate may import these; the tables of crates do not repeat them.
BASE = {"files", "sync", "time", "trace", "wording"}


def crate_rows():
    """Yields the rows of the groups' tables, in the architecture's order of groups: page, line,
    manifest, name of the crate, and the crates that it may import."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    for group in re.findall(r"^\| \[\w+\]\(crates/(\w+)/README\.md\)", text, re.M):
        page = ROOT / "crates" / group / "README.md"
        for number, line in prose(page.read_text()):
            row = re.match(r"\| `([\w-]+)` \|[^|]*\| ([\w, -]*?) ?\|", line)
            if row:
                manifest = page.parent / row[1] / "Cargo.toml"
                yield page, number, manifest, row[1], {name for name in row[2].split(", ") if name}


def check_imports():
    """Checks the groups' tables: each crate imports exactly the crates that its row names, and
    these are in rows above it."""
    seen, folders = set(), {path.parent.name: path.parent for path in ROOT.glob("crates/*/*/Cargo.toml")}
    for page, number, manifest, crate, said in crate_rows():
        tables = re.findall(
            r"^\[(?:.*[.])?(?:build-)?dependencies\]\n((?:(?!\[).*\n?)*)", manifest.read_text(), re.M
        )
        names = re.findall(r"^(feros(?:-[\w-]+)?)\b", "".join(tables), re.M)
        imported = {name.removeprefix("feros-") for name in names}
        for name in sorted(said ^ (imported - BASE)):
            state = "is not imported" if name in said else "is missing"
            fault(page, number, f"{crate}: {name} {state}")
        for name in sorted(imported):
            if name not in seen and name in folders:
                fault(page, number, f"{crate} imports {name}, which must be in a row above it")
        seen.add(crate)
    for name in sorted(folders.keys() - seen):
        fault(folders[name].parent / "README.md", 1, f"the table of crates has no row of {name}")


def sources():
    """Returns all sources in Rust and Python, with strings of several lines joined into one."""
    rust = (re.sub(r"\\\n\s*", "", path.read_text()) for path in files(".rs"))
    python = (re.sub(r"(?<=.)[\"']\n\s*f?[\"'](?=.)", "", path.read_text()) for path in files(".py"))
    return "\n".join([*rust, *python])


def check_messages():
    known = re.sub(r"\{[\w.:#?$]*\}", "…", sources()).replace('\\"', '"')
    page = PAGES / "troubleshooting.md"
    for number, line in prose(page.read_text()):
        cell = re.match(r"\| (`.*?`) \|", line)
        if not cell:
            continue
        for part in cell.group(1)[1:-1].split("…"):
            if len(part) > 6 and part not in known:
                fault(page, number, f"no source says {part!r}")


def check_launch():
    page = PAGES / "launch.md"
    text = page.read_text()
    actions = (ROOT / "crates/tools/launch/src/action.rs").read_text()
    tags = re.findall(r'"([a-z_]+)",', re.search(r"const KNOWN.*?\];", actions, re.S).group())
    kinds = (ROOT / "crates/tools/launch/src/substitution.rs").read_text()
    forms = re.findall(r'"([a-z-]+)" \d+\.\.=\d+', kinds)
    if not tags or not forms:
        fault(page, 1, "actions and substitutions were not found in crates/tools/launch")
    for word in [f"`{tag}`" for tag in tags] + [f"$({form}" for form in forms]:
        if word not in text:
            fault(page, 1, f"{word} is missing")


def check_variables():
    """Checks the page of environment variables."""
    sources, builds = set(), set()
    for path in (path for ending in (".rs", ".py", ".c", ".h", ".cpp", ".hpp") for path in files(ending)):
        place = path.relative_to(ROOT).as_posix()
        if variables.is_build(place):
            builds |= variables.read_by(place, path.read_text())
        elif variables.is_source(place):
            sources |= variables.read_by(place, path.read_text())
    page = ROOT / variables.PAGE
    for text in variables.faults(page.read_text(), sources, builds):
        fault(page, 1, text)


def check_readme():
    readme = ROOT / "README.md"
    compiled = [
        block
        for page in PAGES.glob("*.md")
        for _, block in blocks(page.read_text(), {"rust"})
    ]
    for number, block in blocks(readme.read_text(), {"rust"}):
        if block not in compiled:
            fault(readme, number, "this example is on no page of the book, so nobody compiles it")


def whole_lines(block):
    """The lines of a shell's text, each with its number, and with the lines that continue it."""
    begun, start = "", 0
    for number, line in enumerate(block.splitlines()):
        start = start if begun else number
        begun += line
        if begun.endswith("\\"):
            begun = begun[:-1]
            continue
        yield start, begun
        begun = ""


def check_commands(command):
    """Runs each `feros` line with --help, since unknown verbs and options are refused before the
    help is printed."""
    for path in [ROOT / "README.md", *sorted(PAGES.glob("*.md"))]:
        for start, block in blocks(path.read_text(), {"sh"}):
            for offset, line in whole_lines(block):
                words = shlex.split(line, comments=True)
                while words and "=" in words[0]:
                    words = words[1:]
                if words[:1] != ["feros"]:
                    continue
                # The rest of the line belongs to another program.
                ends = [words.index(end) for end in ("--", "--ros-args", "&", "|", ">", "&&") if end in words]
                arguments = words[1 : min(ends, default=len(words))]
                # What follows the name of an executable belongs to the executable.
                if arguments[:1] == ["run"]:
                    arguments = arguments[:2]
                asked = subprocess.run(
                    [command, *arguments, "--help"], capture_output=True, text=True, timeout=60
                )
                if asked.returncode != 0:
                    reason = asked.stderr.strip().partition("\n")[0]
                    fault(path, start + offset, f"`{line}` is not understood: {reason}")


def main():
    arguments = sys.argv[1:]
    if arguments and (len(arguments) != 2 or arguments[0] != "--command"):
        sys.exit(__doc__)
    check_columns()
    check_links()
    check_map()
    check_porting()
    check_imports()
    check_module_files()
    check_messages()
    check_launch()
    check_variables()
    check_readme()
    if arguments:
        check_commands(arguments[1])
    for one in faults:
        print(one, file=sys.stderr)
    sys.exit(1 if faults else 0)


main()
