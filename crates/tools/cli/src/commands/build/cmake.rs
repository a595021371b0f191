//! Reads which files a `CMakeLists.txt` installs, without CMake: packages with launch files,
//! settings, descriptions and interfaces have a `CMakeLists.txt` for colcon.
//!
//! The reader understands only commands without logic: `project`, `set`, `install` of files and
//! folders, `rosidl_generate_interfaces` and `ament_python_install_package`. It skips commands in
//! `if(BUILD_TESTING)`, and refuses commands that build C or C++.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::error::PackageFault;
use super::manifest::MOST_BYTES;

/// The keywords that end a list of files in `install`.
const KEYWORDS: [&str; 16] = [
    "DESTINATION",
    "PERMISSIONS",
    "FILE_PERMISSIONS",
    "DIRECTORY_PERMISSIONS",
    "USE_SOURCE_PERMISSIONS",
    "CONFIGURATIONS",
    "COMPONENT",
    "RENAME",
    "OPTIONAL",
    "TYPE",
    "FILES_MATCHING",
    "PATTERN",
    "REGEX",
    "EXCLUDE",
    "MESSAGE_NEVER",
    "EXCLUDE_FROM_ALL",
];

/// The keywords that end the list of files in `rosidl_generate_interfaces`.
const INTERFACE_KEYWORDS: [&str; 5] = [
    "DEPENDENCIES",
    "LIBRARY_NAME",
    "SKIP_INSTALL",
    "SKIP_GROUP_MEMBERSHIP_CHECK",
    "ADD_LINTER_TESTS",
];

/// A file or folder to install.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Installation {
    /// The path in the package.
    pub(super) from: PathBuf,
    /// The path in the prefix.
    pub(super) to: PathBuf,
    pub(super) is_program: bool,
}

/// The files and modules that a `CMakeLists.txt` installs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Installed {
    pub(super) files: Vec<Installation>,
    /// The folders of Python modules.
    pub(super) python: Vec<PathBuf>,
    /// The definitions of interfaces.
    pub(super) interfaces: Vec<PathBuf>,
}

/// Reads the `CMakeLists.txt` of the package in this folder.
pub(super) fn installed(folder: &Path) -> Result<Installed, Vec<PackageFault>> {
    let path = folder.join("CMakeLists.txt");
    let text = feros_files::read_to_string(&path, MOST_BYTES)
        .map_err(|error| vec![PackageFault::file(&path, error)])?;
    let (installed, faults) = read(&text, &path);
    if faults.is_empty() { Ok(installed) } else { Err(faults) }
}

/// A command with its arguments.
struct Call {
    line: usize,
    name: String,
    arguments: Vec<String>,
}

fn read(text: &str, path: &Path) -> (Installed, Vec<PackageFault>) {
    let (mut installed, mut faults) = (Installed::default(), Vec::new());
    let mut variables = BTreeMap::new();
    let mut blocks: Vec<bool> = Vec::new(); // whether each open `if` is about tests
    for call in calls(text) {
        let arguments: Vec<String> =
            call.arguments.iter().map(|argument| expanded(argument, &variables)).collect();
        let first = arguments.first().cloned().unwrap_or_default();
        match call.name.as_str() {
            "if" => blocks.push(call.arguments.iter().any(|word| word == "BUILD_TESTING")),
            "endif" => drop(blocks.pop()),
            _ if blocks.contains(&true) => {}
            "project" => {
                for name in ["PROJECT_NAME", "CMAKE_PROJECT_NAME"] {
                    variables.insert(name.to_owned(), first.clone());
                }
            }
            "set" => {
                let value = arguments.get(1..).unwrap_or_default().join(" ");
                variables.insert(first, value);
            }
            "add_executable"
            | "add_library"
            | "ament_auto_add_library"
            | "ament_auto_add_executable"
            | "catkin_package" => {
                faults.push(PackageFault::Cpp {
                    path: path.to_owned(),
                    line: call.line,
                    command: call.name,
                });
            }
            "ament_python_install_package" => {
                let after = |word: &str| after(&arguments, word).map(PathBuf::from);
                installed.python.push(after("PACKAGE_DIR").unwrap_or_else(|| first.into()));
            }
            "ament_auto_package" => {
                if let Some(at) = arguments.iter().position(|word| word == "INSTALL_TO_SHARE") {
                    let project = variables.get("PROJECT_NAME").cloned().unwrap_or_default();
                    installed.files.extend(arguments[at + 1..].iter().map(|folder| Installation {
                        from: folder.into(),
                        to: Path::new("share").join(&project).join(folder),
                        is_program: false,
                    }));
                }
            }
            "rosidl_generate_interfaces" => installed.interfaces.extend(interfaces(&arguments)),
            "install" => match installations(&arguments) {
                Ok(files) => installed.files.extend(files),
                Err(problem) => faults.push(PackageFault::file(
                    path,
                    format!("line {}: install: {problem}", call.line),
                )),
            },
            _ => {}
        }
    }
    (installed, faults)
}

