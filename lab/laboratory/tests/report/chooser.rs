//! Tests of the first screen: the verdicts, a table for each question, and the explanations of
//! names.

use std::path::Path;

use feros_lab::peer::Peers;
use feros_lab::record::{Check, Status, Value};
use feros_lab::report::{Report, goals, summaries};
use feros_lab::scenario::{Grid, ScenarioFile};

use crate::small::{Small, text};

const MB: u64 = 1 << 20;

/// The part of the summary about a question.
fn part<'m>(markdown: &'m str, heading: &str) -> &'m str {
    let part = markdown.split(&format!("### {heading}")).nth(1);
    part.unwrap_or_else(|| panic!("no {heading} in\n{markdown}")).split("\n#").next().unwrap()
}

/// The lines of the verdict.
fn verdicts(markdown: &str) -> &str {
    markdown.split("## Which one for what").nth(1).unwrap().split("\n###").next().unwrap()
}

#[test]
fn who_is_fastest_is_said_with_by_how_much_and_what_it_costs() {
    let mut run = Small::new(&["feros", "rcl", "cyclonedds"], None);
    let measured =
        [("rcl", 900.0, 3.0, 30e6), ("feros", 100.0, 4.0, 6e6), ("cyclonedds", 300.0, 2.0, 8e6)];
    for repetition in 0..3 {
        for (name, micros, cpu, memory) in measured {
            let record = run.cell(name, "local", (MB, 30), repetition, micros);
            record.values.insert("cpu_percent".to_owned(), cpu);
            record.values.insert("pss_bytes".to_owned(), memory);
        }
    }
    let report = run.report();
    let said = verdicts(&report.markdown);
    for needed in [
        "**A camera of 1 MB at 30 Hz to another process of this host**: 3 systems, 9 cells of 101",
        "feros has the lowest median latency, 100 µs; then cyclonedds 3×, rcl 9×.",
        "processor time: cyclonedds (2\u{202f}%)",
        "memory: feros (5.72 MB)",
    ] {
        assert!(said.contains(needed), "{needed}\n{said}");
    }
    let table = part(&report.markdown, "A camera");
    assert!(
        table.contains("| system | | p50 | × lowest | p99 | lost | processor | memory |"),
        "{table}"
    );
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows[0].starts_with("| feros |") && rows[2].starts_with("| rcl |"), "{rows:?}");
    assert!(table.contains("3 systems, 9 cells of 101 messages, 3 repetitions"), "{table}");
}

#[test]
fn indistinguishable_systems_are_within_scatter() {
    let mut run = Small::new(&["feros", "iceoryx2", "rcl"], None);
    for (repetition, feros, iceoryx2) in [(0, 100.0, 90.0), (1, 80.0, 103.0), (2, 95.0, 99.0)] {
        run.cell("feros", "local", (MB, 30), repetition, feros);
        run.cell("iceoryx2", "local", (MB, 30), repetition, iceoryx2);
        run.cell("rcl", "local", (MB, 30), repetition, 1000.0);
    }
    let report = run.report();
    assert!(
        verdicts(&report.markdown).contains("; within its scatter: iceoryx2 1.06×; then rcl 1"),
        "{}",
        report.markdown
    );
    assert!(part(&report.markdown, "A camera").contains("×, within scatter |"));
    // One repetition shows nothing about the spread between repetitions.
    let mut once = Small::new(&["feros", "iceoryx2"], None);
    once.cell("feros", "local", (MB, 30), 0, 100.0);
    once.cell("iceoryx2", "local", (MB, 30), 0, 108.0);
    let said = once.report().markdown;
    assert!(verdicts(&said).contains("within its scatter: iceoryx2 1.08×"), "{said}");
}

