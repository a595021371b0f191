//! Tests the plans of launch files. Equivalent XML and YAML give equal plans.

use crate::workspace::Workspace;

const XML: &str = r#"<?xml version="1.0"?>
<launch>
  <arg name="rate" default="2.5" description="messages per second"/>
  <arg name="mode" default="sim">
    <choice value="sim"/>
    <choice value="real"/>
  </arg>
  <let name="who" value="talker_$(var mode)"/>
  <set_env name="DEMO_MODE" value="$(var mode)"/>
  <group>
    <push_ros_namespace namespace="robot"/>
    <node pkg="demo" exec="talker" name="$(var who)" namespace="front" output="screen"
          args="--text 'hello world' $(var mode)" respawn="true" respawn_delay="0.5" on_exit="shutdown">
      <param name="rate" value="$(var rate)"/>
      <param name="label" value="5" type="str"/>
      <param name="limits">
        <param name="low" value="-1"/>
        <param name="high" value="[1.0, 2]"/>
      </param>
      <param from="$(find-pkg-share demo)/params.yaml"/>
      <param name="last" value="true"/>
      <remap from="chatter" to="/loud"/>
      <env name="EXTRA" value="a b"/>
    </node>
    <executable cmd="$(find-pkg-prefix demo)/run me --here" name="runner" output="both" cwd="/tmp"
                if="$(eval &quot;'$(var mode)' == 'sim' and $(var rate) &gt; 2&quot;)"/>
  </group>
  <node pkg="demo" exec="listener" unless="$(equals $(var mode) real)"/>
</launch>
"#;

const YAML: &str = r#"%YAML 1.1
---
launch:
  - arg:
      name: rate
      default: "2.5"
      description: messages per second
  - arg:
      name: mode
      default: sim
      choice:
        - value: sim
        - value: real
  - let: {name: who, value: talker_$(var mode)}
  - set_env: {name: DEMO_MODE, value: $(var mode)}
  - group:
      - push_ros_namespace: {namespace: robot}
      - node:
          pkg: demo
          exec: talker
          name: $(var who)
          namespace: front
          output: screen
          args: --text 'hello world' $(var mode)
          respawn: true
          respawn_delay: 0.5
          on_exit: shutdown
          param:
            - {name: rate, value: $(var rate)}
            - {name: label, value: "5"}
            - name: limits
              param:
                - {name: low, value: -1}
                - {name: high, value: [1.0, 2]}
            - from: $(find-pkg-share demo)/params.yaml
            - {name: last, value: true}
          remap:
            - {from: chatter, to: /loud}
          env:
            - {name: EXTRA, value: a b}
      - executable:
          cmd: $(find-pkg-prefix demo)/run me --here
          name: runner
          output: both
          cwd: /tmp
          if: $(eval "'$(var mode)' == 'sim' and $(var rate) > 2")
  - node:
      pkg: demo
      exec: listener
      unless: $(equals $(var mode) real)
"#;

const EXPECTED: &str = r#"
start [talker-1]
  command: W/lib/demo/talker --text 'hello world' sim --ros-args -r __node:=talker_sim -r __ns:=/robot/front --params-file '<parameters-1>' --params-file W/share/demo/params.yaml --params-file '<parameters-2>' -r chatter:=/loud
  node: /robot/front/talker_sim
  parameter: rate = 2.5
  parameter: label = "5"
  parameter: limits.low = -1
  parameter: limits.high = [1.0, 2.0]
  parameters: W/share/demo/params.yaml
  parameter: last = true
  remap: chatter -> /loud
  environment: DEMO_MODE=sim
  environment: 'EXTRA=a b'
  output: screen
  when it ends: restarted after 0.5 s
  when it ends: the whole launch ends

start [runner-2]
  command: W/run me --here
  folder: /tmp
  environment: DEMO_MODE=sim
  output: screen and log

start [listener-3]
  command: W/lib/demo/listener
  environment: DEMO_MODE=sim
  output: log, errors screen and log