/// The files that `rosidl_generate_interfaces` names. Files in other folders (`FOLDER:FILE`) and
/// variables that only CMake knows are left out.
fn interfaces(arguments: &[String]) -> impl Iterator<Item = PathBuf> {
    let words = arguments.iter().skip(1);
    let words = words.take_while(|word| !INTERFACE_KEYWORDS.contains(&word.as_str()));
    let files = words.flat_map(|word| word.split_whitespace());
    files.filter(|file| !file.contains(['$', ':'])).map(PathBuf::from)
}

/// The files that an `install` command installs.
fn installations(arguments: &[String]) -> Result<Vec<Installation>, String> {
    let form = arguments.first().map_or("", String::as_str);
    if !matches!(form, "DIRECTORY" | "FILES" | "PROGRAMS") {
        return Ok(Vec::new());
    }
    let files = arguments[1..].iter().take_while(|word| !KEYWORDS.contains(&word.as_str()));
    let destination = after(arguments, "DESTINATION").ok_or("it has no DESTINATION")?;
    let rename = after(arguments, "RENAME");
    let mut found = Vec::new();
    for file in files {
        if let Some(unknown) = [file.as_str(), destination].iter().find(|text| text.contains('$')) {
            return Err(format!("{unknown} has a variable that only CMake knows"));
        }
        let mut to = inside(destination)?;
        let is_contents = form == "DIRECTORY" && file.ends_with('/');
        if !is_contents {
            let name = Path::new(file).file_name().ok_or_else(|| format!("{file} has no name"))?;
            to.push(rename.map_or(name, |name| name.as_ref()));
        }
        found.push(Installation { from: file.into(), to, is_program: form == "PROGRAMS" });
    }
    Ok(found)
}

/// A path that stays in the prefix.
fn inside(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    let is_inside =
        path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if is_inside {
        Ok(path.components().collect())
    } else {
        Err(format!("{text} leaves the prefix"))
    }
}

fn after<'a>(arguments: &'a [String], word: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|argument| argument == word)?;
    arguments.get(at + 1).map(String::as_str)
}

/// The text with the values of known variables.
fn expanded(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut text = text.to_owned();
    for (name, value) in variables {
        text = text.replace(&format!("${{{name}}}"), value);
    }
    for here in ["${CMAKE_CURRENT_SOURCE_DIR}/", "${CMAKE_SOURCE_DIR}/", "${PROJECT_SOURCE_DIR}/"] {
        text = text.replace(here, "");
    }
    text
}

