//! Tests the results of single actions and substitutions.

use crate::workspace::Workspace;

#[test]
fn loops_do_their_actions_once_a_round() {
    let workspace = Workspace::new();
    let text = "<launch><bool_arg name='loud' default='True'/><let name='x' value='-'/>
        <for len='$(eval 1+1)' name='i'><for len='2' name='j'>
          <let name='x' value='$(var x)$(index i)$(index j)'/></for></for>
        <for len='0' name='i'><log message='never'/></for>
        <log message='$(var x) $(var loud)'/></launch>";
    let plan = workspace.outcome_of("t.launch.xml", text, &[]);
    assert!(plan.ends_with("\n\nsay: -00011011 True\n"), "{plan}");
    let yaml = "launch:\n- for:\n    len: 2\n    name: i\n    children:\n    - log: {message: $(index i)}\n";
    let plan = workspace.outcome_of("t.launch.yaml", yaml, &[]);
    assert!(plan.ends_with("\n\nsay: 0\n\nsay: 1\n"), "{plan}");
    let refused = workspace.outcome_of("t.launch.xml", text, &[("loud", "maybe")]);
    assert!(refused.contains("`maybe` for the argument `loud`: expected one of true"), "{refused}");
    let endless = "<launch><for len='100000000000' name='i'/></launch>";
    assert!(
        workspace.outcome_of("t.launch.xml", endless, &[]).contains("more than 1000000 rounds")
    );
    let many = "<launch><for len='2000' name='i'><for len='2000' name='j'>
        <let name='x' value=''/></for></for></launch>";
    assert!(workspace.outcome_of("t.launch.xml", many, &[]).contains("more than 1000000 actions"));
}

#[test]
fn loops_over_sets_of_values_give_each_round_its_own() {
    let workspace = Workspace::new();
    let text = "<launch><arg name='robots' default=\"{name: 'a b', id: 1};{name: c, loud: yes};\"/>
        <for_each values='$(var robots)'><for len='1' name='i'>
          <log message='$(for-var name) $(for-var id 7) $(for-var loud no) $(index i)'/></for></for_each>
        <log message='$(for-var name gone)'/></launch>";
    let plan = workspace.outcome_of("t.launch.xml", text, &[]);
    let said = "\n\nsay: a b 1 no 0\n\nsay: c 7 True 0\n\nsay: gone\n";
    assert!(plan.ends_with(said), "{plan}");
    let given = workspace.outcome_of("t.launch.xml", text, &[("robots", "{name: d}")]);
    assert!(given.contains("say: d 7 no 0\n"), "{given}");
    let alone = "<launch><for len='1' name='i'><group forwarding='false'><log message='$(index i)'/></group></for></launch>";
    assert!(workspace.outcome_of("g.launch.xml", alone, &[]).contains("say: 0\n"));
    let none = workspace.outcome_of("t.launch.xml", text, &[("robots", " ; ")]);
    let warning = "warning: W/t.launch.xml:2:9: `for_each` without values: its actions are skipped";
    assert!(none.contains(warning) && !none.contains(" 7 "), "{none}");
    let yaml = "launch:\n- for_each:\n    values: '{a: 1};{a: 2}'\n    children:\n    - log: {message: $(for-var a)}\n";
    let plan = workspace.outcome_of("t.launch.yaml", yaml, &[]);
    assert!(plan.ends_with("\n\nsay: 1\n\nsay: 2\n"), "{plan}");
    let inner =
        "<launch><for_each values='{a: 1}'><arg name='late' default='x'/></for_each></launch>";
    let file = workspace.file("i.launch.xml", inner);
    assert_eq!(workspace.planner().arguments(&file, &[]).unwrap()[0].name, "late");
}

