//! Each kind of conclusion is reproduced and refuted, and the reason is given if it was not
//! measured.

use super::*;
use crate::record::{Missing, Received, Run, Status, System, Trend};

fn text(word: &str) -> Value {
    Value::Text(word.to_owned())
}

/// A record with a rate of events as its number.
fn record(system: &str, dimensions: &[(&str, f64)], number: f64) -> Record {
    let mut record = Record { scenario: "s".to_owned(), ..Record::default() };
    record.dimensions.insert("system".to_owned(), text(system));
    for (name, value) in dimensions {
        record.dimensions.insert((*name).to_owned(), Value::Number(*value));
    }
    record.values.insert("number".to_owned(), number);
    record
}

/// A record of a placement, at a payload of 1 MB.
fn placed(system: &str, placement: &str, number: f64) -> Record {
    let mut record = record(system, &[("size_bytes", 1_048_576.0)], number);
    record.dimensions.insert("placement".to_owned(), text(placement));
    record
}

fn check(system: &[&str]) -> Check {
    Check {
        title: "What it concludes".to_owned(),
        item: "Figure 7".to_owned(),
        system: system.iter().map(|name| (*name).to_owned()).collect(),
        metric: "number".to_owned(),
        ..Check::default()
    }
}

fn results(verdicts: Vec<Check>, records: Vec<Record>) -> Results {
    let scenario = Scenario {
        name: "s".to_owned(),
        document: "M16".to_owned(),
        verdicts,
        ..Scenario::default()
    };
    let run = Run { scenarios: vec![scenario], ..Run::default() };
    Results { run, records, notices: Vec::new(), parts: Vec::new() }
}

