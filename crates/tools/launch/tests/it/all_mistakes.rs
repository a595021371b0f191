//! A plan tells all mistakes after which planning can go on, and none that follows from another.

use crate::workspace::Workspace;

/// Checks that the mistakes of a file are exactly those that contain these texts, in this order.
#[track_caller]
fn assert_told(workspace: &Workspace, text: &str, expected: &[&str]) {
    let outcome = workspace.outcome_of("m.launch.xml", text, &[]);
    let lines: Vec<&str> = outcome.lines().collect();
    assert_eq!(lines.len(), expected.len(), "{outcome}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.contains(expected), "{expected:?} is not in {line}\n{outcome}");
    }
    assert!(!outcome.contains('\u{fdd0}') && !outcome.contains("\\u{fdd0}"), "{outcome}");
}

#[test]
fn defaults_of_arguments_with_missing_packages_hide_nothing() {
    let text = "<launch>
<arg name='map' default='$(find-pkg-share maps)/map.yaml'/>
<arg name='params' default='$(find-pkg-share settings)/nav.yaml'/>
<node pkg='planner' exec='a' args='$(var map)'><param from='$(var params)'/></node>
<node pkg='controller' exec='b'/>
</launch>";
    let expected = [
        "no package `maps`",
        "no package `settings`",
        "no package `planner`",
        "no package `controller`",
    ];
    assert_told(&Workspace::new(), text, &expected);
}

#[test]
fn settings_of_the_environment_with_missing_packages_hide_nothing() {
    for setting in [
        "<set_env name='A' value='$(find-pkg-share one)'/>",
        "<append_env name='A' value='$(find-pkg-share one)/models'/>",
        "<let name='a' value='$(find-pkg-share one)'/>",
        "<set_remap from='a' to='$(find-pkg-share one)'/>",
        "<set_parameter name='a' value='$(find-pkg-share one)'/>",
        "<set_parameter name='a' value='$(find-pkg-share one)'/><log message='$(param a)'/>",
        "<push_ros_namespace namespace='$(find-pkg-share one)'/>",
        "<log message='$(find-pkg-share one)'/>",
        "<for name='i' len='$(find-pkg-share one)'><log message='$(index i)'/></for>",
        "<for_each values='$(find-pkg-share one)'><log message='$(for-var a)'/></for_each>",
        "<timer period='$(find-pkg-share one)'><log message='a'/></timer>",
        "<group scoped='$(find-pkg-share one)'><log message='a'/></group>",
        "<executable cmd='ls $(find-pkg-share one)'/>",
        "<executable cmd='ls' output='$(find-pkg-share one)'/>",
    ] {
        let text = format!(
            "<launch>{setting}<node pkg='two' exec='a' namespace='n'/>\
             <log message='$(var absent x) $(env PATH)'/></launch>"
        );
        assert_told(&Workspace::new(), &text, &["no package `one`", "no package `two`"]);
    }
}

#[test]
fn one_node_tells_all_its_mistakes() {
    let text = "<launch>
<node pkg='none' exec='a' name='a b' output='scren' respawn='maybe' cwd='$(var nowhere)'>
<param from='$(find-pkg-share one)/p.yaml'/>
<param name='p' value='$(find-pkg-share two)'/>
<param name='q' value='x' type='int'/>
<param from='absent.yaml'/>
<remap from='a' to='$(find-pkg-share three)'/>
<env name='E' value='$(find-pkg-share four)'/>
</node></launch>";
    let expected = [
        "`a b` is not a valid node name",
        "no package `one`",
        "no package `two`",
        "the parameter `q`",
        "the parameter file absent.yaml does not exist",
        "no package `three`",
        "no package `none`",
        "no package `four`",
        "`scren` for `output`",
        "no argument or variable `nowhere`",
        "`maybe` is not a boolean",
    ];
    assert_told(&Workspace::new(), text, &expected);
}

#[test]
fn one_include_tells_all_its_mistakes() {
    let workspace = Workspace::new();
    workspace.file("inner.launch.xml", "<launch><node pkg='three' exec='$(var b)'/></launch>");
    let text = "<launch>
<include file='$(find-pkg-share one)/a.launch.xml'>
<arg name='a' value='$(find-pkg-share two)'/></include>
<include file='inner.launch.xml'><arg name='b' value='$(find-pkg-share four)'/></include>
<include file='none.launch.xml'><arg name='c' value='$(find-pkg-share five)'/></include>
</launch>";
    let expected = ["`one`", "`two`", "`four`", "`three`", "none.launch.xml cannot be", "`five`"];
    assert_told(&workspace, text, &expected);
}

#[test]
fn a_cycle_is_told_with_the_mistakes_after_it() {
    let workspace = Workspace::new();
    workspace.file(
        "b.launch.xml",
        "<launch><include file='m.launch.xml'/><node pkg='one' exec='a'/></launch>",
    );
    let text = "<launch><include file='b.launch.xml'/><node pkg='two' exec='a'/></launch>";
    let way = "a launch file includes itself: W/m.launch.xml -> W/b.launch.xml -> W/m.launch.xml";
    assert_told(&workspace, text, &[way, "`one`", "`two`"]);
}

