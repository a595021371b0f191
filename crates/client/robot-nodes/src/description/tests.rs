//! Descriptions that are right, wrong and hostile.

use std::fmt::Write as _;

use feros_tf2::glam::DVec3;

use super::*;

fn robot(content: &str) -> Result<Robot, DescriptionError> {
    format!("<robot name=\"r\">\n{content}\n</robot>").parse()
}

fn joint(name: &str, parent: &str, child: &str, more: &str) -> String {
    format!(
        "<joint name=\"{name}\" type=\"revolute\"><parent link=\"{parent}\"/>\
         <child link=\"{child}\"/>{more}</joint>\n"
    )
}

fn two_links(more: &str) -> String {
    format!("<link name=\"a\"/><link name=\"b\"/>\n{}", joint("j", "a", "b", more))
}

fn error(content: &str) -> String {
    robot(content).unwrap_err().to_string()
}

#[test]
fn all_that_moves_links_is_read_and_all_else_is_ignored() {
    let text = r#"<?xml version="1.0"?>
      <!-- <link name="in a comment"/> -->
      <robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro" xmlns:s="http://else">
        <material name="red"><color rgba="1 0 0 1"/></material>
        <link name="base"><visual><geometry><mesh filename="x.stl"/></geometry></visual></link>
        <s:link name="no link"/>
        <link name="hand"/> <link name="finger"/>
        <gazebo reference="hand"><link name="no link either"/></gazebo>
        <ros2_control name="c" type="system"><joint name="wrist"/></ros2_control>
        <joint name="wrist" type="prismatic">
          <origin xyz="1  2
            3" rpy="0 0 1.5"/>
          <axis xyz="0 0 -2"/>
          <parent link="base"/><child link="hand"/>
          <limit lower="-1" upper="2.5e0" effort="1" velocity="1"/>
          <safety_controller soft_lower_limit="-0.5" k_velocity="1"/>
        </joint>
        <joint name="grip" type="continuous">
          <parent link="hand"/><child link="finger"/>
          <mimic joint="wrist" multiplier="-2" offset=".5"/>
        </joint>
      </robot>"#;
    let robot: Robot = text.parse().unwrap();
    assert_eq!((robot.name(), robot.root()), ("arm", "base"));
    let [wrist, grip] = robot.joints() else { panic!("two joints: {robot:?}") };
    assert_eq!((wrist.kind, wrist.axis), (JointKind::Prismatic, DVec3::NEG_Z));
    assert_eq!(wrist.origin.translation, DVec3::new(1.0, 2.0, 3.0));
    assert_eq!(wrist.limits, Limits { lower: Some(-1.0), upper: Some(2.5) });
    assert_eq!(wrist.soft_limits, Limits { lower: Some(-0.5), upper: None });
    let mimic = Mimic { joint: "wrist".into(), multiplier: -2.0, offset: 0.5 };
    assert_eq!((grip.mimic.as_ref(), grip.axis), (Some(&mimic), DVec3::X));
    assert_eq!((robot.place("grip"), robot.place("no")), (Some(1), None));
}

#[test]
fn each_mesh_of_a_link_is_read_once() {
    let of = |file: &str| format!("<geometry><mesh filename=\"{file}\"/></geometry>");
    let both = format!("<visual>{0}</visual><collision>{0}</collision>", of("a.stl"));
    let links = format!(
        "<link name=\"a\">{both}</link><gazebo>{}</gazebo>\n<link name=\"b\">{both}\
         <visual>{}</visual><visual><geometry><mesh/></geometry></visual></link>{}",
        of("elsewhere.stl"),
        of("b.stl"),
        joint("j", "a", "b", "")
    );
    let robot = robot(&links).unwrap();
    let meshes: Vec<_> =
        robot.meshes().iter().map(|mesh| (mesh.uri.as_str(), mesh.link.as_str())).collect();
    assert_eq!(meshes, [("a.stl", "a"), ("b.stl", "b")]);
    let many: String = (0..MAX_MESHES + 1).map(|n| of(&n.to_string())).collect();
    let robot: Robot = format!("<robot><link name=\"a\">{many}</link></robot>").parse().unwrap();
    assert_eq!(robot.meshes().len(), MAX_MESHES);
}

#[test]
fn a_quaternion_may_replace_angles() {
    let content = two_links("<origin quat_xyzw=\"0 0 2 0\" xyz=\"0 0 0\"/>");
    let robot = robot(&content).unwrap();
    let turned = robot.joints()[0].origin.transform_vector(DVec3::X);
    assert!((turned - DVec3::NEG_X).length() < 1e-12, "half a turn about z: {turned}");
    let zero = error(&two_links("<origin quat_xyzw=\"0 0 0 0\"/>"));
    assert!(zero.contains("quat_xyzw=\"0 0 0 0\"") && zero.contains("not 0"), "{zero}");
}

