//! Tests that an error in a definition, or in the use of the generator, names the file, the line
//! and how to correct it.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use feros_codegen::{Error, Generator};

/// Generates a package `my_msgs` with one definition file. Returns the source, or the error's
/// message without the folder's path.
fn generate(file: &str, definition: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("my_msgs");
    write(&package.join(file), definition);
    let prefix = format!("{}/", folder.path().display());
    Generator::new()
        .package_dir(&package)
        .generate_text()
        .map_err(|error| error.to_string().replace(&prefix, ""))
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn code_of_a_user_refers_to_feros_only() {
    let text = generate("msg/Pose.msg", "std_msgs/Header header\nOther[] others\n").unwrap_err();
    assert!(text.contains("my_msgs/msg/Pose.msg:2: `my_msgs/msg/Other`"), "{text}");

    let text = generate("srv/Move.srv", "std_msgs/Header header\n---\nbool done\n").unwrap();
    assert!(text.contains("pub header: ::feros::msgs::std_msgs::msg::Header,"), "{text}");
    assert!(text.contains("impl ::feros::message::Service for Move {"), "{text}");
    assert!(!text.contains("feros_"), "{text}");
}

#[test]
fn an_unknown_type_names_its_field() {
    let text = generate("msg/A.msg", "int32 a\n\n# comment\nstd_msgs/Strin text\n").unwrap_err();
    assert!(text.starts_with("my_msgs/msg/A.msg:4: "), "{text}");
    assert!(text.contains("did you mean `std_msgs/msg/String`"), "{text}");
    let text = generate("action/A.action", "int32 a\n---\n---\nother_msgs/B[] b\n").unwrap_err();
    assert!(text.starts_with("my_msgs/action/A.action:4: "), "{text}");
}

#[test]
fn a_message_inside_itself_is_refused() {
    let text = generate("msg/A.msg", "int32 a\nA[] children\n").unwrap_err();
    assert_eq!(
        text,
        "my_msgs/msg/A.msg:2: `my_msgs/msg/A` contains itself: my_msgs/msg/A -> my_msgs/msg/A"
    );
}

#[test]
fn a_faulty_line_is_named() {
    let text = generate("msg/A.msg", "int32 a\nint33 b\n").unwrap_err();
    assert!(text.starts_with("my_msgs/msg/A.msg:2:"), "{text}");
}

#[test]
fn comments_become_documentation_and_never_examples() {
    let text = generate("msg/A.msg", "# First line.\n#     drawn\n# ```\n\nint32 a 5 # trailing\n")
        .unwrap();
    assert!(text.contains(r#"#[doc = "First line."]"#), "{text}");
    assert!(text.contains(r#"#[doc = "drawn"]"#), "{text}");
    assert!(text.contains(r#"#[doc = "trailing"]"#), "{text}");
    assert!(text.contains(r#"#[doc = "`int32`, by default `5`."]"#), "{text}");
    assert!(!text.contains("```"), "{text}");
}

#[test]
fn fields_of_standard_types_are_documented() {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("sensor_msgs");
    write(&package.join("msg/Range.msg"), "uint8 ULTRASOUND=0\nfloat32 range\n");
    let text = Generator::new().package_dir(package).generate_text().unwrap();
    assert!(text.contains(r#"#[doc = "The sensor uses sound."]"#), "{text}");
    assert!(text.contains(r#"#[doc = "The distance, in m; "#), "{text}");
}

#[test]
fn wrong_calls_are_refused() {
    assert!(matches!(Generator::new().generate_text(), Err(Error::NoPackage)));
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("my_msgs");
    let generator = Generator::new().package_dir(&package);
    assert!(matches!(generator.generate_text(), Err(Error::Load(_))));
    write(&package.join("msg/A.msg"), "int32 a\n");
    assert!(matches!(
        generator.clone().package_dir(&package).generate_text(),
        Err(Error::Duplicate { .. })
    ));
    // The same input gives the same source, so that builds are reproducible.
    assert_eq!(generator.generate_text().unwrap(), generator.generate_text().unwrap());
}

#[test]
fn packages_of_robots_come_with_the_packages_that_they_need() {
    let text = Generator::new().robot_package("nav2_msgs").generate_text().unwrap();
    for package in ["nav2_msgs", "geographic_msgs"] {
        assert!(text.contains(&format!("pub mod {package} {{")), "{package}");
    }
    assert!(text.contains("pub struct NavigateToPose_Goal {"));
    assert!(text.contains("pub pose: ::feros::msgs::geometry_msgs::msg::PoseStamped,"));
    assert!(text.contains("super::super::geographic_msgs::msg::GeoPose"));
    assert!(!text.contains("pub mod control_msgs {") && !text.contains("pub mod std_msgs {"));

    let elsewhere = Generator::new()
        .robot_package("nav2_msgs")
        .robot_dependency("geographic_msgs", "::my_maps")
        .generate_text()
        .unwrap();
    assert!(!elsewhere.contains("pub mod geographic_msgs {"));
    assert!(elsewhere.contains("::my_maps::geographic_msgs::msg::GeoPose"));

    let own = generate("msg/Goal.msg", "nav_2d_msgs/Pose2DStamped pose\n").unwrap();
    assert!(own.contains("pub pose: super::super::nav_2d_msgs::msg::Pose2DStamped,"), "{own}");
    assert!(own.contains("pub mod my_msgs {") && own.contains("pub mod nav_2d_msgs {"));
}

#[test]
fn packages_of_robots_are_those_of_the_chosen_distribution() {
    let generator = Generator::new().robot_package("control_msgs");
    let index = "pub multi_dof_index: i32,";
    assert!(generator.generate_text().unwrap().contains(index));
    let of_jazzy = generator.robot_packages_of_jazzy().generate_text().unwrap();
    assert!(!of_jazzy.contains(index) && of_jazzy.contains("pub mod control_msgs {"));
    assert!(!of_jazzy.contains("pub mod nav2_msgs {"), "only what was named");
}

#[test]
fn a_folder_replaces_a_package_of_robots() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("nav_2d_msgs/msg/Mine.msg"), "int32 x\n");
    let generator = Generator::new().package_dir(folder.path().join("nav_2d_msgs"));
    let text = generator.robot_package("nav_2d_msgs").generate_text().unwrap();
    assert!(text.contains("pub struct Mine {") && !text.contains("Pose2DStamped"));
}

#[test]
fn an_unknown_package_of_robots_lists_the_known_ones() {
    for generator in [
        Generator::new().robot_package("std_msgs"),
        Generator::new().robot_package("nav2_msgs").robot_dependency("no_msgs", "::other"),
    ] {
        let error = generator.generate_text().unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::UnknownRobotPackage { .. }), "{text}");
        assert!(text.contains("package_dir") && text.contains("vision_msgs"), "{text}");
    }
}

/// A build script that returns the error prints its `Debug` form.
#[test]
fn errors_look_the_same_in_both_forms() {
    let error = Generator::new().generate_text().unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
}