fn one(check: Check, records: Vec<Record>) -> Verdict {
    let mut found = verdicts(&results(vec![check], records));
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn ruling_of(check: &Check, records: &[Record]) -> Ruling {
    one(check.clone(), records.to_vec()).ruling
}

#[test]
fn a_threshold() {
    let records = [record("rcl", &[], 17.0)];
    let at_most = |most| Check { at_most: Some(most), ..check(&["rcl"]) };
    assert_eq!(ruling_of(&at_most(17.0), &records), Ruling::Reproduced);
    assert_eq!(ruling_of(&at_most(16.0), &records), Ruling::Refuted);
    let between = Check { at_least: Some(16.0), ..at_most(18.0) };
    assert_eq!(ruling_of(&between, &records), Ruling::Reproduced);
    let said = one(at_most(16.0), records.to_vec()).numbers();
    assert_eq!(said, "rcl 17 (concluded: <= 16)");
}

/// Figure 10 of M16: stock delivery within a process was slower than ROS 1 between processes.
#[test]
fn a_ratio_along_a_dimension_and_to_another_system() {
    let slower = Check {
        only: [("placement".to_owned(), vec![text("intra")])].into(),
        reference: [("system", "roscpp"), ("placement", "local")]
            .map(|(name, word)| (name.to_owned(), text(word)))
            .into(),
        at_least: Some(1.0),
        ..check(&["rclcpp"])
    };
    let measured = |intra| vec![placed("rclcpp", "intra", intra), placed("roscpp", "local", 900.0)];
    assert_eq!(ruling_of(&slower, &measured(1300.0)), Ruling::Reproduced);
    let found = one(slower.clone(), measured(36.0));
    assert_eq!(found.ruling, Ruling::Refuted);
    let said = found.numbers();
    assert!(said.contains("payload 1 MB: rclcpp 36 against"), "{said}");
    assert!(said.contains("roscpp 900: 0.04× (concluded: >= 1×)"), "{said}");
    // One repetition with a difference below 10 % decides nothing.
    assert_eq!(ruling_of(&slower, &measured(950.0)), Ruling::Undecided);
    // Several repetitions decide it.
    let mut rounds = Vec::new();
    for (repetition, intra) in (0..5).zip([950.0, 951.0, 949.0, 950.0, 952.0]) {
        rounds.extend(measured(intra).into_iter().map(|record| Record { repetition, ..record }));
    }
    assert_eq!(ruling_of(&slower, &rounds), Ruling::Reproduced);
    // The same system at another value of a dimension.
    let along = Check {
        only: [("rate_hz".to_owned(), vec![Value::Number(100.0)])].into(),
        reference: [("rate_hz".to_owned(), Value::Number(1.0))].into(),
        at_most: Some(0.8),
        ..check(&["rcl"])
    };
    let rates = |fast| {
        [record("rcl", &[("rate_hz", 1.0)], 290.0), record("rcl", &[("rate_hz", 100.0)], fast)]
    };
    assert_eq!(ruling_of(&along, &rates(179.0)), Ruling::Reproduced);
    assert_eq!(ruling_of(&along, &rates(289.0)), Ruling::Refuted);
}

/// The records of a system at several numbers of nodes.
fn nodes(numbers: &[(f64, f64)]) -> Vec<Record> {
    numbers.iter().map(|(nodes, number)| record("rcl", &[("nodes", *nodes)], *number)).collect()
}

#[test]
fn trends() {
    let trend = |trend| Check { trend: Some(trend), across: "nodes".to_owned(), ..check(&["rcl"]) };
    let falling = nodes(&[(1.0, 290.0), (50.0, 213.0), (100.0, 179.0)]);
    let level = nodes(&[(1.0, 290.0), (100.0, 280.0)]);
    let line = nodes(&[(3.0, 20.0), (9.0, 80.0), (15.0, 141.0), (23.0, 219.0)]);
    let squares = nodes(&[(1.0, 1.0), (5.0, 25.0), (10.0, 100.0), (20.0, 400.0)]);
    for (wanted, records, ruling) in [
        (Trend::Falls, &falling, Ruling::Reproduced),
        (Trend::Falls, &line, Ruling::Refuted),
        (Trend::Falls, &level, Ruling::Undecided),
        (Trend::Rises, &line, Ruling::Reproduced),
        (Trend::Rises, &falling, Ruling::Refuted),
        (Trend::Linear, &line, Ruling::Reproduced),
        (Trend::Linear, &squares, Ruling::Refuted),
        (Trend::Linear, &level, Ruling::NotMeasured),
        (Trend::Faster, &squares, Ruling::Reproduced),
        (Trend::Faster, &line, Ruling::Refuted),
        (Trend::Faster, &falling, Ruling::Refuted),
    ] {
        assert_eq!(ruling_of(&trend(wanted), records), ruling, "{wanted:?} {records:?}");
    }
    let said = one(trend(Trend::Falls), falling).numbers();
    assert!(said.contains("rcl 290 (1 node), 213 (50 nodes), 179 (100 nodes): 0.62×"), "{said}");
    let said = one(trend(Trend::Faster), squares).numbers();
    assert!(said.contains("(4 points)"), "{said}");
}

#[test]
fn hardly_varying_numbers() {
    let flat = |most| Check { flat: Some(most), across: "nodes".to_owned(), ..check(&["rcl"]) };
    let records = nodes(&[(1.0, 10.0), (2.0, 12.0)]);
    assert_eq!(ruling_of(&flat(1.25), &records), Ruling::Reproduced);
    assert_eq!(ruling_of(&flat(1.1), &records), Ruling::Refuted);
}

#[test]
fn powers_of_growth() {
    let power = |most| Check { power: Some(most), across: "nodes".to_owned(), ..check(&["rcl"]) };
    let squares = nodes(&[(25.0, 625.0), (50.0, 2500.0), (100.0, 10_000.0)]);
    assert_eq!(ruling_of(&power(2.1), &squares), Ruling::Reproduced);
    assert_eq!(ruling_of(&power(1.3), &squares), Ruling::Refuted);
    let said = one(power(1.3), squares).numbers();
    assert!(said.contains("power 2 (3 points)"), "{said}");
    let few = nodes(&[(25.0, 625.0), (50.0, 2500.0)]);
    assert_eq!(ruling_of(&power(1.3), &few), Ruling::NotMeasured);
    let nothing = nodes(&[(25.0, 0.0), (50.0, 0.0), (100.0, 0.0)]);
    assert_eq!(ruling_of(&power(1.3), &nothing), Ruling::NotMeasured, "zero has no power");
}

#[test]
fn orders() {
    let systems = |names: &[&str]| Check {
        across: "system".to_owned(),
        order: names.iter().map(|name| text(name)).collect(),
        ..check(&[])
    };
    let records = [
        record("fastdds", &[], 200.0),
        record("cyclonedds", &[], 100.0),
        record("other", &[], 1.0),
    ];
    assert_eq!(ruling_of(&systems(&["cyclonedds", "fastdds"]), &records), Ruling::Reproduced);
    let contrary = systems(&["fastdds", "cyclonedds"]);
    assert_eq!(ruling_of(&contrary, &records), Ruling::Refuted);
    // A system that is not installed is named, and the others are compared.
    let mut made = results(vec![systems(&["cyclonedds", "fastdds", "connext"])], records.to_vec());
    let missing = Some(Missing { reason: "it needs a licence".to_owned(), install: None });
    made.run.systems.push(System { name: "connext".to_owned(), missing, ..System::default() });
    let found = &verdicts(&made)[0];
    assert_eq!(found.ruling, Ruling::Reproduced);
    assert!(found.reason.contains("connext: it needs a licence"), "{found:?}");
    // Values of another dimension.
    let executors = Check {
        across: "nodes".to_owned(),
        order: [2.0, 1.0].map(Value::Number).into(),
        ..check(&["rcl"])
    };
    assert_eq!(ruling_of(&executors, &nodes(&[(1.0, 9.0), (2.0, 5.0)])), Ruling::Reproduced);
    assert_eq!(ruling_of(&executors, &nodes(&[(1.0, 5.0), (2.0, 9.0)])), Ruling::Refuted);
}

#[test]
fn what_was_not_measured_says_why() {
    let wanted = Check { at_most: Some(1.0), ..check(&["rclcpp", "rcl"]) };
    let mut made = results(vec![wanted.clone()], Vec::new());
    let missing = Some(Missing { reason: "it needs FEROS_STOCK".to_owned(), install: None });
    made.run.systems.push(System { name: "rclcpp".to_owned(), missing, ..System::default() });
    let found = &verdicts(&made)[0];
    assert_eq!(found.ruling, Ruling::NotMeasured);
    assert_eq!(found.numbers(), "rclcpp: it needs FEROS_STOCK; rcl: this run has no such cell");
    // The next system decides, and the reason for the first is still there.
    made.records = vec![record("rcl", &[], 0.5)];
    let found = &verdicts(&made)[0];
    assert_eq!(found.ruling, Ruling::Reproduced);
    assert_eq!(found.reason, "rclcpp: it needs FEROS_STOCK");
    // Systems beside it never decide.
    let beside = Check { also: vec!["feros".to_owned()], ..wanted.clone() };
    let found = one(beside, vec![record("feros", &[], 0.5)]);
    assert_eq!(found.ruling, Ruling::NotMeasured);
    assert_eq!(found.others(), "feros 0.5");
    // A cell that is impossible, failed, or took another transport.
    for (status, reason) in [
        (Status::Skipped("no such placement".to_owned()), "no such placement"),
        (Status::Failed("it fell".to_owned()), "failed: it fell"),
    ] {
        let records = vec![Record { status, ..record("rcl", &[], 0.5) }];
        let found = one(Check { system: vec!["rcl".to_owned()], ..wanted.clone() }, records);
        assert_eq!((found.ruling, found.reason), (Ruling::NotMeasured, format!("rcl: {reason}")));
    }
}

#[test]
fn cells_of_a_conclusion_that_are_missing_are_named() {
    let sizes = [256.0, 4096.0].map(Value::Number).to_vec();
    let wanted = Check {
        only: [("size_bytes".to_owned(), sizes)].into(),
        at_most: Some(1.0),
        ..check(&["rcl"])
    };
    let found = one(wanted, vec![record("rcl", &[("size_bytes", 256.0)], 0.5)]);
    assert_eq!(found.ruling, Ruling::Reproduced);
    assert_eq!(found.reason, "payload 4 KB");
    assert!(found.numbers().ends_with(". Not measured: payload 4 KB"), "{}", found.numbers());
}

#[test]
fn doubtful_cells_are_named() {
    let mut made = record("rcl", &[("rate_hz", 30.0)], 1.0);
    made.sent = 100;
    made.subscriptions = vec![Received { received: 60, lost: 40, late: 0, latency: None }];
    made.values.extend([("publish_rate_hz".to_owned(), 2.8), ("realtime".to_owned(), 0.0)]);
    made.values.insert("cpu_percent".to_owned(), 5.0);
    let wanted =
        |metric: &str| Check { metric: metric.to_owned(), at_most: Some(100.0), ..check(&["rcl"]) };
    let said = one(wanted("cpu_percent"), vec![made.clone()]).doubts.join("\n");
    for words in [
        "rcl lost up to 40",
        "rcl published at 2.8 Hz instead of 30 Hz",
        "rcl did not get SCHED_FIFO, which was asked for",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    // The loss is the number itself.
    let said = one(wanted("lost_percent"), vec![made]).doubts.join("\n");
    assert!(!said.contains("lost up to"), "{said}");
}

#[test]
fn conditions_stand_beside_the_documents_own() {
    let wanted = Check { at_most: Some(1.0), ..check(&["rcl"]) };
    let dimensions = [("rate_hz", 100.0), ("size_bytes", 256.0)];
    let records = vec![Record { sent: 60, ..record("rcl", &dimensions, 0.5) }];
    let mut made = results(vec![wanted], records);
    let stated = |name: &str, document: &str| Condition {
        name: name.to_owned(),
        document: document.to_owned(),
        here: "of the whole scenario".to_owned(),
    };
    made.run.scenarios[0].conditions =
        vec![stated("rate", "10 Hz"), stated("real time", "SCHED_FIFO")];
    let found = verdicts(&made).remove(0);
    let of = |name: &str| {
        let found = found.conditions.iter().find(|condition| condition.name == name).unwrap();
        (found.document.as_str(), found.here.as_str())
    };
    assert_eq!(of("rate"), ("10 Hz", "100 Hz"));
    assert_eq!(of("real time"), ("SCHED_FIFO", "SCHED_OTHER"));
    assert_eq!(of("count"), ("", "60 messages, one repetition"));
    assert_eq!(of("message"), ("", "256 B"));
}

#[test]
fn figures_are_in_the_order_of_the_document() {
    let of = |item: &str| Check { item: item.to_owned(), flat: Some(1.0), ..check(&["rcl"]) };
    let items = ["Table 4", "Figure 10", "Figure 7", "Part 4"];
    let found = verdicts(&results(items.map(of).to_vec(), Vec::new()));
    let items: Vec<&str> = found.iter().map(|verdict| verdict.item.as_str()).collect();
    assert_eq!(items, ["Figure 7", "Figure 10", "Part 4", "Table 4"]);
}
