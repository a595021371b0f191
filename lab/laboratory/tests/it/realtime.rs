//! The conditions `realtime` and `apart`: the requests to programs, the observations of the
//! laboratory, and its reports if the machine refuses them.

use feros_lab::machine::Machine;

use crate::fixture::Fixture;

const EXPERIMENT: &str = "workload = \"latency\"\nsystems = [\"mock\"]\nplacements = [\"local\"]\nrates_hz = [200]\ncount = 400\n\
                          timeout_seconds = 120\nsettle_seconds = 0.1\n";

#[test]
fn programs_lock_their_memory_where_the_machine_allows_it() {
    let mut fixture = Fixture::new();
    fixture.machine = Machine { no_remote: Some("not in this test".into()), ..Machine::explore() };
    let plan = fixture.plan("realtime", &format!("{EXPERIMENT}realtime = true\n"));
    let seen = fixture.run(&plan);
    assert_eq!(seen.result.unwrap().complete, 1, "{:?}", seen.notes);
    let record = fixture.record("mock");
    let is_allowed = fixture.machine.no_memory_lock.is_none();
    assert_eq!(
        record.values["memory_locked"],
        f64::from(u8::from(is_allowed)),
        "{:?} {:?}",
        record.values,
        seen.notes
    );
    let locked = |bytes: &f64| *bytes > 1e6;
    for process in &record.processes {
        assert_eq!(
            process.values.get("locked_bytes").is_some_and(locked),
            is_allowed,
            "{process:?}"
        );
    }
    let said = fixture.machine.environment()["memory lock"].clone();
    assert_eq!(said.contains("is allowed"), is_allowed, "{said}");
}

#[test]
fn a_refusal_is_said_and_the_record_knows() {
    let mut fixture = Fixture::new();
    fixture.machine.no_realtime = Some("no SCHED_FIFO in this test".into());
    fixture.machine.no_memory_lock = Some("no mlockall in this test".into());
    let plan = fixture.plan("refused", &format!("{EXPERIMENT}realtime = true\n"));
    let seen = fixture.run(&plan);
    assert_eq!(seen.result.unwrap().complete, 1, "{:?}", seen.notes);
    for reason in
        ["without real-time scheduling: no SCHED_FIFO", "without locked memory: no mlockall"]
    {
        assert!(seen.notes.iter().any(|note| note.contains(reason)), "{reason}: {:?}", seen.notes);
    }
    let values = fixture.record("mock").values;
    assert_eq!((values["realtime"], values["memory_locked"]), (0.0, 0.0), "{values:?}");
    assert!(!values.contains_key("locked_bytes"), "{values:?}");
}

#[test]
fn without_the_condition_nothing_is_locked() {
    let fixture = Fixture::new();
    let seen = fixture.run(&fixture.plan("ordinary", EXPERIMENT));
    assert_eq!(seen.result.unwrap().complete, 1, "{:?}", seen.notes);
    let values = fixture.record("mock").values;
    assert!(
        !values.contains_key("memory_locked") && !values.contains_key("locked_bytes"),
        "{values:?}"
    );
}

/// The processors that a program of the mock may use, one bit for each.
fn processors(values: &std::collections::BTreeMap<String, f64>, role: &str) -> u64 {
    values[&format!("{role}_processors")] as u64
}

#[test]
fn talkers_and_listeners_have_processors_of_their_own_where_that_is_asked_for() {
    let fixture = Fixture::new();
    let seen = fixture.run(&fixture.plan("apart", &format!("{EXPERIMENT}apart = true\n")));
    assert_eq!(seen.result.unwrap().complete, 1, "{:?}", seen.notes);
    let values = fixture.record("mock").values;
    let has_several = std::thread::available_parallelism().unwrap().get() > 1;
    assert_eq!(values["apart"], f64::from(u8::from(has_several)), "{values:?}");
    let (talker, listener) = (processors(&values, "talker"), processors(&values, "listener"));
    assert_eq!(talker & listener == 0, has_several, "{talker:b} {listener:b}");

    let fixture = Fixture::new();
    let seen = fixture.run(&fixture.plan("anywhere", EXPERIMENT));
    assert_eq!(seen.result.unwrap().complete, 1, "{:?}", seen.notes);
    let values = fixture.record("mock").values;
    assert!(!values.contains_key("apart"), "{values:?}");
    assert_eq!(processors(&values, "talker"), processors(&values, "listener"));
}
