//! Each block of the README and of the book's pages is checked by what reads such a text: here, or
//! by another test, which [`ELSEWHERE`] names. A block that nothing checks is a fault, so that an
//! example cannot become wrong unseen.
#![allow(clippy::unwrap_used, missing_docs)]

mod launch_files;
mod manifests;

use std::fs;
use std::path::{Path, PathBuf};

use feros_bag::{read_output_bags, read_overrides};
use feros_ros1::Rules;

/// What checks the blocks with these words after the fence, or why nothing does.
const ELSEWHERE: [(&str, &str); 13] = [
    ("rust", "compiled and run as documentation tests"),
    ("rust,no_run", "compiled as documentation tests"),
    ("sh", "scripts/run_commands.py"),
    ("console", "scripts/run_commands.py runs the commands; the output is an example"),
    ("python", "crates/bindings/python/tests/test_book.py"),
    ("py", "crates/bindings/python/tests/test_book.py"),
    ("python,pytest", "crates/bindings/python/tests/testing/test_plugin.py"),
    ("rust,ignore", "a program needs its own manifest or build script: `ignored_blocks`"),
    ("cpp", "rclcpp's side of a comparison; no part of Feros reads it"),
    ("text", "no language: output, layouts, and commands that need another system"),
    ("yaml", "here"),
    ("xml", "here"),
    ("toml", "here"),
];

/// A block that is no program of Feros, by its beginning, and the test that checks it.
const OF_OTHERS: [(&str, &str); 3] = [
    ("x-robot: &robot", "Compose: crates/bindings/python/tests/test_deployment.py"),
    ("[Unit]", "systemd: crates/bindings/python/tests/test_deployment.py"),
    ("FEROS_LAUNCH=", "`a_block_of_settings_has_variables_that_exist`"),
];

struct Block {
    /// The page and the line, for messages.
    at: String,
    /// The words after the fence.
    kind: String,
    text: String,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The blocks of all pages and of the README.
fn blocks() -> Vec<Block> {
    let pages = fs::read_dir(repository().join("docs/book/pages")).unwrap();
    let mut pages: Vec<PathBuf> = pages.map(|entry| entry.unwrap().path()).collect();
    pages.push(repository().join("README.md"));
    pages.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.sort();
    let mut found = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let mut lines = text.lines().enumerate();
        while let Some((number, line)) = lines.next() {
            let Some(kind) = line.trim_start().strip_prefix("```") else { continue };
            let inside = lines.by_ref().map(|(_, line)| line);
            let inside = inside.take_while(|line| !line.trim_start().starts_with("```"));
            let text: String = inside.map(|line| line.to_owned() + "\n").collect();
            let at = format!("{}:{}", page.file_name().unwrap().display(), number + 1);
            found.push(Block { at, kind: kind.to_owned(), text });
        }
    }
    found
}

fn blocks_of(kind: &str) -> Vec<Block> {
    let found: Vec<Block> = blocks().into_iter().filter(|block| block.kind == kind).collect();
    assert!(!found.is_empty(), "there is no block of {kind}");
    found
}

fn is_of_others(block: &Block) -> bool {
    OF_OTHERS.iter().any(|(begin, _)| block.text.starts_with(begin))
}

#[test]
fn each_block_is_checked() {
    let blocks = blocks();
    for block in &blocks {
        let is_known = ELSEWHERE.iter().any(|(kind, _)| *kind == block.kind) || is_of_others(block);
        assert!(is_known, "{}: nothing checks a block of `{}`", block.at, block.kind);
    }
    for (kind, how) in ELSEWHERE {
        assert!(blocks.iter().any(|block| block.kind == kind), "no block of {kind}: {how}");
    }
    for (begin, how) in OF_OTHERS {
        assert!(blocks.iter().any(|block| block.text.starts_with(begin)), "{begin}: {how}");
    }
}

#[test]
fn files_of_the_named_tests_exist() {
    for (_, how) in ELSEWHERE.iter().chain(&OF_OTHERS) {
        let files = how.split_whitespace().filter(|word| word.contains(".py"));
        for file in files.map(|word| word.trim_end_matches([';', ':'])) {
            assert!(repository().join(file).is_file(), "there is no {file}");
        }
    }
}

#[test]
fn launch_files_have_a_plan() {
    for block in blocks_of("xml") {
        launch_files::check(&block.text).unwrap_or_else(|fault| panic!("{}: {fault}", block.at));
    }
}

