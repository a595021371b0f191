//! Limits of the machine: systems that are measured in the same cells as other systems and do not
//! compete with them.

use feros_lab::record::{FigureKind, Value};

use crate::small::{Small, text};

const MB: u64 = 1 << 20;

/// The points of the limit line in the first drawing of a page.
fn limit_line(html: &str) -> Vec<(f64, f64)> {
    let path = html.split("class=\"limit\"><path d=\"M").nth(1).expect("a limit line");
    let path = path.split('"').next().unwrap();
    let place = |words: &str| {
        let (x, y) = words.split_once(' ').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    path.split('L').map(place).collect()
}

#[test]
fn the_limit_line_goes_through_the_floor_of_each_cell() {
    let mut run = Small::new(&["feros", "floors:copy"], Some("floors:copy"));
    for (size, own, floor) in [(256, 90.0, 60.0), (65_536, 100.0, 70.0), (MB, 400.0, 200.0)] {
        run.cell("feros", "local", (size, 30), 0, own);
        run.cell("floors:copy", "local", (size, 30), 0, floor);
    }
    let html = run.report().html;
    let line = limit_line(&html);
    assert_eq!(line.len(), 3, "a place for each payload: {line:?}");
    assert!(line[0].1 > line[1].1 && line[1].1 > line[2].1, "it rises: {line:?}");
    // There is a limit at each payload, and the limits are not all the same.
    assert!(html.contains("The system floors:copy (floors:copy), in the same cells"), "its name");
    assert!(html.contains("<td class=\"n\">60 µs</td>") && html.contains("200 µs"), "its numbers");
}

#[test]
fn a_floor_of_another_cell_is_no_limit() {
    let differing: [(&str, Value); 4] = [
        ("rate_hz", Value::Number(1000.0)),
        ("size_bytes", Value::Number(1024.0)),
        ("placement", text("intra")),
        ("link_mbit", Value::Number(54.0)),
    ];
    for (dimension, other) in differing {
        let mut run = Small::new(&["feros", "cyclonedds", "floors:copy"], Some("floors:copy"));
        run.cell("feros", "local", (MB, 30), 0, 100.0);
        run.cell("cyclonedds", "local", (MB, 30), 0, 200.0);
        let floor = run.cell("floors:copy", "local", (MB, 30), 0, 10.0);
        floor.dimensions.insert(dimension.to_owned(), other);
        let report = run.report();
        assert!(!report.html.contains("× the floor"), "{dimension}");
        assert!(!report.html.contains("class=\"limit\""), "{dimension}");
        assert!(!report.markdown.contains("× floor"), "{dimension}");
    }
    // A floor that lost every message is not shown as a limit.
    let mut run = Small::new(&["feros", "floors:copy"], Some("floors:copy"));
    run.cell("feros", "local", (MB, 30), 0, 100.0);
    run.cell("floors:copy", "local", (MB, 30), 0, 10.0).subscriptions[0].latency = None;
    assert!(!run.report().markdown.contains("× floor"));
    // QoS has no effect on a bare hand-over.
    let mut run = Small::new(&["feros", "floors:copy"], Some("floors:copy"));
    run.cell("feros", "local", (MB, 30), 0, 100.0)
        .dimensions
        .insert("qos".to_owned(), text("best-effort"));
    run.cell("floors:copy", "local", (MB, 30), 0, 10.0);
    assert!(run.report().html.contains("(10× the floor)"));
}

#[test]
fn a_ratio_is_within_a_repetition() {
    let mut run = Small::new(&["feros", "floors:copy"], Some("floors:copy"));
    // The machine was slow in one of three repetitions, for the system and the floor alike.
    for (repetition, own, floor) in [(0, 20.0, 10.0), (1, 600.0, 200.0), (2, 40.0, 10.0)] {
        run.cell("feros", "local", (MB, 30), repetition, own);
        run.cell("floors:copy", "local", (MB, 30), repetition, floor);
    }
    // The ratios are 2, 3 and 4. The ratio of the medians over the repetitions would be 2.87.
    let report = run.report();
    assert!(report.html.contains("(3× the floor)"), "{}", report.markdown);
    assert!(report.html.contains("<small>3× floor</small>"));
}

#[test]
fn a_floor_is_neither_counted_nor_ranked_nor_coloured() {
    let mut run = Small::new(&["floors:copy", "feros", "rcl"], Some("floors:copy"));
    for (name, micros) in [("floors:copy", 10.0), ("feros", 20.0), ("rcl", 200.0)] {
        run.cell(name, "local", (256, 30), 0, micros);
        run.cell(name, "local", (MB, 30), 0, micros);
    }
    let report = run.report();
    assert!(report.html.contains("<b>2 systems</b>"), "a limit is no system");
    assert!(report.html.contains("<b>4</b> cells complete"), "nor are its cells counted");
    for text in [&report.html, &report.markdown] {
        let plain = text
            .replace("<b title=\"The system feros. Version: feros 4.5.6\">", "")
            .replace("</b>", "");
        assert!(plain.contains("feros has the lowest median latency"), "{text}");
        assert!(!plain.contains("floors:copy has the lowest"));
    }
    // The first system that is not a limit gets the first colour and marker.
    let legend = report.html.split("class=\"legend\"").nth(1).unwrap();
    let legend = legend.split("</ul>").next().unwrap();
    assert!(legend.contains("ink h0 v0") && !legend.contains("floors:copy"), "{legend}");
}

#[test]
fn a_floor_limits_those_whose_callback_is_on_the_same_kind_of_thread() {
    let mut run =
        Small::new(&["feros", "feros:direct", "zenoh", "floors:thread"], Some("floors:thread"));
    run.run.scenarios[0].figures[0].kind = FigureKind::Boxes;
    for (name, micros) in
        [("feros", 40.0), ("feros:direct", 1.0), ("zenoh", 2.0), ("floors:thread", 10.0)]
    {
        run.cell(name, "intra", (256, 100), 0, micros);
    }
    let report = run.report();
    let found = report.markdown.split("Measured here").nth(1).unwrap();
    assert!(found.contains("feros has the lowest median latency, 40 µs, 4× the floor"), "{found}");
    let direct = found.lines().find(|line| line.contains("feros:direct")).unwrap();
    assert!(!direct.contains("the floor"), "{direct}");
    // Only one row of three has the limit.
    assert_eq!(report.html.matches("<g class=\"limit\">").count(), 1);
    assert!(report.html.contains("Limit line, for names without †"));
}

#[test]
fn a_sentence_of_a_restricted_figure_says_where() {
    let mut run = Small::new(&["feros", "rcl"], None);
    let mut far = run.run.scenarios[0].figures[0].clone();
    let placed = |word: &str| [("placement".to_owned(), vec![text(word)])];
    far.only = placed("remote").into();
    run.run.scenarios[0].figures[0].only = placed("local").into();
    run.run.scenarios[0].figures.push(far);
    for (name, placement, micros) in [
        ("feros", "local", 20.0),
        ("rcl", "local", 200.0),
        ("feros", "remote", 300.0),
        ("rcl", "remote", 200.0),
    ] {
        run.cell(name, placement, (256, 30), 0, micros);
    }
    let report = run.report();
    let found = report.markdown.split("Measured here").nth(1).unwrap();
    let near = "- Between two processes of a host: feros has the lowest median latency";
    assert!(found.contains(near), "{found}");
    let far = "- Between two hosts: rcl has the lowest median latency";
    assert!(found.contains(far), "{found}");
}