#[test]
fn what_is_no_urdf_is_named_with_the_cure() {
    let of = |text: &str| text.parse::<Robot>().unwrap_err().to_string();
    assert!(of("").contains("is empty") && of(" \n").contains("is empty"));
    let path = of("/opt/robot.urdf");
    assert!(path.contains("not its path"), "{path}");
    let broken = of("<robot><link></robot>");
    assert!(broken.contains("not well-formed") && broken.contains("1:"), "{broken}");
    assert!(of("<sdf version=\"1.6\"/>").contains("<sdf>, not <robot>: only URDF"));
    assert!(of("<robot name=\"r\"/>").contains("the robot \"r\" has no <link>"));
    let entities = of("<!DOCTYPE r [<!ENTITY a \"&a;&a;\">]><robot name=\"&a;\"/>");
    assert!(entities.contains("DTD"), "{entities}");
    let xacro = of("<robot xmlns:xacro=\"http://www.ros.org/wiki/xacro\">\n\n\
                    <xacro:include filename=\"b\"/></robot>");
    assert!(xacro.starts_with("line 3: <xacro:include>"), "{xacro}");
    assert!(xacro.contains("pip install xacro"), "{xacro}");
}

/// As in public robots that work with other parsers.
#[test]
fn what_other_parsers_ignore_is_ignored() {
    let head = "<!-- a comment -->\n\n<?xml version=\"1.0\" ?>\n";
    let xmlns = "xmlns:xacro=\"http://ros.org/wiki/xacro\"";
    let text = format!(
        "{head}<robot name=\"r\" {xmlns}><xacro:arg name=\"n\" default=\"\"/>\n\
         <link name=\"${{n}}base\"/></robot>"
    );
    let robot: Robot = text.parse().unwrap();
    assert_eq!(robot.root(), "${n}base");
    let said = robot.unprocessed().unwrap();
    assert!(said.starts_with("line 4: <xacro:arg> is an element of xacro: run xacro"), "{said}");
    let without: Robot = "<robot><link name=\"a\"/></robot>".parse().unwrap();
    assert_eq!(without.unprocessed(), None);
    let late: DescriptionError =
        format!("{head}<robot><link/></robot>").parse::<Robot>().unwrap_err();
    assert_eq!(late.to_string(), "line 4: a link has no name", "lines are counted as before");
}

#[test]
fn missing_and_wrong_parts_are_named_with_their_lines() {
    for (content, expected) in [
        ("<link/>", "line 2: a link has no name"),
        ("<link name=\" \"/>", "line 2: a link has no name"),
        ("<link name=\"a\"/>\n<joint type=\"fixed\"/>", "line 3: a joint has no name"),
        ("<link name=\"a\"/><joint name=\"j\"/>", "line 2: the joint \"j\" has no type"),
        (
            "<link name=\"a\"/><joint name=\"j\" type=\"fixed\"/>",
            "line 2: the joint \"j\" has no <parent link=\"...\"/>",
        ),
        (
            "<link name=\"a\"/><joint name=\"j\" type=\"fixed\"><parent link=\"a\"/><child/></joint>",
            "line 2: the joint \"j\" has no <child link=\"...\"/>",
        ),
    ] {
        assert_eq!(error(content), expected, "{content}");
    }
    let kind = error("<link name=\"a\"/><joint name=\"j\" type=\"revolut\"/>");
    assert!(kind.contains("unknown type \"revolut\"; did you mean `revolute`?"), "{kind}");
    let mimic = error(&two_links("<mimic/>"));
    assert!(mimic.contains("has no <mimic joint"), "{mimic}");
    let axis = error(&two_links("<axis xyz=\"0 0 0\"/>"));
    assert!(axis.contains("axis of the joint \"j\" is 0 0 0"), "{axis}");
}

#[test]
fn numbers_are_finite_and_as_many_as_expected() {
    for (more, expected) in [
        ("<origin xyz=\"0 0\"/>", "xyz=\"0 0\" of the joint \"j\": expected three finite numbers"),
        ("<origin xyz=\"0 0 0 0\"/>", "expected fewer numbers"),
        ("<origin rpy=\"0 nan 0\"/>", "expected three finite numbers"),
        ("<origin xyz=\"0 0 inf\"/>", "expected three finite numbers"),
        ("<origin xyz=\"0 0 1e999\"/>", "expected three finite numbers"),
        ("<axis xyz=\"0 0 NaN\"/>", "expected three finite numbers"),
        ("<limit lower=\"one\"/>", "lower=\"one\" of the joint \"j\": expected a finite number"),
        ("<mimic joint=\"x\" multiplier=\"\"/>", "expected a finite number"),
        ("<mimic joint=\"x\" offset=\"-inf\"/>", "expected a finite number"),
        ("<origin xyz=\"${x} 0 0\"/>", "; xacro replaces ${...}, so run it first"),
    ] {
        let error = error(&two_links(more));
        assert!(error.starts_with("line 3: ") && error.contains(expected), "{more}: {error}");
    }
}

