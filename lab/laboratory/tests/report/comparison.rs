//! Tests of comparing two runs.

use feros_lab::report::{CompareError, Results, compare_runs};

use crate::folder;
use crate::small::Small;
use crate::synthetic::Synthetic;

fn results(made: &Synthetic, name: &str) -> Results {
    let folder = folder(name);
    made.write(&folder);
    Results::read(&folder).unwrap()
}

#[test]
fn a_run_and_itself_differ_nowhere() {
    let run = results(&Synthetic::new(5, 3), "compare-same");
    let found = compare_runs(&run, &run).unwrap();
    assert_eq!(found.warnings, Vec::<String>::new());
    assert_eq!(found.refused, Vec::<String>::new());
    let (better, worse, same) = found.counts();
    let differing: Vec<_> = found.cells.iter().filter(|cell| cell.better.is_some()).collect();
    assert_eq!((better, worse), (0, 0), "{differing:?}");
    assert!(same > 200, "{same}");
}

#[test]
fn slower_systems_are_found_and_noise_is_not() {
    let before = Synthetic::new(5, 3);
    let mut after = Synthetic::new(6, 3);
    for record in &mut after.records {
        let slower = record.scenario == "chain"
            && format!("{:?}", record.dimensions["system"]).contains("rcl");
        for latency in record
            .subscriptions
            .iter_mut()
            .filter_map(|one| one.latency.as_mut())
            .filter(|_| slower)
        {
            latency.histogram = None;
            for number in [
                &mut latency.p50,
                &mut latency.p99,
                &mut latency.median_interval.0,
                &mut latency.median_interval.1,
            ] {
                *number *= 2.0;
            }
        }
    }
    after.run.environment.insert("kernel".to_owned(), "Linux 7.0".to_owned());
    after.run.systems[0].version = Some("Feros 2".to_owned());
    after.run.ended_unix_seconds = None;
    let found =
        compare_runs(&results(&before, "compare-before"), &results(&after, "compare-after"))
            .unwrap();
    let slower =
        |cell: &&feros_lab::report::ComparedCell| cell.scenario == "chain" && cell.system == "rcl";
    let medians: Vec<_> =
        found.cells.iter().filter(slower).filter(|cell| cell.metric == "median latency").collect();
    assert_eq!(medians.len(), 5);
    assert!(
        medians
            .iter()
            .all(|cell| cell.verdict() == "worse" && (1.6..2.5).contains(&cell.comparison.ratio))
    );
    // Of the other cells, not many more than 5 % differ, which is the share of errors that a 95 %
    // interval allows.
    let others: Vec<_> = found
        .cells
        .iter()
        .filter(|cell| !slower(cell) && cell.metric == "median latency")
        .collect();
    let wrong = others.iter().filter(|cell| cell.better.is_some()).count();
    assert!(wrong * 8 < others.len(), "{wrong} of {}", others.len());
    let said = found.warnings.join("\n");
    assert!(said.contains("the machines differ") && said.contains("Linux 7.0"), "{said}");
    assert!(
        said.contains("feros has another version") && said.contains("the second run has not ended"),
        "{said}"
    );
    let html = found.html();
    assert!(
        html.contains("Two runs side by side")
            && html.contains("no difference")
            && html.contains("Linux 7.0")
    );
}

#[test]
fn other_experiments_are_not_compared() {
    let before = Synthetic::new(5, 1);
    let mut after = Synthetic::new(5, 1);
    let is_left = |name: &str| !["memory", "loop", "rest"].contains(&name);
    after.run.scenarios.retain(|scenario| is_left(&scenario.name));
    after.records.retain(|record| is_left(&record.scenario));
    after.run.scenarios[0].title = "Something else".to_owned();
    for record in &mut after.records {
        record.subscriptions.truncate(4);
        if record.scenario == "degraded" {
            record.subscriptions[0].received /= 2;
        }
        record
            .values
            .insert("realtime".to_owned(), if record.scenario == "chain" { 1.0 } else { 0.0 });
    }
    let before = results(&before, "compare-other-before");
    let found = compare_runs(&before, &results(&after, "compare-other-after")).unwrap();
    let said = found.refused.join("\n");
    for needed in [
        "scenario memory is in the first run only",
        "scenario size is not the same experiment",
        "5 and 4 subscriptions",
        "real-time",
    ] {
        assert!(said.contains(needed), "{needed}: {said}");
    }
    assert!(found.cells.iter().all(|cell| cell.scenario == "degraded"), "{said}");

    after.run.scenarios.clear();
    after.records.clear();
    let error = compare_runs(&before, &results(&after, "compare-nothing")).unwrap_err();
    let CompareError::NothingInCommon(reasons) = &error;
    assert!(reasons.len() > 3 && error.to_string().contains("cannot be compared"), "{error}");
}

#[test]
fn another_condition_is_another_experiment() {
    let made = || {
        let mut made = Small::new(&["feros"], None);
        made.cell("feros", "local", (256, 100), 0, 100.0);
        made
    };
    let before = made().results();
    for (condition, said) in [
        ("realtime", "real-time scheduling"),
        ("memory_locked", "locked memory"),
        ("apart", "talkers and listeners on processors of their own"),
    ] {
        let mut after = made();
        after.records[0].values.insert(condition.to_owned(), 1.0);
        let error = compare_runs(&before, &after.results()).unwrap_err();
        assert!(error.to_string().contains(&format!("one with {said}, one without")), "{error}");
    }
}