#[test]
fn what_depends_on_a_mistake_is_not_told() {
    for follows in [
        "<log message='a' if='$(var p)'/>",
        "<node pkg='three' exec='a' unless=\"$(eval '\\'$(var p)\\' == \\'a\\'')\"/>",
        "<node pkg='three' exec='a' if='$(not-empty $(var p))'/>",
        "<log message='$(file-content $(var p)/a.txt) $(command \"cat $(var p)\")'/>",
        "<log message='$(find-pkg-share $(var p)) $(find-pkg-file demo $(var p))'/>",
        "<log message='$(env $(var p)) $(var $(var p)) $(find-exec $(var p))'/>",
        "<log message='$(eval \"len($(var p))\")' level='$(var p)'/>",
        "<include file='$(var p)/a.launch.xml'/><log message='$(var that_it_sets)'/>",
        "<let name='$(var p)' value='a'/><log message='$(var that_it_sets)'/>",
        "<let name='a' value='b' if='$(var p)'/><log message='$(var a)'/>",
        "<arg name='a' default='$(var p)'><choice value='b'/></arg><log message='$(var a)'/>",
        "<set_parameter name='a' value='b' if='$(var p)'/><log message='$(param a)'/>",
        "<set_env name='FEROS_ABSENT' value='b' if='$(var p)'/><log message='$(env FEROS_ABSENT)'/>",
        "<push_ros_namespace namespace='$(var p)'/><node pkg='demo' exec='talker' name='a'/>",
        "<push_ros_namespace namespace='n'/><node pkg='demo' exec='talker' namespace='$(var p)'/>",
        "<node pkg='$(var p)' exec='a'/><node pkg='demo' exec='$(var p)'/>",
        "<node pkg='demo' exec='talker' name='$(var p)'><param from='$(var p)/a.yaml'/></node>",
        "<node pkg='demo' exec='talker'><param name='a' value='$(var p)' type='int'/></node>",
        "<executable cmd='ls' respawn='$(var p)' sigterm_timeout='$(var p)' output='$(var p)'/>",
        "<executable cmd='$(var p)' launch-prefix='$(var p)' cwd='$(var p)'/>",
        "<load_composable_node target='/$(var p)'><composable_node pkg='$(var p)' \
         plugin='$(var p)' name='a'/></load_composable_node>",
        "<timer period='$(var p)'><log message='$(var p)'/></timer>",
        "<let name='a' value='b'/><group forwarding='$(var p)'><log message='$(var a)'/></group>",
    ] {
        let text = format!(
            "<launch><let name='p' value='$(find-pkg-share one)'/>{follows}\
             <node pkg='two' exec='a'/></launch>"
        );
        assert_told(&Workspace::new(), &text, &["no package `one`", "no package `two`"]);
    }
}

#[test]
fn a_missing_argument_hides_no_missing_package() {
    let text = "<launch><arg name='a'/><arg name='m' default='z'><choice value='x'/></arg>
<node pkg='one' exec='$(var a)' if='$(var m)'/><node pkg='two' exec='$(var a)'/></launch>";
    let expected = ["add a:=VALUE", "`z` for the argument `m`", "no package `two`"];
    assert_told(&Workspace::new(), text, &expected);
}

#[test]
fn a_limit_ends_the_plan_at_once() {
    let workspace = Workspace::new();
    workspace.file("a.launch.xml", "<launch/>");
    let includes = "<include file='a.launch.xml'/>".repeat(1003);
    let text = format!("<launch>{includes}<node pkg='one' exec='a'/></launch>");
    assert_told(&workspace, &text, &["more than 1000 files are included"]);
}

#[test]
fn a_mistake_in_a_loop_is_told_once() {
    let text = "<launch><for name='i' len='30'><node pkg='one' exec='a'/></for>\
                <node pkg='two' exec='a'/></launch>";
    assert_told(&Workspace::new(), text, &["no package `one`", "no package `two`"]);
    let nodes: String = (0..25).map(|i| format!("<node pkg='none{i}' exec='a'/>")).collect();
    let expected: Vec<String> = (0..25).map(|i| format!("no package `none{i}`")).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    assert_told(&Workspace::new(), &format!("<launch>{nodes}</launch>"), &expected);
    let nodes: String = (0..250).map(|i| format!("<node pkg='none{i}' exec='a'/>")).collect();
    let outcome =
        Workspace::new().outcome_of("m.launch.xml", &format!("<launch>{nodes}</launch>"), &[]);
    assert_eq!(outcome.lines().count(), 101, "{outcome}");
    assert!(outcome.ends_with("\nand at least 101 more"), "{outcome}");
}