#[test]
fn who_loses_messages_or_fails_is_not_the_fastest() {
    let mut run = Small::new(&["feros", "rcl", "fastdds", "zenoh"], None);
    run.cell("feros", "local", (MB, 30), 0, 100.0);
    let lossy = &mut run.cell("rcl", "local", (MB, 30), 0, 20.0).subscriptions[0];
    (lossy.received, lossy.lost) = (61, 40);
    run.cell("fastdds", "local", (MB, 30), 0, 10.0).status = Status::Failed("it fell".to_owned());
    run.cell("zenoh", "local", (MB, 30), 0, 10.0).subscriptions[0].latency = None;
    let report = run.report();
    let said = verdicts(&report.markdown);
    assert!(said.contains("feros has the lowest median latency"), "{said}");
    assert!(said.contains("because messages are lost: rcl 39.6"), "{said}");
    let found = report.markdown.split("Measured here").nth(1).unwrap();
    assert!(found.contains("feros has the lowest median latency, 100 µs"), "{found}");
    assert!(found.contains("Not ranked, because messages are lost: rcl 39.6"), "{found}");
    let table = part(&report.markdown, "A camera");
    assert!(
        table.contains("| failed: it fell |") && table.contains("| nothing: no message arrived |"),
        "{table}"
    );
}

#[test]
fn who_is_held_back_is_not_the_fastest() {
    let mut run = Small::new(&["feros", "rcl"], None);
    for (name, rate, micros) in [("feros", 30.0, 100.0), ("rcl", 2.8, 20.0)] {
        let record = run.cell(name, "local", (MB, 30), 0, micros);
        record.values.insert("publish_rate_hz".to_owned(), rate);
    }
    let report = run.report();
    let said = verdicts(&report.markdown);
    assert!(said.contains("feros has the lowest median latency"), "{said}");
    let slow = "Not ranked, because fewer messages are published than wanted: rcl 2.8 Hz.";
    assert!(said.contains(slow), "{said}");
    let table = part(&report.markdown, "A camera");
    assert!(table.contains("| lost | publish rate |"), "{table}");
    assert!(table.contains("| publishes at 2.8 Hz |"), "{table}");
    assert!(report.html.contains("publishes at 2.8 Hz"));
}

#[test]
fn threads_that_call_back_are_never_ranked_together() {
    let systems = ["feros", "feros:direct", "zenoh", "iceoryx2", "floors:thread", "floors:call"];
    let mut run = Small::new(&systems, None);
    for (name, placement, micros) in [
        ("feros", "intra", 40.0),
        ("feros:direct", "intra", 0.5),
        ("zenoh", "composed", 20.0),
        ("iceoryx2", "composed", 80.0),
        ("floors:thread", "intra", 10.0),
        ("floors:call", "intra", 0.1),
    ] {
        run.cell(name, placement, (MB, 100), 0, micros);
    }
    let report = run.report();
    let said = verdicts(&report.markdown);
    let line = |kind: &str| {
        let line = said.lines().find(|line| line.contains(kind));
        line.unwrap_or_else(|| panic!("no {kind}\n{said}"))
    };
    let publishing = line("Callback on the publishing thread: ");
    assert!(publishing.contains("feros:direct has the lowest"), "{publishing}");
    assert!(
        publishing.contains("(5× the floor)") && publishing.contains("zenoh 40×"),
        "{publishing}"
    );
    assert!(!publishing.contains("iceoryx2"), "{publishing}");
    let other = line("Callback on another thread: ");
    assert!(other.contains("feros has the lowest") && other.contains("(4× the floor)"), "{other}");
    assert!(!other.contains("zenoh") && !other.contains("direct"), "{other}");
    let plain = report.html.replace("<wbr>", "");
    assert!(plain.contains("<code>feros</code> <span class=\"way\">by pointer</span>"));
    assert!(!plain.contains("<code>floors:thread</code> <span"), "a floor has no way");
    // In figures the names are marked, and the mark is explained.
    assert!(report.html.contains("zenoh †") && !report.html.contains("iceoryx2 †"));
    assert!(report.html.contains("†: within a process its callback runs on the publishing thread"));
    // The findings of a figure do not mix the kinds of threads either.
    let findings = report.markdown.split("Measured here").nth(1).unwrap();
    assert!(
        !findings.contains("feros:direct has the lowest median latency, 500 ns; then feros "),
        "{findings}"
    );
}