/// The commands of a file, in order. Arguments lose their quotes.
fn calls(text: &str) -> Vec<Call> {
    let mut reader = Reader { rest: text, line: 1 };
    let mut found = Vec::new();
    let mut name: Option<(usize, String)> = None;
    while let Some((line, word)) = reader.next() {
        match (word.as_str(), name.take()) {
            ("(", Some((line, name))) => {
                let arguments = reader.arguments();
                found.push(Call { line, name: name.to_lowercase(), arguments });
            }
            _ => name = Some((line, word)),
        }
    }
    found
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

impl Reader<'_> {
    /// The arguments up to the parenthesis that closes the list.
    fn arguments(&mut self) -> Vec<String> {
        let (mut found, mut depth) = (Vec::new(), 1);
        while let Some((_, word)) = self.next() {
            match word.as_str() {
                "(" => depth += 1,
                ")" if depth == 1 => break,
                ")" => depth -= 1,
                _ => found.push(word),
            }
        }
        found
    }

    /// The next parenthesis, word or quoted text, with its line.
    fn next(&mut self) -> Option<(usize, String)> {
        loop {
            self.skip(self.rest.len() - self.rest.trim_start().len());
            let start = self.rest.chars().next()?;
            let line = self.line;
            match start {
                '#' if self.rest.starts_with("#[[") => {
                    let end = self.rest.find("]]").map_or(self.rest.len(), |at| at + 2);
                    self.skip(end);
                }
                '#' => self.skip(self.rest.find('\n').unwrap_or(self.rest.len())),
                '(' | ')' => {
                    self.skip(1);
                    return Some((line, start.to_string()));
                }
                '"' => {
                    let end = self.rest[1..].find('"').map_or(self.rest.len(), |at| at + 1);
                    let text = self.rest[1..end].to_owned();
                    self.skip((end + 1).min(self.rest.len()));
                    return Some((line, text));
                }
                _ => {
                    let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '#' | '"');
                    let end = self.rest.find(ends).unwrap_or(self.rest.len());
                    let word = self.rest[..end].to_owned();
                    self.skip(end);
                    return Some((line, word));
                }
            }
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.line += self.rest[..bytes].matches('\n').count();
        self.rest = &self.rest[bytes..];
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn lines(text: &str) -> (Vec<String>, String) {
        let (installed, faults) = read(text, Path::new("CMakeLists.txt"));
        let line = |file: &Installation| {
            let mark = if file.is_program { "*" } else { "" };
            format!("{}->{}{mark}", file.from.display(), file.to.display())
        };
        let mut all: Vec<String> = installed.files.iter().map(line).collect();
        all.extend(installed.python.iter().map(|folder| format!("python {}", folder.display())));
        (all, faults.iter().map(|fault| format!("{fault}\n")).collect())
    }

    #[test]
    fn installed_files_are_known_without_cmake() {
        let (files, faults) = lines(
            r#"
cmake_minimum_required(VERSION 3.8) # install(DIRECTORY no DESTINATION no)
project(robot)
#[[ add_library(no)
]]
set(where share/${PROJECT_NAME})
find_package(ament_cmake REQUIRED)
install(DIRECTORY launch config
  DESTINATION share/${PROJECT_NAME}
  PATTERN "*.pyc" EXCLUDE)
INSTALL(DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/maps/" DESTINATION ${where}/maps/)
install(PROGRAMS scripts/a.py DESTINATION lib/${PROJECT_NAME} RENAME a)
ament_python_install_package(${PROJECT_NAME})
if(BUILD_TESTING)
  if(X)
    add_executable(test test.cpp)
  endif()
endif()
ament_package()
"#,
        );
        assert_eq!(
            files,
            [
                "launch->share/robot/launch",
                "config->share/robot/config",
                "maps/->share/robot/maps",
                "scripts/a.py->lib/robot/a*",
                "python robot"
            ]
        );
        assert_eq!(faults, "");
    }

    #[test]
    fn what_only_cmake_can_do_is_named_completely() {
        let (_, faults) = lines(
            "project(x)\nadd_library(x\n x.cpp)\nadd_executable(y y.cpp)\n\
             install(FILES a DESTINATION ../../etc)\ninstall(FILES ${A} DESTINATION b)\n\
             install(FILES a)\ninstall(TARGETS y DESTINATION lib)\n",
        );
        for words in [
            "CMakeLists.txt:2: `add_library`",
            "CMakeLists.txt:4: `add_executable`",
            "line 5: install: ../../etc leaves the prefix",
            "line 6: install: ${A} has a variable",
            "line 7: install: it has no DESTINATION",
        ] {
            assert!(faults.contains(words), "{words:?} is not in {faults}");
        }
        assert_eq!(faults.lines().count(), 5, "{faults}");
    }

    #[test]
    fn unfinished_text_ends() {
        for text in ["install(", "install(FILES \"", "#[[", "a", "(", ")", "install(FILES é\"é"] {
            let (files, _) = lines(text);
            assert_eq!(files, [""; 0], "{text}");
        }
    }
}
