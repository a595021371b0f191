//! The contents of a synthetic run: its systems, and its scenarios with their figures.

use feros_lab::record::*;

use super::{FLOORS, Limit, ON_PUBLISHING_THREAD, SYSTEMS, number, text};

pub(super) fn systems() -> Vec<System> {
    let publishing = |name: &str| ON_PUBLISHING_THREAD.contains(&name);
    let measured = SYSTEMS.iter().map(|(name, title, _, _)| System {
        name: (*name).to_owned(),
        title: (*title).to_owned(),
        why: if name.contains(':') { format!("what {name} is for") } else { String::new() },
        callback: Some(if publishing(name) {
            CallbackThread::PublishingThread
        } else {
            CallbackThread::OtherThread
        }),
        version: Some(format!("{name} 1.2.3")),
        missing: None,
        declares: Vec::new(),
    });
    let floors = FLOORS.iter().map(|Limit { name, title, callback, .. }| System {
        name: (*name).to_owned(),
        title: format!("Floors of this machine, {title}"),
        why: "a limit".to_owned(),
        callback: *callback,
        version: None,
        missing: None,
        declares: Vec::new(),
    });
    let missing = [
        (
            "connext",
            "RTI Connext through rmw",
            "no licence file: RTI_LICENSE_FILE is not set",
            Some("scripts/setup.sh --lab"),
        ),
        ("opensplice", "OpenSplice", "no package of it exists", None),
    ]
    .map(|(name, title, reason, install)| System {
        name: name.to_owned(),
        title: title.to_owned(),
        why: String::new(),
        callback: None,
        version: None,
        missing: Some(Missing { reason: reason.to_owned(), install: install.map(str::to_owned) }),
        declares: Vec::new(),
    });
    measured.chain(floors).chain(missing).collect()
}

fn figure(
    title: &str,
    kind: FigureKind,
    x: &str,
    y: &str,
    series: &[&str],
    only: &[(&str, Value)],
) -> Figure {
    Figure {
        title: title.to_owned(),
        kind,
        x: x.to_owned(),
        y: y.to_owned(),
        series: series.iter().map(|name| (*name).to_owned()).collect(),
        only: only.iter().map(|(name, value)| ((*name).to_owned(), vec![value.clone()])).collect(),
        floor: None,
    }
}

fn scenario(
    name: &str,
    title: &str,
    document: &str,
    item: &str,
    finding: &str,
    figures: Vec<Figure>,
) -> Scenario {
    Scenario {
        name: name.to_owned(),
        title: title.to_owned(),
        document: document.to_owned(),
        item: item.to_owned(),
        finding: finding.to_owned(),
        figures,
        ..Scenario::default()
    }
}

pub(super) fn scenarios() -> Vec<Scenario> {
    use FigureKind::*;
    vec![
        scenario(
            "size",
            "Latency by payload",
            "M16",
            "Figures 7 to 12, Tables 4, 6 and 7",
            "ROS 2 is slower than ROS 1 by two conversions and the processing of DDS; within a process, it was slower than ROS 1 between processes.",
            vec![
                figure(
                    "Latency by payload",
                    Lines,
                    "size_bytes",
                    "latency",
                    &["system", "placement"],
                    &[],
                ),
                Figure {
                    floor: Some("floors:copy".to_owned()),
                    ..figure(
                        "Distribution between processes",
                        Boxes,
                        "size_bytes",
                        "latency",
                        &["system"],
                        &[("placement", text("local"))],
                    )
                },
                Figure {
                    floor: Some("floors:copy".to_owned()),
                    ..figure(
                        "Between processes",
                        Lines,
                        "size_bytes",
                        "latency",
                        &["system"],
                        &[("placement", text("local"))],
                    )
                },
                figure(
                    "What each can do",
                    Capability,
                    "size_bytes",
                    "",
                    &["system", "placement"],
                    &[],
                ),
                figure(
                    "Where the time goes",
                    Layers,
                    "size_bytes",
                    "",
                    &["system"],
                    &[("placement", text("local"))],
                ),
                figure(
                    "Threads of a talker",
                    Bars,
                    "system",
                    "threads",
                    &[],
                    &[("placement", text("local")), ("size_bytes", number(256))],
                ),
            ],
        ),
        scenario(
            "loop",
            "A control loop at 1 kHz",
            "",
            "",
            "",
            vec![Figure {
                floor: Some("floors:futex".to_owned()),
                ..figure("Spread", Boxes, "size_bytes", "latency", &["system"], &[])
            }],
        ),
        scenario(
            "rest",
            "A node that has nothing to do",
            "R20",
            "Part 1",
            "Cyclone DDS takes less processor time and memory than Fast RTPS.",
            vec![figure("Memory", Bars, "system", "pss_bytes", &[], &[])],
        ),
        scenario(
            "fairness",
            "Five subscriptions of one publisher",
            "M16",
            "Figures 17 to 19",
            "With ROS 1 the fifth subscription takes about twice as long as the first at 1 MB; ROS 2 has small differences.",
            vec![
                figure(
                    "Each subscription",
                    Bars,
                    "subscription",
                    "latency",
                    &["system", "size_bytes"],
                    &[],
                ),
                figure("Fairness", Matrix, "size_bytes", "fairness", &["system"], &[]),
            ],
        ),
        scenario(
            "chain",
            "Chains of nodes",
            "K21",
            "Figures 5 and 6",
            "For small payloads, latency is linear in the number of nodes, and DDS and the notification delay are the largest parts.",
            vec![
                figure(
                    "Latency over the length of the chain",
                    Lines,
                    "nodes",
                    "latency",
                    &["system"],
                    &[],
                ),
                figure("Where the time goes", Layers, "nodes", "", &["system"], &[]),
            ],
        ),
        scenario(
            "memory",
            "Memory of empty nodes",
            "C23",
            "Figure 2",
            "Twenty composed nodes cost about what two processes do.",
            vec![figure("Memory", Bars, "nodes", "pss_bytes", &["system", "placement"], &[])],
        ),
        scenario(
            "degraded",
            "A network that loses packets",
            "R20",
            "Part 2",
            "Five of thirty conditions were fine for all; eleven delivered nothing.",
            vec![
                figure(
                    "Received",
                    Matrix,
                    "loss_percent",
                    "received_percent",
                    &["system", "link_mbit"],
                    &[],
                ),
                figure(
                    "Received over time",
                    Timeline,
                    "",
                    "",
                    &["system"],
                    &[("link_mbit", number(54)), ("loss_percent", number(30))],
                ),
            ],
        ),
    ]
}