#[test]
fn a_reset_keeps_what_it_is_told_to() {
    let workspace = Workspace::new();
    let text = "<launch><arg name='a' default='1'/><let name='b' value='2'/>
        <reset><keep name='a' value='$(var a)$(var b)'/></reset>
        <log message='$(var a) $(var b none)'/></launch>";
    let plan = workspace.outcome_of("t.launch.xml", text, &[]);
    assert!(plan.ends_with("\n\nsay: 12 none\n"), "{plan}");
    let yaml = "launch:\n- let: {name: b, value: 2}\n- reset:\n    keep: [{name: c, value: $(var b)}]\n- log: {message: $(var b none) $(var c)}\n";
    let plan = workspace.outcome_of("t.launch.yaml", yaml, &[]);
    assert!(plan.ends_with("\n\nsay: none 2\n"), "{plan}");
}

#[test]
fn a_timer_of_ros_time_follows_the_clock_where_nodes_do() {
    let workspace = Workspace::new();
    let timer = "<ros_timer period='2'><log message='later'/></ros_timer>";
    let plan = |before: &str| {
        workspace.outcome_of("t.launch.xml", &format!("<launch>{before}{timer}</launch>"), &[])
    };
    let wall = plan("");
    assert!(wall.contains("\nafter 2 s  (W/t.launch.xml:1:9)\n  say: later\n"), "{wall}");
    for before in [
        "<set_use_sim_time value='true'/>",
        "<set_parameter name='use_sim_time' value='true'/>",
        "<set_use_sim_time value='false'/><set_use_sim_time value='1'/>",
    ] {
        let simulated = plan(before);
        assert!(simulated.contains("\nafter 2 s of /clock  ("), "{before}: {simulated}");
    }
    assert!(plan("<set_use_sim_time value='0'/>").contains("\nafter 2 s  ("));
    let group = "<group><set_use_sim_time value='1'/></group>";
    assert!(plan(group).contains("\nafter 2 s  ("), "a group restores it");
}

#[test]
fn logs_have_a_folder_within_the_one_before() {
    let workspace = Workspace::new();
    let text = "<launch><set_env name='ROS_LOG_DIR' value='/logs'/>
        <set_ros_log_dir new_log_dir='robot'/><executable cmd='a'/>
        <set_ros_log_dir new_log_dir='/other'/><executable cmd='b'/></launch>";
    let plan = workspace.outcome_of("t.launch.xml", text, &[]);
    let within = plan.find("environment: ROS_LOG_DIR=/logs/robot\n").unwrap();
    let other = plan.find("environment: ROS_LOG_DIR=/other\n").unwrap();
    assert!(within < other, "{plan}");
}

#[test]
fn texts_paths_and_files_are_put_together() {
    let workspace = Workspace::new();
    workspace.file("share/demo/config/a.txt", " from a file\n");
    for (text, expected) in [
        ("$(string-join . https://$(var sub) ros org)", "https://docs.ros.org"),
        ("[$(string-strip '  a b ')]", "[a b]"),
        ("$(is-empty '') $(is-empty ' ') $(not-empty a)", "true false true"),
        ("$(path-join /a b c.txt) $(path-join a /b)", "/a/b/c.txt /b"),
        ("$(string-strip $(file-content $(find-pkg-file demo config/a.txt)))", "from a file"),
        ("$(param rate) $(param on) $(param text)", "2.5 True x y"),
        ("$(string-strip $(command 'sh -c \\'echo $SAID; echo no >&amp;2\\'' ignore))", "a b"),
    ] {
        let launch = format!(
            "<launch><let name='sub' value='docs'/><set_env name='SAID' value='a b'/>
             <set_parameter name='rate' value='2.5'/><set_parameter name='on' value='true'/>
             <set_parameter name='text' value='x y'/><log message=\"{text}\"/></launch>"
        );
        let plan = workspace.outcome_of("t.launch.xml", &launch, &[]);
        assert!(plan.ends_with(&format!("\n\nsay: {expected}\n")), "{text}: {plan}");
    }
}

