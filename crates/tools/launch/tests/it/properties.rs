//! For any content of a file, planning returns a plan or an error, and never panics.

use std::path::Path;

use feros_launch::{Packages, Planner};
use proptest::prelude::*;

/// Pieces of launch files, so that random text is not refused at its first character.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("<launch>"),
        Just("</launch>"),
        Just("<node "),
        Just("<group>"),
        Just("</group>"),
        Just("<executable cmd='"),
        Just("pkg='a' "),
        Just("exec='b' "),
        Just("<param name='p' value='"),
        Just("'/>"),
        Just("'>"),
        Just("</node>"),
        Just("<arg name='x' default='"),
        Just("<let name='x' value='"),
        Just("$(var x)"),
        Just("$(eval "),
        Just("$(not "),
        Just("\""),
        Just("\\"),
        Just("'"),
        Just(")"),
        Just(" "),
        Just("1"),
        Just("true"),
        Just("[1, 2"),
        Just("]"),
        Just("launch:\n"),
        Just("- node: "),
        Just("- group: "),
        Just("- executable: "),
        Just("{cmd: "),
        Just("name: x"),
        Just("value: "),
        Just(", "),
        Just("}"),
        Just("\n"),
        Just("  "),
        Just("param: "),
        Just("$(dirname)"),
        Just("$("),
        Just("- let: "),
        Just("<timer period='"),
        Just("<for_each values='"),
        Just("{a: "),
        Just(";"),
        Just("$(for-var a)"),
        Just("$(command "),
        Just("<reset>"),
        Just("<shutdown "),
        Just("- timer: "),
        Just("<lifecycle_node "),
        Just("autostart='"),
        Just("if: "),
        Just("respawn_delay='"),
        Just("output='"),
        Just("&lt;"),
        Just("é"),
        Just("\0"),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![3 => pieces(), 1 => any::<String>()]
}

fn plan(name: &str, text: &str) -> Result<String, String> {
    let planner = Planner::new(Packages::new([]));
    let assignments = [("x".to_owned(), "1".to_owned())];
    match planner.plan_text(Path::new(name), text, &assignments) {
        Ok(plan) => Ok(plan.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn quoted(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
        .replace(|c: char| c.is_control(), " ")
}

proptest! {
    #[test]
    fn any_file_gives_a_plan_or_a_message(text in any_text(), is_yaml in any::<bool>()) {
        let name = if is_yaml { "f.launch.yaml" } else { "f.launch.xml" };
        let outcome = plan(name, &text);
        let told = outcome.as_ref().map_or_else(|error| error.starts_with("f.launch."), |plan| plan.starts_with("f.launch."));
        prop_assert!(told, "{outcome:?}");
    }

    #[test]
    fn any_expression_gives_a_value_or_a_message(text in "[-+*/%<>=!()\\[\\], 'a-z0-9.]{0,40}") {
        let file = format!("<launch><let name=\"a\" value=\"$(eval '{}')\"/></launch>", quoted(&text).replace('\'', "\\'"));
        let _ = plan("f.launch.xml", &file);
    }

    /// A word passes through the file and the command line unchanged.
    #[test]
    fn words_arrive_as_they_are(word in "\\PC{1,20}") {
        let escaped: String = word.chars().flat_map(|c| if "\\$".contains(c) { vec!['\\', c] } else { vec![c] }).collect();
        let file = format!(
            "<launch><let name=\"w\" value=\"{}\"/><executable cmd=\"echo $(var w)\"/></launch>",
            quoted(&escaped)
        );
        let planner = Planner::new(Packages::new([]));
        let plan = planner.plan_text(Path::new("f.launch.xml"), &file, &[]).unwrap();
        let command = &plan.processes().next().unwrap().command;
        prop_assert_eq!(&command[1], &feros_launch::Word::Text(word));
    }
}
