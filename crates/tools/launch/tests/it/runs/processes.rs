//! Tests one process: its environment, the effect of its failure, and respawns.

use rustix::process::Signal;

use crate::launcher::{Launch, has, launch, shell};
use crate::workspace::Workspace;

#[test]
fn a_process_that_fails_by_itself_is_told_and_the_rest_goes_on() {
    let workspace = Workspace::new();
    let failing = shell("failing", "exit 4", "");
    let other = shell("other", "sleep 0.3; echo done", "");
    let (code, lines) = Launch::start(&workspace, &launch(&[failing, other])).end();
    assert_eq!(code, 0);
    assert!(
        has(&lines, "[ERROR] [failing-1]: died with exit code 4 (command: /bin/sh -c 'exit 4')"),
        "{lines:?}"
    );
    assert!(has(&lines, "[other-2] done"), "{lines:?}");
    let missing = "<executable cmd='/nowhere/at all' name='missing'/>".to_owned();
    let other = shell("other", "echo done", "");
    let (code, lines) = Launch::start(&workspace, &launch(&[missing, other])).end();
    assert_eq!(code, 1);
    assert!(
        lines.iter().any(|line| line.contains("[missing-1]: cannot be started: No such file")),
        "{lines:?}"
    );
    assert!(has(&lines, "[other-2] done"), "{lines:?}");
    let nowhere = shell("nowhere", "pwd", "cwd='/no/folder'");
    let (code, lines) = Launch::start(&workspace, &launch(&[nowhere])).end();
    assert_eq!(code, 1);
    let told = "[nowhere-1]: cannot be started: there is no folder /no/folder, which `cwd` names";
    assert!(lines.iter().any(|line| line.contains(told)), "{lines:?}");
}

#[test]
fn processes_are_started_again_as_often_as_they_may() {
    let workspace = Workspace::new();
    let limited = shell(
        "limited",
        "echo life",
        "respawn='true' respawn_delay='0.01' respawn_max_retries='2'",
    );
    let (code, lines) = Launch::start(&workspace, &launch(&[limited])).end();
    assert_eq!(code, 0);
    assert_eq!(lines.iter().filter(|line| *line == "[limited-1] life").count(), 3, "{lines:?}");

    let endless = shell("endless", "echo life; exit 1", "respawn='true'");
    let mut running = Launch::start(&workspace, &launch(&[endless]));
    for _ in 0..4 {
        running.wait_for("[endless-1] life");
    }
    running.signal(Signal::INT);
    assert_eq!(running.end().0, 0);
}

#[test]
fn environment_folder_and_parameters_arrive() {
    let workspace = Workspace::new();
    let script = "#!/bin/sh\npwd; echo \"$ONE,$GONE\"; while [ $# -gt 0 ]; do case $1 in --params-file) cat \"$2\";; esac; shift; done\n";
    let tool = workspace.file("lib/demo/talker", script);
    assert!(tool.exists());
    let text = "<launch><set_env name='ONE' value='1 2'/><unset_env name='GONE'/>
      <node pkg='demo' exec='talker' name='t' namespace='n' output='screen' cwd='/'><param name='p' value='x y'/></node></launch>";
    let (code, lines) = Launch::start_with(&workspace, text, |command| {
        command.env("GONE", "here");
    })
    .end();
    assert_eq!(code, 0);
    let said: Vec<&str> =
        lines.iter().filter_map(|line| line.strip_prefix("[talker-1] ")).collect();
    assert_eq!(said, ["/", "1 2,", "/n/t:", "  ros__parameters:", "    \"p\": \"x y\""]);
}

#[test]
fn parameter_files_of_a_killed_launch_are_removed_by_the_next() {
    let workspace = Workspace::new();
    workspace.script("lib/demo/talker", "echo pid $$; exec sleep 1000");
    let folder = workspace.file("tmp/keep", "").parent().unwrap().to_owned();
    let files = || std::fs::read_dir(&folder).unwrap().count() - 1;
    let text = "<launch><node pkg='demo' exec='talker' output='screen'>
      <param name='p' value='1'/></node></launch>";
    let start = || {
        let in_folder = |command: &mut std::process::Command| {
            command.env("TMPDIR", &folder);
        };
        let mut launch = Launch::start_with(&workspace, text, in_folder);
        let pid = launch.pid_after("[talker-1] pid");
        (launch, pid)
    };
    let (killed, orphan) = start();
    let (running, _) = start();
    assert_eq!(files(), 2, "those of both launches");
    killed.signal(Signal::KILL);
    drop(killed);
    let _ = rustix::process::kill_process(orphan, Signal::KILL);
    assert_eq!(files(), 2, "a killed launch cannot remove its own");
    let (next, _) = start();
    assert_eq!(files(), 2, "those of the running launches");
    for launch in [running, next] {
        launch.signal(Signal::INT);
        assert_eq!(launch.end().0, 0);
    }
    assert_eq!(files(), 0);
}