/// Commands run neither for queries nor for text of unknown origin.
#[test]
fn commands_run_for_a_plan_alone() {
    let workspace = Workspace::new();
    let touched = workspace.path().join("touched");
    let text = format!(
        "<launch><arg name='a' default=\"$(command 'touch {}')\"/><log message='say $(var a)'/></launch>",
        touched.display()
    );
    let file = workspace.file("t.launch.xml", &text);
    let arguments = workspace.planner().arguments(&file, &[]).unwrap();
    assert!(arguments[0].default.as_deref().unwrap().starts_with("$(command"));
    let error = workspace.planner().plan_text(&file, &text, &[]).unwrap_err().to_string();
    assert!(error.contains("is not run here"), "{error}");
    let preview = workspace.planner().preview(&file, &[]).unwrap().to_string();
    assert!(preview.contains("say $(command ") && preview.contains("touch"), "{preview}");
    assert!(!touched.exists());
    workspace.plan(&file, &[]).unwrap();
    assert!(touched.exists());
}

#[test]
fn a_command_that_warns_is_a_warning_of_the_plan() {
    let workspace = Workspace::new();
    let text = "<launch><log message=\"$(command 'sh -c \\'echo oh >&amp;2\\'' warn)\"/></launch>";
    let plan = workspace.outcome_of("t.launch.xml", text, &[]);
    assert!(plan.contains("warning: W/t.launch.xml:1:23: the command `sh -c "), "{plan}");
    assert!(plan.contains("wrote to standard error: oh"), "{plan}");
}

#[test]
fn a_parameter_file_with_a_mistake_is_a_warning_once() {
    let workspace = Workspace::new();
    workspace.file("good.yaml", "/**: {ros__parameters: {rate: 5}}");
    workspace.file("bad.yaml", "talker:\n  rate: 5\n");
    workspace.file("later.yaml", "/**: {ros__parameters: {rate: $(var rate)}}");
    let node = |attributes: &str| {
        format!("<node pkg='demo' exec='talker'><param from={attributes}/></node>\n")
    };
    let text = format!(
        "<launch><arg name='rate' default='5'/>\n{}{}{}{}</launch>",
        node("'good.yaml'"),
        node("'bad.yaml'"),
        node("'bad.yaml'"),
        node("'later.yaml' allow_substs='true'"),
    );
    let plan = workspace.outcome_of("t.launch.xml", &text, &[]);
    let warning = "warning: W/t.launch.xml:3:45: parameter file W/bad.yaml: line 2, column 9: ";
    assert!(plan.contains(warning) && plan.matches("warning: ").count() == 1, "{plan}");
    let plan = workspace.outcome_of("t.launch.xml", &text, &[("rate", "[5")]);
    let warning = "warning: W/t.launch.xml:5:45: parameter file W/later.yaml: ";
    assert!(plan.contains(warning) && plan.matches("warning: ").count() == 2, "{plan}");
}

#[test]
fn environments_are_pushed_popped_and_reset() {
    let workspace = Workspace::new();
    let say = "<log message='$(env FEROS_LAUNCH_A none)'/>";
    let set = |value: &str| format!("<set_env name='FEROS_LAUNCH_A' value='{value}'/>");
    let text = format!(
        "<launch>{}<push_env/>{}{say}<pop_env/>{say}<reset_env/>{say}</launch>",
        set("outer"),
        set("inner")
    );
    let plan = workspace.outcome_of("t.launch.xml", &text, &[]);
    assert!(plan.ends_with("\n\nsay: inner\n\nsay: outer\n\nsay: none\n"), "{plan}");
}

#[test]
fn changes_in_a_timer_stay_within_it() {
    let workspace = Workspace::new();
    let text = "<launch><let name='x' value='now'/><timer period='1'><let name='x' value='then'/>\
        <log message='$(var x)'/></timer><log message='$(var x)'/></launch>";
    let plan = workspace.outcome_of("t.launch.xml", text, &[]);
    assert!(plan.contains("  say: then\n\nsay: now\n"), "{plan}");
}
