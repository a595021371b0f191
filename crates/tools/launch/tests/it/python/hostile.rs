//! A host that breaks the protocol, ends, or works for ever; each ends with a message, and no
//! process stays.

use feros_launch::{LaunchError, PythonHost, PythonOptions};
use feros_process::EndSignals;

use super::Scripts;

/// A log action whose text is the object 1.
const SAY: &str = "entities = [{'do': 'log', 'id': 2, 'at': ['f.py', 4, 2], 'level': 'INFO', \
                   'message': {'py': 1}}]\n";

#[test]
fn lines_that_break_the_protocol() {
    let Some(scripts) = Scripts::new() else { return };
    for (code, expected) in [
        ("write(b'nonsense\\n')", "Python's answer cannot be read: expected"),
        ("write(b'{\"answer\": 1}\\n')", "is neither a question nor a reply"),
        ("write(b'{\"done\": {\"text\": 5}}\\n')", "Python's answer has no text"),
        ("write(b'{\"done\": ' + b'[' * 5000 + b'\\n')", "recursion limit exceeded"),
        ("write(b'x' * (17 << 20))", "a line of more than 16777216 bytes"),
        ("write(b'{\"ask\": \"packages\"}\\n{\"ask\": \"packages\"}\\n')", "it spoke out of turn"),
        ("write(b'{\"done\": {\"text\": \"' + b'x' * (2 << 20) + b'\"}}\\n')", "more than 1048576"),
        ("__import__('os')._exit(3)", "Python ended with exit code 3, before it had answered"),
        ("__import__('os').kill(__import__('os').getpid(), 9)", "Python ended with SIGKILL"),
    ] {
        let text = format!("objects[1] = lambda request: {code}\n{SAY}");
        let outcome = scripts.outcome("h.launch.py", &text, &[]);
        assert!(
            outcome.starts_with("f.py:4:2: ") && outcome.contains(expected),
            "{code}: {outcome}"
        );
        assert_eq!(outcome.lines().count(), 1, "{outcome}");
    }
}

#[test]
fn what_follows_from_the_end_of_python_is_not_reported() {
    let Some(scripts) = Scripts::new() else { return };
    scripts.workspace.file("dies.launch.py", "__import__('os')._exit(3)\n");
    scripts.workspace.file("fine.launch.py", "entities = []\n");
    let outer = "<launch>\n<include file='dies.launch.py'/>\n<include file='fine.launch.py'/>\n\
                 <node pkg='dmo' exec='talker'/></launch>";
    let outcome = scripts.outcome("outer.launch.xml", outer, &[]);
    let lines: Vec<&str> = outcome.lines().collect();
    assert_eq!(lines.len(), 2, "{outcome}");
    assert!(lines[0].starts_with("W/dies.launch.py:1:1: Python ended with exit code 3"));
    assert!(lines[1].starts_with("W/outer.launch.xml:4:"));
}

#[test]
fn a_function_that_returns_itself_ends() {
    let Some(scripts) = Scripts::new() else { return };
    let itself = "me = {'do': 'python', 'id': 1, 'at': ['f.py', 4, 2], 'name': 'me'}\n\
                  objects[1] = lambda request: {'entities': [me]}\nentities = [me]\n";
    let outcome = scripts.outcome("me.launch.py", itself, &[]);
    assert!(outcome.contains("nested deeper than 100"), "{outcome}");
    let text = format!(
        "objects[1] = lambda request: {{'text': ask({{'ask': 'text', 'template': {{'py': 1}}}})}}\n{SAY}"
    );
    let outcome = scripts.outcome("deep.launch.py", &text, &[]);
    assert!(outcome.contains("calls of Python are nested deeper than 32"), "{outcome}");
}

#[test]
fn hosts_that_do_not_start() {
    let Some(mut scripts) = Scripts::new() else { return };
    let python = |code: &str| vec!["python3".to_owned(), "-c".to_owned(), code.to_owned()];
    for (command, expected) in [
        (vec![], "Python cannot be started as ``: the command is empty"),
        (vec!["/nowhere/python3".to_owned()], "Python cannot be started as `/nowhere/python3`: No"),
        (python("pass"), "Python ended with exit code 0"),
        (
            python(
                "import os; os.write(0, b'{\"absent\": \"feros\", \"python\": \"/p\\\\u001b\"}\\n')",
            ),
            "and /p\\u{1b} has no package feros: install",
        ),
        (
            python("import os; os.write(0, b'{\"protocol\": 2}\\n'); os.read(0, 9999)"),
            "speaks version 2, this launcher version 1",
        ),
        (python("import os; os.write(0, b'{}\\n')"), "its first line has no version"),
    ] {
        scripts.command = command;
        let outcome = scripts.outcome("a.launch.py", "entities = []", &[]);
        assert!(outcome.starts_with("W/a.launch.py:1:1: "), "{outcome}");
        assert!(outcome.contains(expected), "{outcome}");
    }
}

/// The process with this id, unless it has ended.
fn runs(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

/// Signals are for the whole process, so this is the only test that sends any.
#[test]
fn a_signal_ends_busy_python_and_what_it_has_started() {
    let Some(scripts) = Scripts::new() else { return };
    let signals = EndSignals::receive().unwrap();
    let told = scripts.workspace.path().join("told");
    let text = format!(
        "import os, signal, subprocess\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
         sleep = subprocess.Popen(['sleep', '600'])\n\
         open({told:?} + '.new', 'w').write(f'{{os.getpid()}} {{sleep.pid}}')\n\
         os.rename({told:?} + '.new', {told:?})\nwhile True: pass\n"
    );
    let file = scripts.workspace.file("busy.launch.py", &text);
    let planner = scripts.planner().ended_by(signals);
    let planning = std::thread::Builder::new().spawn(move || planner.plan(&file, &[])).unwrap();
    feros_test_support::until("the start", || told.exists());
    signal_hook::low_level::raise(signal_hook::consts::SIGTERM).unwrap();
    let error = planning.join().unwrap().unwrap_err();
    assert!(matches!(error, LaunchError::Signal(15)), "{error}");
    let processes = std::fs::read_to_string(&told).unwrap();
    for process in processes.split(' ') {
        feros_test_support::until("its end", || !runs(process));
    }
}

#[test]
fn python_ends_with_the_plan() {
    let Some(scripts) = Scripts::new() else { return };
    let told = scripts.workspace.path().join("pid");
    let text = format!("import os\nopen({told:?}, 'w').write(str(os.getpid()))\nentities = []\n");
    let file = scripts.workspace.file("lives.launch.py", &text);
    let options = PythonOptions {
        host: PythonHost::Command(scripts.command.clone()),
        arguments: Vec::new(),
        prints_to_standard_error: false,
        notice: Some(|text| panic!("it is not slow: {text}")),
    };
    let plan = scripts.workspace.planner().python(options).plan(&file, &[]).unwrap();
    let process = std::fs::read_to_string(&told).unwrap();
    assert!(runs(&process), "files that it deletes at its end are needed");
    drop(plan);
    assert!(!runs(&process));
}
