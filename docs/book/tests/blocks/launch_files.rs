//! Plans the launch files of the book, in a prefix that has the packages that they name.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use feros_launch::{Packages, Planner};
use roxmltree::{Document, Node};

/// Plans a launch file or a part of a file, and starts nothing.
pub(crate) fn check(text: &str) -> Result<(), String> {
    let text = whole(text);
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("prefix");
    let document = Document::parse(&text).map_err(|error| error.to_string())?;
    let mut required = Vec::new();
    for element in document.descendants().filter(Node::is_element) {
        if let (Some(package), Some(executable)) =
            (element.attribute("pkg"), element.attribute("exec"))
        {
            install(&prefix, package, executable);
        }
        if element.has_tag_name("arg") && element.attribute("default").is_none() {
            required.extend(element.attribute("name"));
        }
    }
    for rest in text.split("$(find-pkg-share ").skip(1) {
        let (package, rest) = rest.split_once(')').ok_or("a substitution has no end")?;
        install(&prefix, package, "program");
        let file = rest.trim_start_matches('/').split(['"', ' ']).next().unwrap_or("");
        if file.ends_with(".yaml") {
            let file = prefix.join("share").join(package).join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "/**: {ros__parameters: {rate: 1}}\n").unwrap();
        }
    }
    let file = folder.path().join("book.launch.xml");
    fs::write(&file, &text).unwrap();
    let assigned: Vec<_> =
        required.into_iter().map(|name| (name.to_owned(), "1".to_owned())).collect();
    let planner = Planner::new(Packages::new([prefix]));
    let plan = planner.preview(&file, &assigned).map_err(|error| error.to_string())?;
    if plan.processes().count() == 0 {
        return Err("its plan starts nothing".to_owned());
    }
    Ok(())
}

/// The launch file around the elements of a page.
fn whole(text: &str) -> String {
    if text.contains("<launch>") {
        return text.to_owned();
    }
    let (begin, end) = match text.starts_with("<param") {
        true => ("<node pkg=\"demo\" exec=\"driver\">", "</node>"),
        false => ("", ""),
    };
    format!("<launch>{begin}\n{text}{end}</launch>\n")
}

fn install(prefix: &Path, package: &str, executable: &str) {
    let (share, lib) = (prefix.join("share").join(package), prefix.join("lib").join(package));
    fs::create_dir_all(&share).unwrap();
    fs::create_dir_all(&lib).unwrap();
    fs::write(share.join("package.xml"), "<package/>").unwrap();
    let program = lib.join(executable);
    fs::write(&program, "#!/bin/sh\n").unwrap();
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
}
