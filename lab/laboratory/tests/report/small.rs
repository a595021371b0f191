//! Runs of a few hand-made cells, so that every number of a page is known.

use std::collections::BTreeMap;

use feros_lab::record::*;
use feros_lab::report::{Report, Results};

/// A run that is made cell by cell.
#[derive(Clone)]
pub(crate) struct Small {
    pub(crate) run: Run,
    pub(crate) records: Vec<Record>,
}

pub(crate) fn text(word: &str) -> Value {
    Value::Text(word.to_owned())
}

pub(crate) fn system(name: &str) -> System {
    let is_direct = ["feros:direct", "zenoh", "floors:call"].contains(&name);
    System {
        name: name.to_owned(),
        title: format!("The system {name}"),
        why: if name.contains(':') { format!("the reason of {name}") } else { String::new() },
        callback: Some(if is_direct {
            CallbackThread::PublishingThread
        } else {
            CallbackThread::OtherThread
        }),
        version: Some(format!("{name} 4.5.6")),
        missing: None,
        declares: Vec::new(),
    }
}

impl Small {
    /// A run without cells: it has a scenario `one` with a figure over payloads, limited by a
    /// floor.
    pub(crate) fn new(systems: &[&str], floor: Option<&str>) -> Self {
        let figure = Figure {
            title: "Latency".to_owned(),
            kind: FigureKind::Lines,
            x: "size_bytes".to_owned(),
            y: "latency".to_owned(),
            series: vec!["system".to_owned()],
            only: BTreeMap::new(),
            floor: floor.map(str::to_owned),
        };
        let scenario = Scenario {
            name: "one".to_owned(),
            title: "What one answers".to_owned(),
            document: "M16".to_owned(),
            item: "Figure 7".to_owned(),
            figures: vec![figure],
            ..Scenario::default()
        };
        let run = Run {
            format: FORMAT,
            grid: "small".to_owned(),
            command: String::new(),
            seed: 1,
            began_unix_seconds: 1_795_266_300,
            ended_unix_seconds: Some(1_795_266_400),
            environment: BTreeMap::new(),
            systems: systems.iter().map(|name| system(name)).collect(),
            scenarios: vec![scenario],
            floors: Vec::new(),
        };
        Self { run, records: Vec::new() }
    }

    /// Adds a cell whose samples lie closely around a median in microseconds.
    pub(crate) fn cell(
        &mut self,
        name: &str,
        placement: &str,
        (size, rate): (u64, u64),
        repetition: u32,
        micros: f64,
    ) -> &mut Record {
        let nanos: Vec<u64> =
            (0..101).map(|index| (micros * (990.0 + f64::from(index) / 5.0)) as u64).collect();
        let latency = Distribution::of(&nanos, 1).unwrap();
        self.records.push(Record {
            scenario: "one".to_owned(),
            dimensions: [
                ("system", text(name)),
                ("placement", text(placement)),
                ("size_bytes", Value::Number(size as f64)),
                ("rate_hz", Value::Number(rate as f64)),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
            repetition,
            status: Status::Complete,
            transport: None,
            unexpected_transport: false,
            began_unix_seconds: 1_795_266_300,
            seconds: 1.0,
            sent: 101,
            subscriptions: vec![Received {
                received: 101,
                lost: 0,
                late: 0,
                latency: Some(latency),
            }],
            publish_call: None,
            layers: Vec::new(),
            values: BTreeMap::new(),
            processes: Vec::new(),
            timeline: Vec::new(),
            noise: BTreeMap::new(),
            raw: None,
        });
        self.records.last_mut().unwrap()
    }

    /// The run as if it had been read from its folder.
    pub(crate) fn results(self) -> Results {
        Results { run: self.run, records: self.records, notices: Vec::new(), parts: Vec::new() }
    }

    /// The report of the run.
    pub(crate) fn report(self) -> Report {
        Report::of(&self.results())
    }
}
