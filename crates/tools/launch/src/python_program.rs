//! The Python that a program names in its first line, which may be another than that of the
//! command: colcon writes the Python into which it is itself installed.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The limit on what is read of a program.
const MOST_BYTES: u64 = 4 << 10;

/// A program in Python.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PythonProgram {
    pub(crate) file: PathBuf,
    /// A path, or a name that `env` looks up on `PATH`.
    pub(crate) python: String,
    /// Whether options of Python make it ignore `PYTHONPATH` or the module `sitecustomize`.
    is_isolated: bool,
}

/// Whether a file is a program in Python that imports the module `sitecustomize` from `PYTHONPATH`.
/// The options `-E`, `-I` and `-S` of the first line prevent that.
pub fn imports_sitecustomize(file: &Path) -> bool {
    PythonProgram::read(file).is_some_and(|program| !program.is_isolated)
}

impl PythonProgram {
    /// Reads the beginning of a file; `None` if it is no program in Python.
    pub(crate) fn read(file: &Path) -> Option<Self> {
        // Opening a pipe would wait.
        if !file.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        File::open(file).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
        let (python, is_isolated) = named_python(&String::from_utf8_lossy(&bytes))?;
        Some(Self { file: file.to_owned(), python, is_isolated })
    }

    /// Whether the first line names the interpreter by its path.
    pub(crate) fn has_path(&self) -> bool {
        self.python.contains('/')
    }
}

/// The interpreter in the first line of a program, if it is a Python, and whether it is isolated.
fn named_python(text: &str) -> Option<(String, bool)> {
    let mut lines = text.lines();
    let mut first = lines.next()?.strip_prefix("#!")?.trim();
    // pip writes a path with spaces, or one that is too long for a first line, into the second
    // line, which Python reads as a part of a string.
    if first == "/bin/sh" {
        first = lines.next()?.strip_prefix("'''exec' ")?;
    }
    if let Some(rest) = first.strip_prefix('"') {
        let (path, _) = rest.split_once('"')?;
        return is_python(path).then(|| (path.to_owned(), false));
    }
    let mut words = first.split_whitespace();
    let mut python = words.next()?;
    if python.ends_with("/env") {
        python = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    let isolates = |word: &str| word.starts_with('-') && word.contains(['E', 'I', 'S']);
    is_python(python).then(|| (python.to_owned(), words.any(isolates)))
}

fn is_python(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    (name.starts_with("python") || name.starts_with("pypy")) && !name.starts_with("python2")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_interpreter_of_the_first_line_is_found() {
        for (text, expected) in [
            ("#!/usr/bin/python3\nimport rclpy\n", Some("/usr/bin/python3")),
            ("#! /opt/venv/bin/python3.12 -E\n", Some("/opt/venv/bin/python3.12")),
            ("#!/usr/bin/env python3", Some("python3")),
            ("#!/usr/bin/env -S A=1 python3 -u\n", Some("python3")),
            (
                "#!/bin/sh\n'''exec' \"/a b/bin/python\" \"$0\" \"$@\"\n' '''\n",
                Some("/a b/bin/python"),
            ),
            ("#!/bin/sh\n'''exec' /long/bin/python3 \"$0\" \"$@\"\n", Some("/long/bin/python3")),
            ("#!/bin/sh\nexec python3 \"$0\"\n", None),
            ("#!/bin/sh", None),
            ("#!/usr/bin/env node\n", None),
            ("#!/usr/bin/python2.7\n", None),
            ("#!\n", None),
            ("import rclpy\n", None),
            ("", None),
        ] {
            let found = named_python(text).map(|(python, _)| python);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn options_may_isolate_a_program() {
        for (line, expected) in [
            ("#!/usr/bin/python3", false),
            ("#!/usr/bin/python3 -u", false),
            ("#!/usr/bin/python3 -E", true),
            ("#!/usr/bin/env -S python3 -sI", true),
            ("#!/usr/bin/python3 -S", true),
        ] {
            assert_eq!(named_python(line).unwrap().1, expected, "{line}");
        }
    }

    #[test]
    fn only_a_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!imports_sitecustomize(folder.path()));
        assert!(!imports_sitecustomize(&folder.path().join("absent")));
        let file = folder.path().join("node");
        std::fs::write(&file, [b"#!/usr/bin/python3\n".as_slice(), &[0xff; 9000]].concat())
            .unwrap();
        assert!(imports_sitecustomize(&file));
        std::fs::write(&file, "#!/usr/bin/python3 -E\n").unwrap();
        assert!(!imports_sitecustomize(&file));
    }
}
