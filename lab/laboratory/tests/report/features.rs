//! The comparison of systems by feature, on the page and in the summary.

use std::collections::BTreeMap;

use feros_lab::record::{Declaration, Feature, Process, Value};

use crate::small::{Small, text};

fn declaration(name: &str, features: &[(Feature, &[&str])]) -> Declaration {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    Declaration {
        name: name.to_owned(),
        title: format!("The system {name} <new>"),
        features: features.iter().map(|(feature, said)| (*feature, words(said))).collect(),
    }
}

/// A run of `stock`, which has two programs, and of `other`; a third program stands for both.
fn run() -> Small {
    let mut run = Small::new(&["stock", "stock_cpp", "other", "both", "floors:udp"], None);
    let stock: &[(Feature, &[&str])] = &[
        (Feature::Pointers, &["no"]),
        (Feature::Licence, &["Apache-2.0"]),
        (Feature::Transports, &["UDP"]),
    ];
    let cpp: &[(Feature, &[&str])] =
        &[(Feature::Pointers, &["yes"]), (Feature::Transports, &["UDP", "TCP"])];
    run.run.systems[0].declares = vec![declaration("stock", stock)];
    run.run.systems[1].declares = vec![declaration("stock", cpp)];
    run.run.systems[2].declares = vec![declaration("other", &[(Feature::Calls, &["no"])])];
    run.run.systems[3].declares = vec![declaration("stock", &[]), declaration("other", &[])];
    for (name, placement) in
        [("stock", "local"), ("stock_cpp", "intra"), ("both", "remote"), ("floors:udp", "remote")]
    {
        let record = run.cell(name, placement, (256, 100), 0, 30.0);
        record.dimensions.insert("subscriptions".to_owned(), Value::Number(1.0));
        record.dimensions.insert("qos".to_owned(), text("best_effort"));
    }
    let call = run.cell("stock", "local", (256, 100), 0, 60.0);
    call.transport = Some("network".to_owned());
    call.values.insert("realtime".to_owned(), 1.0);
    let process = |role: &str, bytes: f64| Process {
        role: role.to_owned(),
        values: BTreeMap::from([("pss_bytes".to_owned(), bytes)]),
        threads: Vec::new(),
    };
    call.processes = vec![
        process("talker", 3e6),
        process("listener 2", 2e6),
        process("rosmaster", 1e3),
        process("client", f64::NAN),
    ];
    run
}

/// The cells of a system in the summary, by feature.
fn cells<'a>(markdown: &'a str, system: &str) -> BTreeMap<&'a str, &'a str> {
    let part = markdown.split("## Systems by feature").nth(1).expect("the section");
    let part = part.split("\n## ").next().unwrap();
    let row = |name: &str| {
        let found = part.lines().find(|line| line.starts_with(&format!("| {name} |")));
        let line = found.unwrap_or_else(|| panic!("no {name}\n{part}"));
        line.trim_matches(['|', ' ']).split(" | ").collect::<Vec<_>>()
    };
    row("system").into_iter().zip(row(system)).collect()
}

#[test]
fn a_cell_is_a_declaration_and_what_the_run_showed() {
    let markdown = run().report().markdown;
    let stock = cells(&markdown, "stock");
    // Both programs and the one that stands for both systems count.
    assert_eq!(stock["publish/subscribe"], "not declared; seen in 3 cells");
    assert_eq!(stock["calls"], "not declared; seen in one cell");
    assert_eq!(stock["between hosts"], "not declared; seen in one cell");
    assert_eq!(stock["by pointer within a process"], "yes; seen in one cell");
    assert_eq!(stock["QoS"], "not declared; seen: best effort");
    assert_eq!(stock["transports"], "UDP, TCP; seen: network");
    assert_eq!(
        stock["scheduling of its threads"],
        "not declared; seen in one cell under SCHED\\_FIFO"
    );
    assert_eq!(stock["licence"], "Apache-2.0");
    assert_eq!(stock["discovery"], "not declared");
    let memory = stock["least memory of a process"];
    assert!(memory.starts_with("1.9") && memory.ends_with('B'), "{memory}");
    let other = cells(&markdown, "other");
    assert_eq!(other["calls"], "no; not seen");
    assert_eq!(other["between hosts"], "not declared; seen in one cell");
    assert_eq!(other["least memory of a process"], "not seen");
    // The columns that nothing can fill are named.
    assert!(markdown.contains("frequent updates, and libraries and tools"));
}

#[test]
fn failed_cells_show_nothing() {
    let mut run = run();
    for record in &mut run.records {
        record.status = feros_lab::record::Status::Failed("a crash".to_owned());
    }
    let markdown = run.report().markdown;
    assert_eq!(cells(&markdown, "stock")["publish/subscribe"], "not declared; not seen");
}

#[test]
fn the_page_has_the_comparison_only_if_manifests_declare_something() {
    let html = run().report().html;
    let part = html.split("<section id=\"features\">").nth(1).expect("the section");
    let part = part.split("</section>").next().unwrap();
    assert!(part.contains("The system stock &lt;new&gt;"), "{part}");
    assert!(part.contains("<td>yes<small>seen in one cell</small></td>"), "{part}");
    assert!(part.contains("<td>Apache-2.0</td>"), "{part}");
    assert!(!part.contains("floors"), "a floor is no system: {part}");
    let without = Small::new(&["stock"], None).report();
    assert!(!without.html.contains("id=\"features\""));
    assert!(!without.markdown.contains("Systems by feature"));
}

#[test]
fn declarations_survive_the_file_of_the_run() {
    let run = run().run;
    let text = serde_json::to_string(&run).unwrap();
    assert_eq!(serde_json::from_str::<feros_lab::record::Run>(&text).unwrap(), run);
}