#[test]
fn every_name_is_explained_and_systems_are_counted() {
    let mut run =
        Small::new(&["rcl", "rcl:recommended", "feros", "feros:view", "feros_containers"], None);
    for name in ["rcl", "rcl:recommended", "feros", "feros:view", "feros_containers"] {
        run.cell(name, "local", (MB, 30), 0, 100.0);
    }
    let html = run.report().html;
    assert!(html.contains("<b>2 systems (5 configurations)</b>"), "not counted as systems");
    let table = html.split("class=\"answer\"").nth(1).unwrap().split("</table>").next().unwrap();
    for needed in [
        "title=\"The system rcl:recommended. Why so: the reason of rcl:recommended. Version: rcl:recommended 4.5.6\"",
        "<small>The system rcl · rcl 4.5.6</small>",
    ] {
        assert!(table.contains(needed), "{needed}\n{table}");
    }
    assert!(
        html.contains("<b title=\"The system rcl. Version: rcl 4.5.6\">rcl</b>"),
        "in verdicts"
    );
    let names = html.split("class=\"names\"").nth(1).unwrap().split("</details>").next().unwrap();
    assert!(names.contains("Why so: the reason of feros:view"), "{names}");
    assert!(html.contains("Repeats M16 Figure 7"), "the document's figure stands below the title");
}

#[test]
fn two_hosts_are_said_to_be_one_machine() {
    let mut run = Small::new(&["feros", "rcl"], None);
    for name in ["feros", "rcl"] {
        let record = run.cell(name, "remote", (1024, 30), 0, 500.0);
        record.dimensions.insert("loss_percent".to_owned(), Value::Number(10.0));
        record.dimensions.insert("link_mbit".to_owned(), Value::Number(54.0));
    }
    let report = run.report();
    let heading =
        "A lossy link between two hosts: 1 KB at 30 Hz, 54 Mbit/s, 10\u{202f}% of the packets lost";
    for text in [&report.html, &report.markdown] {
        assert!(text.contains("two network namespaces of one machine"));
        assert!(text.contains(heading), "{text}");
    }
}

#[test]
fn that_everybody_loses_messages_is_an_answer() {
    let mut run = Small::new(&["feros", "rcl"], None);
    for (name, lost) in [("rcl", 60), ("feros", 20)] {
        let record = run.cell(name, "remote", (1024, 30), 0, 500.0);
        record.dimensions.insert("loss_percent".to_owned(), Value::Number(30.0));
        (record.subscriptions[0].received, record.subscriptions[0].lost) = (101 - lost, lost);
    }
    let said = run.report().markdown;
    let wanted = "Every system loses messages: feros 19.8\u{202f}%, rcl 59.4\u{202f}%.";
    assert!(verdicts(&said).contains(wanted), "{said}");
}

#[test]
fn a_question_without_cells_says_what_measures_it() {
    let mut run = Small::new(&["feros", "rcl"], None);
    run.cell("feros", "local", (MB, 30), 0, 100.0);
    run.cell("rcl", "local", (MB, 30), 0, 500.0);
    let report = run.report();
    for needed in ["feros lab latency rates_hz=1000", "feros lab idle systems="] {
        assert!(report.html.contains(needed) && report.markdown.contains(needed), "{needed}");
    }
    assert!(!report.markdown.contains("### A control loop"));
    assert!(!report.markdown.contains("sizes=1M rates_hz=30"), "the camera is answered");
}

#[test]
fn a_cell_in_which_few_were_measured_is_not_the_answer() {
    let mut run = Small::new(&["feros", "rcl", "zenoh"], None);
    // This cell matches the question exactly, but has only Feros.
    run.cell("feros", "local", (MB, 30), 0, 100.0);
    for name in ["feros", "rcl", "zenoh"] {
        run.cell(name, "local", (2 * MB, 100), 0, 300.0);
    }
    let said = run.report().markdown;
    assert!(said.contains("### A camera of 2 MB at 100 Hz"), "{said}");
}

