//! The verbs for quick answers: each measures its scenario of the repository, here with the mock,
//! and prints a row for each cell.

use serde_json::Value;

use crate::fixture::{Ended, Fixture, wait_until};

/// `feros lab` with the scenarios and the systems of the repository.
fn line(verb: &str) -> String {
    let lab = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../lab");
    format!("{verb} --scenarios {lab}/scenarios --peers {lab}/peers")
}

fn run(verb: &str) -> Ended {
    Fixture::new().run(&line(verb))
}

fn objects(ended: &Ended) -> Vec<Value> {
    let object =
        |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
    ended.success().lines().map(object).collect()
}

fn number(object: &Value, key: &str) -> f64 {
    object[key].as_f64().unwrap_or_else(|| panic!("no number {key} in {object}"))
}

#[test]
fn latency_prints_one_object_and_loses_nothing() {
    let ended = run("latency --json systems=mock count=50");
    let rows = objects(&ended);
    let [object] = rows.as_slice() else { panic!("{rows:?}") };
    let wanted = [("size_bytes", 256.0), ("rate_hz", 100.0), ("sent", 50.0), ("lost_percent", 0.0)];
    for (key, value) in wanted {
        assert_eq!(number(object, key), value, "{key} in {object}");
    }
    let quantiles = ["latency", "latency_p95", "latency_p99", "latency_max"];
    let quantiles = quantiles.map(|key| number(object, key));
    assert!(quantiles[0] > 0.0 && quantiles.is_sorted(), "{object}");
    assert!(number(object, "threads") >= 2.0 && number(object, "pss_bytes") > 1e5, "{object}");
    assert!(object["values"]["duplicates"].is_null(), "{object}");
}

#[test]
fn several_sizes_are_a_row_each() {
    let ended = run("latency systems=mock sizes=16,4K count=10");
    let table = ended.success();
    assert!(table.contains("16 B") && table.contains("4 KB"), "{table}");
}

#[test]
fn throughput_keeps_all_when_told_to() {
    let ended =
        run("throughput --json systems=mock sizes=4K count=2000 qos=keep_all placements=composed");
    let rows = objects(&ended);
    let [object] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((number(object, "sent"), number(object, "lost_percent")), (2000.0, 0.0), "{object}");
    let rate = number(object, "receive_rate_hz");
    assert!(rate > 0.0, "{object}");
    let goodput = number(object, "goodput_bytes_per_second");
    assert!((goodput / 4096.0 / rate - 1.0).abs() < 0.01, "{object}");
}

#[test]
fn idle_node_is_seen_thread_by_thread() {
    let rows = objects(&run("idle --json systems=mock seconds=1 settle_seconds=0"));
    let [object] = rows.as_slice() else { panic!("{rows:?}") };
    let threads = object["by_thread"].as_array().unwrap();
    assert_eq!(threads.len() as f64, number(object, "threads"), "{object}");
    assert!(threads.iter().any(|thread| thread["name"] == "python3"), "{object}");
}

#[test]
fn memory_is_a_row_for_each_number_and_placement() {
    let ended = run("memory --json systems=mock,mock_absent nodes=1,3 settle_seconds=0.5");
    let rows = objects(&ended);
    let cells: Vec<_> =
        rows.iter().map(|row| (row["placement"].as_str().unwrap(), number(row, "nodes"))).collect();
    assert_eq!(cells, [("local", 1.0), ("local", 3.0), ("composed", 1.0), ("composed", 3.0)]);
    let threads: Vec<_> = rows.iter().map(|row| number(row, "threads")).collect();
    assert_eq!((threads[1], threads[3]), (3.0 * threads[0], threads[2]), "{rows:?}");
    assert!(rows.iter().all(|row| number(row, "pss_bytes") > 1e5), "{rows:?}");
    assert!(ended.err.contains("mock_absent: not measured"), "{}", ended.err);
}

#[test]
fn executor_has_a_rate_for_each_number_of_idle_entities() {
    let rows = objects(&run("executor --json systems=mock idle=0,50 repetitions=1"));
    assert_eq!(rows.iter().map(|row| number(row, "idle")).collect::<Vec<_>>(), [0.0, 50.0]);
    let rates: Vec<f64> = rows.iter().map(|row| number(row, "events_per_second").round()).collect();
    assert_eq!(rates, [1_000_000.0, 166_667.0], "{rows:?}");
}

#[test]
fn a_chain_loses_nothing_wherever_its_nodes_are() {
    let ended = run("chain --json systems=mock nodes=2,3,5 sizes=100,64K count=8 warm_up=2");
    let (fitted, rows): (Vec<_>, Vec<_>) =
        objects(&ended).into_iter().partition(|object| object["line"].is_object());
    assert_eq!((rows.len(), fitted.len()), (3 * 2 * 3, 3 * 2));
    for row in rows {
        assert_eq!(number(&row, "lost_percent"), 0.0, "{row}");
        assert!(number(&row, "latency") > 0.0, "{row}");
    }
}

#[test]
fn a_chain_of_more_processes_than_a_domain_has_room_for_is_refused() {
    let ended = run("chain systems=mock nodes=200 placements=local");
    assert!(ended.failure(2).contains("placements composed and intra"), "{ended:?}");
}

#[test]
fn cpu_has_a_row_for_each_placement_and_container() {
    let ended = run("cpu --json systems=mock sizes=1K subscriptions=2 count=8 rates_hz=10");
    let rows = objects(&ended);
    let words: Vec<_> = rows
        .iter()
        .map(|row| match row["executor"].as_str().unwrap() {
            "default" => row["placement"].as_str().unwrap(),
            executor => executor,
        })
        .collect();
    assert_eq!(words, ["local", "composed", "intra", "single", "isolated", "multi"]);
    for row in &rows {
        assert!(number(row, "lost_percent") == 0.0 && number(row, "latency") > 0.0, "{row}");
        assert!(number(row, "cpu_percent") > 0.0, "{row}");
    }
}

#[test]
fn settings_that_are_not_known_are_refused() {
    for (setting, said) in [
        ("sises=256", "did you mean `sizes`"),
        ("sizes=4Q", "4Q"),
        ("systems=mokc", "no system `mokc`"),
        ("qos=best", "no [qos.best]"),
        ("count=many", "many"),
    ] {
        let ended = run(&format!("latency {setting}"));
        assert!(ended.failure(2).contains(said), "{setting}: {ended:?}");
    }
}

#[test]
fn a_system_that_fails_is_named_with_its_reason() {
    let ended = run("latency systems=mock:crash count=20");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.out.contains("failed: "), "{ended:?}");
}

#[test]
fn interrupting_ends_all_processes() {
    let hangup = &["HUP"][..];
    for signals in [&["INT"][..], &["INT", "TERM"], hangup] {
        if signals == hangup && feros_process::ignores_hangup() {
            continue; // the tests run under `nohup`
        }
        let fixture = Fixture::new();
        let running = fixture.start(&line("latency systems=mock count=1000000 --out endless"));
        fixture.wait_for_cells("endless", 0);
        signals.iter().for_each(|signal| running.signal(signal));
        let ended = running.finish();
        assert_eq!(ended.code, Some(130), "{signals:?}: {ended:?}");
        assert!(ended.err.contains("the same command continues"), "{signals:?}: {ended:?}");
        wait_until("the end of its programs", || fixture.processes().is_empty());
    }
}