#[test]
fn links_and_joints_form_one_tree() {
    let links = |names: &str| -> String {
        names.chars().map(|name| format!("<link name=\"{name}\"/>")).collect::<String>() + "\n"
    };
    let two = error(&links("abc").replace('\n', &joint("j", "a", "b", "")));
    assert!(two.starts_with("line 2: the robot has several root links, \"a\", \"c\""), "{two}");
    let duplicate = error("<link name=\"a\"/>\n<link name=\"a\"/>");
    assert_eq!(duplicate, "line 3: there is another link \"a\" before: rename one of them");
    let joints = links("abc") + &joint("j", "a", "b", "") + &joint("j", "b", "c", "");
    assert!(error(&joints).starts_with("line 4: there is another joint \"j\""));
    let unknown = error(&(links("ab") + &joint("j", "a", "bb", "")));
    assert!(unknown.contains("child link \"bb\", which the robot does not have"), "{unknown}");
    let unknown = error(&(links("ab") + &joint("j", "base", "b", "")));
    assert!(unknown.contains("parent link \"base\""), "{unknown}");
    let chain = links("abc")
        + &joint("j", "a", "b", "")
        + &joint("k", "a", "c", "")
        + &joint("l", "b", "c", "");
    let chain = error(&chain);
    assert!(chain.contains("\"c\" is the child of two joints, \"k\" and \"l\""), "{chain}");
    let own = error(&(links("a") + &joint("j", "a", "a", "")));
    assert!(own.starts_with("line 3: the links \"a\" form a loop"), "{own}");
    let apart = links("abc") + &joint("j", "b", "c", "") + &joint("k", "c", "b", "");
    let apart = error(&apart);
    assert!(apart.starts_with("line 4: the links \"b\" -> \"c\" form a loop"), "{apart}");
    assert!(apart.ends_with("such as \"k\" of this line"), "{apart}");
}

#[test]
fn joints_that_mimic_each_other_are_refused() {
    let mimic = |joint: &str| format!("<mimic joint=\"{joint}\"/>");
    let links = "<link name=\"a\"/><link name=\"b\"/><link name=\"c\"/>";
    let content = |first: &str, second: &str| {
        let joints = joint("j", "a", "b", &mimic(first)) + &joint("k", "b", "c", &mimic(second));
        format!("{links}{joints}")
    };
    let both = error(&content("k", "j"));
    assert!(both.starts_with("line 2: "), "{both}");
    assert!(both.contains("\"j\" -> \"k\" mimic each other"));
    assert!(error(&content("j", "j")).contains("the joints \"j\" mimic each other"));
    // A joint may mimic a joint that another program moves.
    assert!(robot(&content("k", "elsewhere")).is_ok());
}

/// A chain of links, each of which is the child of the one before.
fn chain(links: usize) -> String {
    let mut content = String::from("<link name=\"l0\"/>");
    for link in 1..links {
        let parent = link - 1;
        writeln!(
            content,
            "<link name=\"l{link}\"/><joint name=\"j{link}\" type=\"fixed\">\
             <parent link=\"l{parent}\"/><child link=\"l{link}\"/></joint>"
        )
        .unwrap();
    }
    content
}

#[test]
fn sizes_are_bounded_and_depth_needs_no_stack() {
    assert_eq!(robot(&chain(MAX_LINKS)).unwrap().joints().len(), MAX_LINKS - 1);
    let many = robot(&chain(100_000)).unwrap_err();
    assert_eq!(many, DescriptionError::TooManyLinks { links: 100_000, limit: MAX_LINKS });
    let deep = "<x>".repeat(400_000) + &"</x>".repeat(400_000);
    assert!(error(&deep).contains("has no <link>"));
    let nodes = "<x/>".repeat(2_000_001);
    assert!(error(&nodes).contains("nodes limit"), "{}", error(&nodes));
    let long = "x".repeat(MAX_BYTES + 1).parse::<Robot>().unwrap_err();
    assert!(matches!(long, DescriptionError::TooLong { .. }));
    let mut element = String::from("<link name=\"a\"");
    for number in 0..2_000_000 {
        write!(element, " a{number}=''").unwrap();
    }
    let expected = DescriptionError::TooManyAttributes { line: 2, limit: MAX_ATTRIBUTES };
    let many: String = element.chars().take(MAX_BYTES / 2).collect();
    assert_eq!(robot(&format!("{many}'/>")).unwrap_err(), expected);
}

#[test]
fn names_of_others_stay_short_and_harmless_in_errors() {
    let name = "\u{202e}".to_owned() + &"n".repeat(100_000);
    let error = error(&format!("<link name=\"{name}\"/><link name=\"{name}\"/>"));
    assert!(error.len() < 300 && !error.contains('\u{202e}'), "{error}");
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "<robot>", "</robot>", "<link name=\"a\"/>", "<link name=\"b\"/>", "<joint ",
                "name=\"j\" ", "type=\"fixed\"", ">", "/>", "<parent link=\"a\"/>", "</joint>",
                "<child link=\"b\"/>", "<mimic joint=\"j\"/>", "<", "\"", "&a;", "\u{0}", "]]>",
            ]),
            0..30,
        )
    ) {
        let text: String = parts.concat();
        let _ = text.parse::<Robot>();
        let _ = format!("<robot>{text}</robot>").parse::<Robot>();
    }
}