#[test]
fn cells_that_took_another_transport_are_left_out_and_said() {
    let mut run = Small::new(&["feros", "feros:view", "rcl"], Some("floors:copy"));
    for repetition in 0..2 {
        run.cell("feros", "local", (MB, 30), repetition, 100.0);
        run.cell("rcl", "local", (MB, 30), repetition, 500.0);
    }
    // One of three repetitions of one system is left out, and all repetitions of another system.
    for (name, repetition) in [("feros", 2), ("feros:view", 0)] {
        let record = run.cell(name, "local", (MB, 30), repetition, 10.0);
        (record.transport, record.unexpected_transport) = (Some("network".to_owned()), true);
    }
    run.run.scenarios[0].goals = vec![Check {
        title: "below rcl".to_owned(),
        system: vec!["feros".to_owned()],
        at_most: Some(50_000.0),
        ..Check::default()
    }];
    run.run.scenarios[0].columns = vec!["latency".to_owned()];
    let results = run.results();
    let report = Report::of(&results);
    assert!(
        report.html.contains("<b>4</b> cells complete"),
        "cells that are left out are not complete"
    );
    assert!(report.html.contains("<b>2</b> left out: they took another transport"));
    assert!(report.markdown.contains("2 left out"), "{}", report.markdown);
    let said = verdicts(&report.markdown);
    assert!(said.contains("feros has the lowest median latency, 100 µs; then rcl 5×"), "{said}");
    let reason = "its messages took the transport network, which is not the one that is measured";
    let table = part(&report.markdown, "A camera");
    assert!(table.contains(&format!("Cannot be asked: feros:view ({reason})")), "{table}");
    assert!(report.html.split("id=\"trouble\"").nth(1).unwrap().contains(reason));
    // Goals and summaries ignore the numbers of these cells too.
    assert_eq!(goals(&results)[0].own, "100 µs");
    let summary = &summaries(&results)[0];
    let feros = summary.rows.iter().find(|row| row[0] == "feros").unwrap();
    assert!(feros.contains(&"100 µs".to_owned()), "{feros:?}");
    assert!(summary.remarks.iter().any(|remark| remark.contains(reason)), "{:?}", summary.remarks);
}

#[test]
fn a_camera_writes_its_images() {
    let mut run = Small::new(&["feros", "rcl", "zenoh"], None);
    for name in ["feros", "rcl", "zenoh"] {
        run.cell(name, "local", (MB, 30), 0, 100.0);
    }
    let stamped = "Only a stamp is written";
    assert!(part(&run.clone().report().markdown, "A camera").contains(stamped));
    // This cell has fewer systems, but they write their payloads anew.
    for name in ["feros", "rcl"] {
        let record = run.cell(name, "local", (MB, 30), 0, 300.0);
        record.dimensions.insert("fill".to_owned(), text("each"));
    }
    let said = run.report().markdown;
    let table = part(&said, "A camera");
    assert!(table.contains("300 µs") && table.contains("each payload written anew"), "{table}");
    assert!(!table.contains(stamped));
}

/// The commands on a page are valid: their scenarios, keys and systems exist.
#[test]
fn commands_that_a_page_names_are_those_of_the_laboratory() {
    let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let peers = Peers::read(&lab.join("peers")).unwrap();
    let known = |name: &str| peers.system(name).map(|_| ());
    let said = Small::new(&[], None).report().markdown;
    let commands: Vec<&str> =
        said.split('`').filter(|part| part.starts_with("feros lab ")).collect();
    assert_eq!(commands.len(), 5, "{said}");
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        let (name, grid) = match words[2] {
            "run" => {
                (words[words.iter().position(|word| *word == "--only").unwrap() + 1], words[3])
            }
            verb => (verb, ""),
        };
        let file = ScenarioFile::read(&lab.join(format!("scenarios/{name}.toml"))).unwrap();
        let settings: Vec<String> =
            words.iter().filter(|word| word.contains('=')).map(|word| (*word).to_owned()).collect();
        let grid = (grid == "standard").then_some(Grid::Standard);
        let resolved = file.resolve(grid, &settings, &known);
        assert!(resolved.is_ok_and(|found| found.is_some()), "{command}");
    }
}
