//! The growth of what discovery costs, in the report and in the table.

use std::collections::BTreeMap;

use feros_lab::record::*;
use feros_lab::report::summaries;

use crate::small::{Small, text};

/// A run in which the packets of `feros` grow with the number of nodes, and those of `rcl` with its
/// third power; in one more topology, there is a single size.
fn run() -> Small {
    let mut small = Small::new(&["feros", "rcl"], None);
    let scenario = &mut small.run.scenarios[0];
    scenario.columns = vec!["settled_seconds".to_owned(), "settling_packets".to_owned()];
    scenario.figures = vec![Figure {
        title: "Packets".to_owned(),
        kind: FigureKind::Lines,
        x: "nodes".to_owned(),
        y: "settling_packets".to_owned(),
        series: vec!["system".to_owned(), "topology".to_owned()],
        only: BTreeMap::new(),
        floor: None,
    }];
    for (system, power) in [("feros", 1), ("rcl", 3)] {
        for (nodes, topology) in
            [(25.0, "ring"), (50.0, "ring"), (100.0, "ring"), (25.0, "one_topic")]
        {
            let record = small.cell(system, "local", (0, 0), 0, 1.0);
            record.sent = 0;
            record.subscriptions.clear();
            record.dimensions.retain(|name, _| name == "system" || name == "placement");
            record.dimensions.insert("nodes".to_owned(), Value::Number(nodes));
            record.dimensions.insert("topology".to_owned(), text(topology));
            record.dimensions.insert("start".to_owned(), text("together"));
            record.values.insert("settled_seconds".to_owned(), 0.1 * nodes);
            record.values.insert("settling_packets".to_owned(), 10.0 * f64::powi(nodes, power));
        }
    }
    small
}

#[test]
fn the_report_says_the_power_of_the_growth() {
    let report = run().report();
    let sentence = "Growth of the packets on loopback until every match is there, as a power of \
                    the number of nodes";
    assert!(report.markdown.contains(sentence), "{}", report.markdown);
    let powers = "feros 1 (3 points), rcl 3 (3 points)";
    assert!(report.markdown.contains(powers), "{}", report.markdown);
    assert!(report.html.contains(powers));
    assert!(!report.markdown.contains("A straight line through"), "{}", report.markdown);
}

#[test]
fn the_table_has_the_powers_of_its_columns() {
    let summaries = summaries(&run().results());
    let [summary] = summaries.as_slice() else { panic!("{summaries:?}") };
    assert_eq!(summary.rows.len(), 8);
    let of = |system: &str| {
        let is_it = |line: &&String| line.starts_with(system);
        summary.remarks.iter().find(is_it).unwrap_or_else(|| panic!("{:?}", summary.remarks))
    };
    assert!(of("feros").contains("settled 1.00, settling packets 1.00"), "{:?}", summary.remarks);
    assert!(of("rcl").contains("settling packets 3.00"), "{:?}", summary.remarks);
    assert_eq!(summary.remarks.len(), 2, "one size has no power: {:?}", summary.remarks);
    let powers: Vec<f64> = summary
        .objects
        .iter()
        .filter_map(|object| object["powers"]["settling_packets"].as_f64())
        .collect();
    assert_eq!(powers.len(), 2, "{:?}", summary.objects);
    assert!((powers[0] - 1.0).abs() < 1e-9 && (powers[1] - 3.0).abs() < 1e-9, "{powers:?}");
}
