//! Floors are systems like any other: they are measured in the cells of a run, with their sizes,
//! rates and links.

use feros_lab::machine::Machine;
use feros_lab::record::{Record, Status, Value};

use crate::fixture::Fixture;

fn text(record: &Record, name: &str) -> String {
    match &record.dimensions[name] {
        Value::Text(word) => word.clone(),
        Value::Number(number) => number.to_string(),
    }
}

fn median(record: &Record) -> f64 {
    record.subscriptions[0].latency.as_ref().unwrap().p50
}

#[test]
fn each_floor_hands_over_what_it_is_given_where_it_fits() {
    let fixture = Fixture::new();
    let plan = fixture.plan(
        "floors",
        "workload = \"latency\"\nplacements = [\"local\", \"composed\", \"intra\"]\n\
         systems = [\"floors:futex\", \"floors:copy\", \"floors:udp\", \"floors:thread\", \
         \"floors:call\"]\nsizes = [256, \"1M\"]\nfill = [\"none\", \"each\"]\n\
         qos = [\"careless\"]\nrates_hz = [100]\ncount = 30\n[qos.careless]\n\
         reliability = \"best_effort\"\n",
    );
    let seen = fixture.run(&plan);
    // Three local floors and two floors within a process, each with two sizes, with filled and with
    // unfilled payloads.
    let summary = seen.result.unwrap();
    assert_eq!((summary.complete, summary.skipped), ((3 + 2) * 2 * 2, 0), "{:?}", seen.notes);
    for record in fixture.records() {
        assert_eq!(record.sent, 30, "{record:?}");
        assert!(median(&record) > 0.0, "{record:?}");
        if text(&record, "system") != "floors:udp" {
            assert_eq!(record.subscriptions[0].received, 30, "{record:?}");
        }
    }
}

#[test]
fn over_a_link_a_message_goes_in_packets_and_what_is_lost_is_counted() {
    let mut fixture = Fixture::new();
    fixture.machine = Machine::explore();
    let plan = fixture.plan(
        "link",
        "workload = \"latency\"\nplacements = [\"remote\"]\nsystems = [\"floors:udp\"]\n\
         sizes = [\"64K\"]\nrates_hz = [50]\ncount = 20\nsettle_seconds = 0.5\nmemory = true\n\
         links = [\"clean\", \"lossy\"]\n[link.clean]\nrate_mbit = [1000]\n\
         [link.lossy]\nrate_mbit = [1000]\nloss_percent = [20]\n",
    );
    if let Some(reason) = &fixture.machine.no_remote {
        assert!(plan.steps.is_empty(), "a floor that cannot be measured is missing nowhere");
        return feros_test_support::skip(reason);
    }
    let seen = fixture.run(&plan);
    assert_eq!(seen.result.unwrap().complete, 2, "{:?}", seen.notes);
    let records = fixture.records();
    let of = |link: &str| records.iter().find(|record| text(record, "link") == link).unwrap();
    let (clean, lossy) = (of("clean"), of("lossy"));
    assert_eq!(clean.status, Status::Complete);
    assert_eq!((clean.subscriptions[0].received, clean.subscriptions[0].lost), (20, 0));
    // No packet is larger than the link's MTU: 64 KB need at least 45 packets.
    assert!(clean.values["wire_packets_per_message"] >= 45.0, "{:?}", clean.values);
    // The chance that all 46 packets of a message arrive is one in 28000.
    let got = &lossy.subscriptions[0];
    assert_eq!((lossy.sent, got.received + got.lost), (20, 20), "{lossy:?}");
    assert!(got.lost > 15, "{lossy:?}");
    // Memory is measured before the last message is sent, no matter how long messages are on their
    // way.
    for record in [clean, lossy] {
        assert!(record.values.get("pss_bytes").is_some_and(|bytes| *bytes > 1e5), "{record:?}");
    }
}
