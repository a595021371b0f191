//! Mistakes in files that Python describes: all are told, and code that has seen a placeholder does
//! not add to them.

use super::Scripts;

/// The mistakes of a launch file with these entities.
fn told(scripts: &Scripts, text: &str) -> Vec<String> {
    let head = "at = [request['path'], 1, 1]\n\
                def share(name):\n    return {'s': 'find-pkg-share', 'a': [name]}\n\
                def node(id, package, **more):\n    \
                return {'do': 'node', 'id': id, 'at': at, 'package': package, 'executable': 'a', **more}\n\
                def log(id, message):\n    \
                return {'do': 'log', 'id': id, 'at': at, 'level': 'INFO', 'message': message}\n\
                default = {'do': 'declare', 'id': 90, 'at': at, 'name': 'map', 'default': [share('one'), '/m']}\n";
    let outcome = scripts.outcome("m.launch.py", &format!("{head}{text}"), &[]);
    outcome.lines().map(str::to_owned).collect()
}

#[track_caller]
fn assert_told(scripts: &Scripts, text: &str, expected: &[&str]) {
    let told = told(scripts, text);
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.contains(expected), "{expected:?} is not in {told}");
    }
}

#[test]
fn settings_and_handlers_hide_nothing() {
    let Some(scripts) = Scripts::new() else { return };
    let text = "
entities = [
    default,
    {'do': 'append_environment', 'id': 1, 'at': at, 'name': 'A', 'value': [share('two')]},
    {'do': 'register', 'id': 2, 'at': at, 'handler': {'id': 3, 'at': at, 'on': 'shutdown',
        'reaction': {'entities': [
            node(4, 'three'), node(5, 'four', parameters=[{'file': [share('seven')]}]),
            log(7, [{'s': 'var', 'a': ['later']}]), node(8, 'eight', parameters=[{'file': [{'s': 'var', 'a': ['map']}]}]),
            {**log(9, 'a'), 'if': {'truth': [{'s': 'var', 'a': ['map']}]}}]}}},
    node(6, 'five', parameters=[{'file': [share('six')]}]),
]
";
    let expected = ["`one`", "`two`", "`six`", "`five`", "`three`", "`seven`", "`four`", "`eight`"];
    assert_told(&scripts, text, &expected);
}

#[test]
fn a_failure_after_a_placeholder_is_not_told() {
    let Some(scripts) = Scripts::new() else { return };
    let text = "
def fails(request):
    open(ask({'ask': 'text', 'template': [{'s': 'var', 'a': ['map']}]}))
def checks(request):
    try:
        open(ask({'ask': 'text', 'template': [{'s': 'var', 'a': ['map']}]}))
    except OSError:
        raise RuntimeError('no map')
def asks(request):
    ask({'ask': 'condition', 'condition': {'truth': [{'s': 'var', 'a': ['map']}]}})
def own(request):
    raise RuntimeError('own mistake')
objects.update({50: fails, 51: checks, 52: asks, 53: own, 54: lambda request: {
    'holds': ask({'ask': 'text', 'template': [{'s': 'var', 'a': ['map']}]}) == 'a'}})
def call(id):
    return {'do': 'python', 'id': id, 'at': at, 'name': 'f'}
entities = [default, call(50), call(51), call(52), call(53), log(7, [{'py': 50}]),
            {**node(8, 'three'), 'if': {'py': 54}}, node(9, 'two')]
";
    assert_told(&scripts, text, &["`one`", "own mistake", "`two`"]);
}

#[test]
fn python_code_that_handles_a_missing_package_has_no_mistake() {
    let Some(scripts) = Scripts::new() else { return };
    let text = "
def inner(request):
    return {'text': ask({'ask': 'share', 'package': 'absent'})}
def outer(request):
    for template in ([share('absent')], [{'py': 60}]):
        try:
            ask({'ask': 'text', 'template': template})
        except Exception:
            continue
        raise AssertionError
    return {'entities': [log(1, 'handled')]}
objects.update({60: inner, 61: outer})
entities = [{'do': 'python', 'id': 61, 'at': at, 'name': 'outer'},
            {**log(2, 'absent'), 'if': {'configuration': 'absent', 'expected': None}}]
";
    let told = told(&scripts, text);
    for expected in ["say: handled", "say: absent"] {
        assert!(told.iter().any(|line| line == expected), "{told:#?}");
    }
}

#[test]
fn the_further_missing_packages_of_a_file_are_mistakes_of_their_own() {
    let Some(scripts) = Scripts::new() else { return };
    scripts.workspace.file("host.py", &include_str!("host.py").replace(
        "\"calls\": calls}}",
        "\"calls\": calls, \"others\": [{\"at\": [\"f.py\", 7, 2], \"error\": \"no package b\"}]}}",
    ));
    let told = told(&scripts, "raise LookupError('no package a')");
    assert!(told[0].ends_with("LookupError: no package a"), "{told:#?}");
    assert_eq!(told[1..], ["f.py:7:2: no package b"], "{told:#?}");
}

#[test]
fn a_program_of_a_package_is_looked_up() {
    let Some(scripts) = Scripts::new() else { return };
    let text = "
found = ask({'ask': 'program', 'package': 'demo', 'executable': 'talker'})
assert found[0].endswith('/lib/demo/talker'), found
ask({'ask': 'program', 'package': 'demo', 'executable': 'talkr'})
";
    let told = told(&scripts, text);
    assert!(told[0].contains("Refused: package: there is no executable `talkr`"), "{told:#?}");
}