#[test]
fn manifests_name_what_exists() {
    for block in blocks_of("toml") {
        let checked = manifests::check(&block.text, &repository());
        checked.unwrap_or_else(|fault| panic!("{}: {fault}", block.at));
    }
}

#[test]
fn files_in_yaml_are_read() {
    for block in blocks_of("yaml").iter().filter(|block| !is_of_others(block)) {
        check_yaml(&block.text).unwrap_or_else(|fault| panic!("{}: {fault}", block.at));
    }
}

/// Reads a file in YAML with what reads it in a program.
fn check_yaml(text: &str) -> Result<(), String> {
    if text.contains("ros__parameters:") {
        let read = feros_parameter::file::parse(text).map_err(|error| error.to_string())?;
        let is_empty = read.iter().any(|(_, parameters)| parameters.is_empty());
        return if is_empty { Err("a node has no parameters".to_owned()) } else { Ok(()) };
    }
    if text.starts_with("output_bags:") {
        let bags = read_output_bags(text).map_err(|error| error.to_string())?;
        return if bags.is_empty() { Err("it describes no bag".to_owned()) } else { Ok(()) };
    }
    if text.contains("ros1_package_name:") {
        return Rules::parse(text).map(drop).map_err(|error| error.to_string());
    }
    if text.starts_with('/') {
        let topics = read_overrides(text).map_err(|error| error.to_string())?;
        return if topics.is_empty() { Err("it names no topic".to_owned()) } else { Ok(()) };
    }
    Err("no part of Feros is known to read it".to_owned())
}

#[test]
fn ignored_blocks_are_parts_of_examples() {
    let sources = ["examples/components/library/src/lib.rs", "examples/own_package/src/lib.rs"];
    let sources: String =
        sources.map(|file| fs::read_to_string(repository().join(file)).unwrap()).concat();
    for block in blocks_of("rust,ignore") {
        let first = block.text.lines().next().unwrap();
        assert!(sources.contains(first), "{}: no example has `{first}`", block.at);
    }
}

#[test]
fn a_block_of_settings_has_variables_that_exist() {
    let page = fs::read_to_string(repository().join("docs/book/pages/environment.md")).unwrap();
    let service =
        fs::read_to_string(repository().join("scripts/packaging/feros-launch@.service")).unwrap();
    let settings: Vec<Block> =
        blocks_of("ini").into_iter().filter(|block| block.text.starts_with("FEROS_")).collect();
    assert!(!settings.is_empty());
    for block in settings {
        for line in block.text.lines() {
            let name = line.split('=').next().unwrap();
            let is_known = page.contains(&format!("`{name}`")) || service.contains(name);
            assert!(is_known, "{}: nothing reads {name}", block.at);
        }
    }
}

#[test]
fn wrong_blocks_are_refused() {
    for wrong in [
        "<nod pkg=\"demo\" exec=\"driver\"/>",
        "<node pkg=\"demo\" exec=\"driver\" nam=\"x\"/>",
        "<node pkg=\"demo\" exec=\"driver\" args=\"$(vat x)\"/>",
        "<launch><node pkg=\"demo\" exec=\"driver\" args=\"$(var x)\"/></launch>",
    ] {
        assert!(launch_files::check(wrong).is_err(), "{wrong}");
    }
    for wrong in [
        "[dependencies]\nferos = { path = \"../feros/crates/feros\" }\n",
        "[dependencies]\nferos-tf = { path = \"../feros/crates/client/tf2\" }\n",
        "[dependncies]\nferos = \"1\"\n",
        "[package.metadata.ros]\ninstall_to_shar = [\"launch\"]\n",
        "[project.entry-points.rclpy_components]\n\"Detector\" = \"camera.detector:Detector\"\n",
        "[project.entry-points.components]\n\"a::B\" = \"a:B\"\n",
        "[",
    ] {
        assert!(manifests::check(wrong, &repository()).is_err(), "{wrong}");
    }
    for wrong in [
        "/a:\n  ros__parameters:\n    rate: {}\n  rate: 30\n",
        "/a:\n  ros__parameters:\n    gains: [1, a]\n",
        "output_bags:\n- url: camera\n",
        "- ros1_package_name: 'a'\n  ros2_package: 'b'\n",
        "/image:\n  reliabilty: best_effort\n",
        "a: b\n",
    ] {
        assert!(check_yaml(wrong).is_err(), "{wrong}");
    }
}
