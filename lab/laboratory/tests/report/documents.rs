//! The conclusions of documents on the page and in the summary.

use feros_lab::record::{Check, Condition, Missing, System, Value};

use crate::small::{Small, text};

const MB: u64 = 1 << 20;

/// A run with a conclusion that it reproduces, one that it refutes, and one that it did not
/// measure.
fn run() -> Small {
    let mut run = Small::new(&["rcl", "roscpp"], None);
    run.cell("rcl", "local", (MB, 100), 0, 900.0);
    run.cell("roscpp", "local", (MB, 100), 0, 300.0);
    let at_1_mb = Check {
        only: [("size_bytes".to_owned(), vec![Value::Number(MB as f64)])].into(),
        reference: [("system".to_owned(), text("roscpp"))].into(),
        ..Check::default()
    };
    run.run.scenarios[0].conditions = vec![Condition {
        name: "rate".to_owned(),
        document: "10 Hz <and> more".to_owned(),
        here: "100 Hz".to_owned(),
    }];
    let verdict = |item: &str, title: &str, systems: &[&str], at_least: f64| Check {
        item: item.to_owned(),
        title: title.to_owned(),
        system: systems.iter().map(|name| (*name).to_owned()).collect(),
        at_least: Some(at_least),
        paper: "about 2 times".to_owned(),
        ..at_1_mb.clone()
    };
    run.run.scenarios[0].verdicts = vec![
        verdict("Figure 10", "ROS 2 is slower than ROS 1.", &["rclcpp", "rcl"], 1.0),
        verdict("Figure 8", "ROS 2 is much slower than ROS 1.", &["rcl"], 10.0),
        verdict("Table 4", "Stock nodes are slower than ROS 1.", &["rclcpp"], 1.0),
    ];
    let missing = Some(Missing { reason: "it needs FEROS_STOCK".to_owned(), install: None });
    run.run.systems.push(System { name: "rclcpp".to_owned(), missing, ..System::default() });
    run
}

#[test]
fn each_figure_has_a_verdict_with_numbers_and_conditions() {
    let report = run().report();
    let markdown = &report.markdown;
    let table = markdown.split("## The documents' figures").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    assert!(table.contains("1 reproduced, 1 refuted, 1 not measured here."), "{table}");
    let line = |item: &str| {
        let found = table.lines().find(|line| line.contains(item));
        found.unwrap_or_else(|| panic!("no {item}\n{table}"))
    };
    let reproduced = line("M16 Figure 10");
    assert!(reproduced.contains("**reproduced**") && reproduced.contains("3×"), "{reproduced}");
    assert!(reproduced.contains("about 2 times"), "{reproduced}");
    assert!(line("M16 Figure 8").contains("**refuted**"), "{table}");
    let absent = line("M16 Table 4");
    assert!(absent.contains("**not measured here**") && absent.contains("FEROS"), "{absent}");
    // Figures are in the order of the document.
    assert!(table.find("Figure 8") < table.find("Figure 10"), "{table}");
    let experiment = markdown.split("Verdicts:").nth(1).unwrap();
    assert!(experiment.contains("Conditions here: systems: rcl (rcl 4.5.6)"), "{experiment}");
    assert!(experiment.contains("message: 1 MB; rate: 100 Hz; count: 101"), "{experiment}");
    assert!(experiment.contains("In the document: rate: 10 Hz \\<and\\> more"), "{experiment}");
}

#[test]
fn the_page_has_the_verdicts_too() {
    let html = run().report().html;
    let part = html.split("<section id=\"verdicts\">").nth(1).expect("the section");
    let part = part.split("</section>").next().unwrap();
    for words in [
        "<td class=\"a-works\">reproduced</td>",
        "<td class=\"a-error\">refuted</td>",
        "<td class=\"none\">not measured here</td>",
        "rclcpp: it needs FEROS_STOCK",
        "Maruyama, Kato, Azumi",
    ] {
        assert!(part.contains(words), "{words}\n{part}");
    }
    let experiment = html.split("id=\"scenario-one\"").nth(1).unwrap();
    assert!(experiment.contains("10 Hz &lt;and&gt; more"), "the document's condition");
    assert!(experiment.contains("<td class=\"wide-cell\">100 Hz</td>"), "the condition here");
    // A run without verdicts has no such section.
    let without = Small::new(&["rcl"], None).report();
    assert!(!without.html.contains("id=\"verdicts\""));
    assert!(!without.markdown.contains("The documents' figures"));
}

#[test]
fn each_figure_says_its_rate_and_number_of_messages() {
    let html = run().report().html;
    assert!(html.contains("100 Hz, 101 messages, one repetition."), "below the figure");
}