"#;

/// A plan without its positions in the file, which differ between the syntaxes.
fn without_places(plan: &str) -> String {
    let lines = plan.lines().skip(1).map(|line| line.split("  (W/").next().unwrap_or(line));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn both_syntaxes_say_the_same() {
    let workspace = Workspace::new();
    workspace.file("share/demo/params.yaml", "/**: {ros__parameters: {a: 1}}");
    for (name, text) in [("demo.launch.xml", XML), ("demo.launch.yaml", YAML)] {
        let plan = workspace.outcome_of(name, text, &[]);
        assert!(plan.starts_with(&format!("W/{name}: 3 processes, 0 components\n")), "{plan}");
        assert_eq!(without_places(&plan), EXPECTED, "{name}");
        let real = workspace.outcome_of(name, text, &[("mode", "real"), ("rate", "1")]);
        assert!(
            real.contains("talker_real") && !real.contains("listener") && !real.contains("runner"),
            "{real}"
        );
        assert!(real.contains("parameter: rate = 1\n"), "{real}");
    }
}

#[test]
fn parameter_files_belong_to_the_node_when_its_name_is_known() {
    use feros_launch::Word;
    let workspace = Workspace::new();
    let text = r#"<launch>
      <node pkg="demo" exec="talker" name="t" namespace="/n"><param name="a.b" value="x: y"/></node>
      <node pkg="demo" exec="talker" name="t"><param name="a" value="'1'"/></node>
    </launch>"#;
    let plan = workspace.plan(&workspace.file("a.launch.xml", text), &[]).unwrap();
    let files: Vec<&str> = plan
        .processes()
        .flat_map(|process| &process.command)
        .filter_map(|word| {
            if let Word::ParameterFile(file) = word { Some(file.text.as_str()) } else { None }
        })
        .collect();
    assert_eq!(
        files,
        [
            "/n/t:\n  ros__parameters:\n    \"a.b\": \"x: y\"\n",
            "/**:\n  ros__parameters:\n    \"a\": \"1\"\n"
        ]
    );
}

#[test]
fn containers_and_their_components() {
    let workspace = Workspace::new();
    let text = r#"launch:
- arg: {name: with_filter, default: 'false'}
- group:
  - push_ros_namespace: {namespace: cell}
  - set_parameter: {name: use_sim_time, value: true}
  - set_remap: {from: /tf, to: tf}
  - composable_node_container:
      pkg: rclcpp_components
      exec: component_container
      name: pipeline
      composable_node:
        - pkg: demo
          plugin: demo::Camera
          name: camera
          param: [{name: fps, value: 30}]
          remap: [{from: image, to: raw}]
          extra_arg: [{name: use_intra_process_comms, value: true}]
        - {pkg: demo, plugin: 'demo::Filter', if: $(var with_filter)}
- load_composable_node:
    target: cell/pipeline
    composable_node:
      - {pkg: demo, plugin: 'demo::Detector', namespace: /deep}
- log: {message: "all of $(var with_filter)"}
"#;
    let plan = workspace.outcome_of("c.launch.yaml", text, &[]);
    let expected = r#"W/c.launch.yaml: 1 process, 2 components

start [component_container-1]  (W/c.launch.yaml:7:5)
  command: W/lib/feros_component/component_container --ros-args -r __node:=pipeline -r __ns:=/cell --params-file '<parameters-1>' -r /tf:=tf
  node: /cell/pipeline
  parameter: use_sim_time = true
  remap: /tf -> tf
  output: log, errors screen and log
  component: demo::Camera of demo  (W/c.launch.yaml:12:11)
    node: /cell/camera
    parameter: use_sim_time = true
    parameter: fps = 30
    remap: /tf -> tf
    remap: image -> raw
    extra argument: use_intra_process_comms = true

load into /cell/pipeline  (W/c.launch.yaml:19:3)
  component: demo::Detector of demo  (W/c.launch.yaml:22:9)
    node: its own name, in /deep

say: all of false
"#;
    assert_eq!(plan, expected);
    let with = workspace.outcome_of("c.launch.yaml", text, &[("with_filter", "True")]);
    assert!(with.contains("demo::Filter"), "{with}");
}

#[test]
fn included_files_get_arguments_and_know_where_they_are() {
    let workspace = Workspace::new();
    workspace.file(
        "share/demo/launch/inner.launch.yaml",
        "launch:\n- arg: {name: n}\n- executable: {cmd: echo $(var n) $(dirname) $(filename)}\n",
    );
    let outer = r#"<launch>
        <include file="$(find-pkg-share demo)/launch/inner.launch.yaml"><arg name="n" value="1"/></include>
        <include file="share/demo/launch/inner.launch.yaml"><let name="n" value="2"/></include>
        <executable cmd="echo $(dirname)"/>
      </launch>"#;
    let file = workspace.file("outer.launch.xml", outer);
    let plan = workspace.plan(&file, &[]).unwrap();
    let folder = workspace.path().display();
    let inner = format!("{folder}/share/demo/launch");
    let lines: Vec<String> = plan.processes().map(feros_launch::Process::command_line).collect();
    assert_eq!(
        lines,
        [
            format!("echo 1 {inner} {inner}/inner.launch.yaml"),
            format!("echo 2 {inner} {inner}/inner.launch.yaml"),
            format!("echo {folder}")
        ]
    );
}

#[test]
fn groups_restore_what_they_changed() {
    let workspace = Workspace::new();
    let text = r#"<launch>
      <let name="x" value="outer"/>
      <set_env name="FEROS_LAUNCH_TEST" value="1"/>
      <group><let name="x" value="inner"/><unset_env name="FEROS_LAUNCH_TEST"/><executable cmd="echo $(var x) $(env FEROS_LAUNCH_TEST gone)"/></group>
      <executable cmd="echo $(var x) $(env FEROS_LAUNCH_TEST)"/>
      <group scoped="false"><let name="x" value="kept"/></group>
      <executable cmd="echo $(var x)"/>
      <group forwarding="false"><keep name="y" value="$(var x)"/><executable cmd="echo $(var x nothing) $(var y)"/></group>
      <append_env name="FEROS_LAUNCH_TEST" value="2"/>
      <executable cmd="echo $(env FEROS_LAUNCH_TEST) $(if true 'a b') $(anon n)" launch-prefix="nice -n '5'"/>
    </launch>"#;
    let plan = workspace.plan(&workspace.file("g.launch.xml", text), &[]).unwrap();
    let lines: Vec<String> = plan.processes().map(feros_launch::Process::command_line).collect();
    assert_eq!(lines[..4], ["echo inner gone", "echo outer 1", "echo kept", "echo nothing kept"]);
    assert!(lines[4].starts_with("nice -n 5 echo 1:2 'a b' n_"), "{}", lines[4]);
    assert_eq!(plan.processes().last().unwrap().name, "nice-5");
}

#[test]
fn arguments_are_listed_with_those_of_included_files() {
    let workspace = Workspace::new();
    workspace.file(
        "inner.launch.xml",
        r#"<launch><arg name="given"/><arg name="open" default="$(var place)"/></launch>"#,
    );
    let text = r#"<launch>
      <arg name="place" default="inner" description="where"/>
      <group if="$(var debug false)"><arg name="level"><choice value="low"/><choice value="high"/></arg></group>
      <include file="$(var place).launch.xml"><arg name="given" value="1"/></include>
    </launch>"#;
    let file = workspace.file("outer.launch.xml", text);
    let found = workspace.planner().arguments(&file, &[]).unwrap();
    let brief: Vec<_> =
        found.iter().map(|a| (a.name.as_str(), a.default.as_deref(), a.is_conditional)).collect();
    assert_eq!(
        brief,
        [
            ("place", Some("inner"), false),
            ("level", None, true),
            ("open", Some("$(var place)"), false)
        ]
    );
    assert_eq!(found[0].description.as_deref(), Some("where"));
    assert_eq!(found[1].choices, ["low", "high"]);
}

#[test]
fn settings_of_all_processes_can_be_arguments() {
    let workspace = Workspace::new();
    let text = r#"<launch><node pkg="demo" exec="talker"/><node pkg="demo" exec="listener" sigkill_timeout="1.5"/></launch>"#;
    let given = [
        ("launch-prefix", "gdb --args"),
        ("launch-prefix-filter", "talk"),
        ("sigterm_timeout", "0.25"),
    ];
    let plan = workspace.plan(&workspace.file("p.launch.xml", text), &given).unwrap();
    let brief: Vec<_> = plan
        .processes()
        .map(|p| (p.name.as_str(), p.sigterm_timeout.as_millis(), p.sigkill_timeout.as_millis()))
        .collect();
    assert_eq!(brief, [("gdb-1", 250, 5000), ("listener-2", 250, 1500)]);
}

#[test]
fn both_syntaxes_have_timers_and_managed_nodes() {
    let workspace = Workspace::new();
    let xml = r#"<launch>
  <set_use_sim_time value="true"/>
  <log_warning message="careful"/>
  <log level="error" message="bad"/>
  <lifecycle_node pkg="demo" exec="talker" name="driver" namespace="" autostart="true"/>
  <lifecycle_node pkg="demo" exec="talker" name="idle" namespace="a"/>
  <timer period="2.5">
    <arg name="late" default="later"/>
    <executable cmd="echo $(var late)"/>
    <timer period="$(eval '1 + 1')"><log_debug message="last"/></timer>
    <shutdown reason="done"/>
  </timer>
</launch>"#;
    let yaml = r#"launch:
- set_use_sim_time: {value: true}
- log_warning: {message: careful}
- log: {level: error, message: bad}
- lifecycle_node: {pkg: demo, exec: talker, name: driver, namespace: '', autostart: true}
- lifecycle_node: {pkg: demo, exec: talker, name: idle, namespace: a}
- timer:
    period: 2.5
    children:
    - arg: {name: late, default: later}
    - executable: {cmd: echo $(var late)}
    - timer:
        period: $(eval '1 + 1')
        children:
        - log_debug: {message: last}
    - shutdown: {reason: done}
"#;
    let brief = |name: &str, text: &str| {
        let plan = workspace.outcome_of(name, text, &[("late", "much later")]);
        let lines = plan.lines().skip(1).map(|line| line.split("  (").next().unwrap().to_owned());
        lines.collect::<Vec<_>>().join("\n")
    };
    let expected = "
say [WARNING]: careful

say [ERROR]: bad

start [talker-1]
  command: W/lib/demo/talker --ros-args -r __node:=driver -r __ns:=/ --params-file '<parameters-1>'
  node: /driver
  parameter: use_sim_time = true
  output: log, errors screen and log
  when it has started: configured and activated

start [talker-2]
  command: W/lib/demo/talker --ros-args -r __node:=idle -r __ns:=/a --params-file '<parameters-1>'
  node: /a/idle
  parameter: use_sim_time = true
  output: log, errors screen and log

after 2.5 s
  start [echo-3]
    command: echo 'much later'
    output: log, errors screen and log
  after 2 s
    say [DEBUG]: last
  end the launch: done";
    assert_eq!(brief("t.launch.xml", xml), expected);
    assert_eq!(brief("t.launch.yaml", yaml), expected);
    let file = workspace.file("t.launch.xml", xml);
    assert_eq!(workspace.plan(&file, &[]).unwrap().processes().count(), 3);
    let arguments = workspace.planner().arguments(&file, &[]).unwrap();
    assert_eq!(arguments[0].name, "late", "arguments within a timer are known");
}

#[test]
fn the_examples_say_the_same() {
    let workspace = Workspace::new();
    let example = |name: &str| {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../../examples/launch")
            .join(name);
        let plan = workspace.plan(&file, &[("text", "good day")]).unwrap().to_string();
        plan.lines()
            .skip(1)
            .map(|line| line.split("  (").next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let xml = example("greeting.launch.xml");
    assert!(
        xml.contains(
            &"  command: feros topic pub /greeting std_msgs/msg/String '{data: good day}' -r 2"
                .to_owned()
        ),
        "{xml:?}"
    );
    assert_eq!(xml, example("greeting.launch.yaml"));
    assert_eq!(xml.iter().filter(|line| line.starts_with("start")).count(), 3);
}

/// The notation and the conversion of values, as in the documentation and tests of `launch_ros`.
#[test]
fn values_of_parameters_in_both_syntaxes() {
    let workspace = Workspace::new();
    let value_of = |name: &str, text: &str| -> String {
        let outcome = workspace.outcome_of(name, text, &[]);
        let line = outcome.lines().find_map(|line| line.split_once("parameter: p = "));
        line.map_or(outcome.clone(), |(_, value)| value.to_owned())
    };
    let lets = r#"<let name="list" value="[2, 5]"/><let name="text" value="'[2, 5]'"/><let name="number" value="100"/>"#;
    for (attributes, expected) in [
        (r#"value="ads""#, r#""ads""#),
        (r#"value="2, 5" value-sep=", ""#, "[2, 5]"),
        (r#"value="$(var list)""#, "[2, 5]"),
        (r#"value="$(var text)""#, r#""[2, 5]""#),
        (r#"value="2., 5." value-sep=", ""#, "[2.0, 5.0]"),
        (r#"value="'2', '5'" value-sep=", ""#, r#"["2", "5"]"#),
        (r#"value="&quot;'2'&quot;, &quot;'5'&quot;" value-sep=", ""#, r#"["'2'", "'5'"]"#),
        (r#"value="\'2\', \'5\'" value-sep=", ""#, r#"["'2'", "'5'"]"#),
        (r#"value="'\asd', 'b'" value-sep=", ""#, r#"["asd", "b"]"#),
        (r#"value="''""#, r#""""#),
        (r#"value="$(var number)" type="str""#, r#""100""#),
        (r#"value="'$(var number)'""#, "100"),
        (r#"value="'2', '5'" value-sep=", " type="list_of_str""#, r#"["'2'", "'5'"]"#),
        (r#"value="2, 5" value-sep=", " type="list_of_str""#, r#"["2", "5"]"#),
        (r#"value="[1, $(var number)]""#, "[1, 100]"),
        (r#"value="[a, $(var number)x]""#, r#"["a", "100x"]"#),
    ] {
        let attributes = attributes.replace("\\\\", "\\");
        let text = format!(
            r#"<launch>{lets}<node pkg="demo" exec="talker"><param name="p" {attributes}/></node></launch>"#
        );
        assert_eq!(value_of("v.launch.xml", &text), expected, "{attributes}");
    }
    for (value, expected) in [
        ("2", "2"),
        ("[2, 5]", "[2, 5]"),
        ("'2'", r#""2""#),
        ("['2', '5']", r#"["2", "5"]"#),
        (r#"["'2'", "'5'"]"#, r#"["'2'", "'5'"]"#),
        ("''", r#""""#),
        ("yes", "true"),
        ("$(eval '1 + 1')", "2"),
    ] {
        let text = format!(
            "launch:\n- node: {{pkg: demo, exec: talker, param: [{{name: p, value: {value}}}]}}\n"
        );
        assert_eq!(value_of("v.launch.yaml", &text), expected, "{value}");
        let set = format!(
            "launch:\n- set_parameter: {{name: p, value: {value}}}\n- node: {{pkg: demo, exec: talker}}\n"
        );
        let expected = if value == "'2'" { "2" } else { expected };
        if !value.starts_with('[') {
            assert_eq!(value_of("s.launch.yaml", &set), expected, "{value}");
        }
    }
}
