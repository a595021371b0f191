//! A synthetic run from a seed: many systems and placements, with failures, hangs, skipped cells
//! and missing systems. Its numbers follow a simple model, so that the text of its report is known.

mod described;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use feros_lab::record::*;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, LogNormal};

pub(crate) const SIZES: [u64; 6] = [256, 4096, 65_536, 262_144, 1 << 20, 4 << 20];

/// The name, the title, the microseconds for the smallest message between processes, and the
/// nanoseconds per KB.
const SYSTEMS: [(&str, &str, f64, f64); 11] = [
    ("feros", "Feros", 27.0, 30.0),
    ("feros:direct", "Feros, callbacks on the receiving thread", 24.5, 30.0),
    ("rcl", "ROS 2 Kilted through rcl (Fast DDS)", 160.0, 900.0),
    ("rcl:recommended", "ROS 2 Kilted through rcl, as its vendor recommends", 150.0, 520.0),
    ("rclpy", "ROS 2 Kilted through rclpy", 410.0, 1800.0),
    ("roscpp", "ROS 1 Noetic, roscpp", 92.0, 640.0),
    ("cyclonedds", "Cyclone DDS, raw C", 88.0, 410.0),
    ("fastdds", "Fast DDS, raw C++", 110.0, 700.0),
    ("iceoryx2", "iceoryx2", 30.0, 0.4),
    ("zenoh", "Zenoh <pico & co>", 105.0, 350.0),
    ("rustdds", "RustDDS", 180.0, 2900.0),
];

/// A limit of the machine.
struct Limit {
    name: &'static str,
    title: &'static str,
    placements: &'static [&'static str],
    micros: f64,
    nanos_per_kb: f64,
    callback: Option<CallbackThread>,
}

const fn limit(
    name: &'static str,
    title: &'static str,
    placements: &'static [&'static str],
    micros: f64,
    nanos_per_kb: f64,
    callback: Option<CallbackThread>,
) -> Limit {
    Limit { name, title, placements, micros, nanos_per_kb, callback }
}

const WITHIN: &[&str] = &["composed", "intra"];
const FLOORS: [Limit; 5] = [
    limit("floors:futex", "a futex hand-over without the payload", &["local"], 19.0, 0.0, None),
    limit("floors:copy", "a futex hand-over after one copy", &["local"], 19.5, 55.0, None),
    limit("floors:udp", "a UDP datagram", &["remote"], 31.0, 170.0, None),
    limit("floors:thread", "a hand-over between two threads", WITHIN, 9.5, 0.0, OTHER),
    limit("floors:call", "a call of a function", WITHIN, 0.08, 0.0, PUBLISHING),
];
const PUBLISHING: Option<CallbackThread> = Some(CallbackThread::PublishingThread);
const OTHER: Option<CallbackThread> = Some(CallbackThread::OtherThread);

/// The systems that call the callback on the publishing thread within a process.
const ON_PUBLISHING_THREAD: [&str; 3] = ["feros:direct", "fastdds", "zenoh"];

pub(crate) struct Synthetic {
    random: ChaCha8Rng,
    repetitions: u32,
    pub(crate) run: Run,
    pub(crate) records: Vec<Record>,
}

fn text(word: &str) -> Value {
    Value::Text(word.to_owned())
}

fn number(number: u64) -> Value {
    Value::Number(number as f64)
}

impl Synthetic {
    /// Creates the whole run.
    pub(crate) fn new(seed: u64, repetitions: u32) -> Self {
        let mut made = Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            repetitions,
            run: Run {
                format: FORMAT,
                grid: "standard".to_owned(),
                command: format!("feros lab run standard --seed {seed} --out results"),
                seed,
                began_unix_seconds: 1_795_266_300,
                ended_unix_seconds: Some(1_795_269_943),
                environment: [
                    ("cpu", "AMD EPYC 7B13 64-Core Processor"),
                    ("processors", "2"),
                    ("kernel", "Linux 6.6.1-generic"),
                    ("memory_bytes", "16 GB"),
                    ("governor", "not readable in this machine"),
                    ("feros", "0.1.0 (6245798)"),
                ]
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into(),
                systems: described::systems(),
                scenarios: described::scenarios(),
                floors: Vec::new(),
            },
            records: Vec::new(),
        };
        made.floors();
        made.latency();
        made.control_loop();
        made.fairness();
        made.chains();
        made.memory();
        made.networks();
        made.at_rest();
        made
    }

    /// Writes the files that a run leaves.
    pub(crate) fn write(&self, folder: &Path) {
        fs::create_dir_all(folder.join("raw")).unwrap();
        fs::write(folder.join("run.json"), serde_json::to_string_pretty(&self.run).unwrap())
            .unwrap();
        let lines: Vec<String> = self
            .records
            .iter()
            .map(|record| serde_json::to_string(record).unwrap() + "\n")
            .collect();
        fs::write(folder.join("cells.jsonl"), lines.concat()).unwrap();
    }

    fn samples(&mut self, median_nanos: f64, count: usize) -> Distribution {
        let times = LogNormal::new(median_nanos.ln(), 0.16).unwrap();
        let tail = LogNormal::new((median_nanos * 2.5).ln(), 0.5).unwrap();
        let samples: Vec<u64> = (0..count)
            .map(|_| {
                if self.random.random::<f64>() < 0.03 {
                    tail.sample(&mut self.random)
                } else {
                    times.sample(&mut self.random)
                }
            })
            .map(|nanos| nanos as u64)
            .collect();
        Distribution::of(&samples, self.run.seed).unwrap()
    }

    /// The random factor of a repetition.
    fn between(&mut self) -> f64 {
        LogNormal::new(0.0, 0.03).unwrap().sample(&mut self.random)
    }

    fn record(
        &mut self,
        scenario: &str,
        dimensions: Vec<(&str, Value)>,
        repetition: u32,
    ) -> Record {
        Record {
            scenario: scenario.to_owned(),
            dimensions: dimensions
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            repetition,
            status: Status::Complete,
            transport: None,
            unexpected_transport: false,
            began_unix_seconds: self.run.began_unix_seconds + self.records.len() as u64,
            seconds: 3.2,
            sent: 100,
            subscriptions: Vec::new(),
            publish_call: None,
            layers: Vec::new(),
            values: BTreeMap::new(),
            processes: Vec::new(),
            timeline: Vec::new(),
            noise: [
                ("steal_percent".to_owned(), self.random.random::<f64>() * 2.0),
                ("load".to_owned(), 0.4 + self.random.random::<f64>()),
            ]
            .into(),
            raw: Some(format!("raw/{}.jsonl.gz", self.records.len())),
        }
    }

    /// Adds the laboratory's own cost, and limits in the cells of the other systems.
    fn floors(&mut self) {
        let nanos = self.samples(90.0, 400);
        self.run.floors.push(Floor { name: "recording".to_owned(), size_bytes: 0, nanos });
        for Limit { name, placements, micros, nanos_per_kb, .. } in FLOORS {
            for placement in placements {
                for size in SIZES {
                    let nanos = micros * 1e3 + nanos_per_kb * size as f64 / 1024.0;
                    for repetition in 0..self.repetitions {
                        self.latency_cell(name, placement, size, nanos, repetition);
                    }
                }
            }
        }
    }

    /// Adds cells with a small message every millisecond; a machine that does not sleep wakes up
    /// sooner.
    fn control_loop(&mut self) {
        let of = |name: &str, base: f64| (name.to_owned(), base);
        let floors = [of("floors:futex", 8.0), of("floors:copy", 8.2)];
        let systems = SYSTEMS.iter().map(|(name, _, base, _)| of(name, base * 0.6));
        for (system, base) in floors.into_iter().chain(systems).collect::<Vec<_>>() {
            for repetition in 0..self.repetitions {
                let median = base * 1e3 * self.between();
                let mut record = self.record(
                    "loop",
                    vec![
                        ("system", text(&system)),
                        ("placement", text("local")),
                        ("size_bytes", number(256)),
                        ("rate_hz", number(1000)),
                    ],
                    repetition,
                );
                let latency = self.samples(median, 1000);
                record.sent = 1000;
                record.subscriptions =
                    vec![Received { received: 1000, lost: 0, late: 0, latency: Some(latency) }];
                record.values.insert("cpu_percent".to_owned(), base / 10.0);
                record.values.insert("pss_bytes".to_owned(), 4e6 + base * 1e5);
                self.records.push(record);
            }
        }
    }

    fn at_rest(&mut self) {
        for (system, bytes) in [("feros", 6.2e6), ("rcl", 31e6), ("cyclonedds", 5.9e6)] {
            for repetition in 0..self.repetitions {
                let factor = self.between();
                let mut record = self.record(
                    "rest",
                    vec![("system", text(system)), ("placement", text("local"))],
                    repetition,
                );
                record.sent = 0;
                for (name, value) in [
                    ("pss_bytes", bytes * factor),
                    ("cpu_percent", bytes / 1e8),
                    ("threads", 6.0),
                    ("wakeups_per_second", 4.0),
                ] {
                    record.values.insert(name.to_owned(), value);
                }
                self.records.push(record);
            }
        }
    }

    fn latency(&mut self) {
        for (system, _, base, per_kb) in SYSTEMS {
            for (placement, factor) in
                [("remote", 1.9), ("local", 1.0), ("composed", 0.72), ("intra", 0.45)]
            {
                for size in SIZES {
                    for repetition in 0..self.repetitions {
                        self.latency_cell(
                            system,
                            placement,
                            size,
                            (base * 1e3 + per_kb * size as f64 / 1024.0) * factor,
                            repetition,
                        );
                    }
                }
            }
        }
    }

    fn latency_cell(
        &mut self,
        system: &str,
        placement: &str,
        size: u64,
        nanos: f64,
        repetition: u32,
    ) {
        let wire = if placement == "remote" { size as f64 * 80.0 } else { 0.0 };
        let median = (nanos + wire) * self.between();
        let mut record = self.record(
            "size",
            vec![
                ("system", text(system)),
                ("placement", text(placement)),
                ("size_bytes", number(size)),
                ("rate_hz", number(10)),
            ],
            repetition,
        );
        record.status = status(system, placement, size);
        let lost = if system == "rclpy" && size >= 1 << 20 { 7 } else { 0 };
        let late = if placement == "remote" && size >= 4 << 20 { 100 - lost } else { 0 };
        if !matches!(record.status, Status::Skipped(_)) {
            let latency = self.samples(median, 100);
            record.subscriptions =
                vec![Received { received: 100 - lost, lost, late, latency: Some(latency) }];
            if placement == "local" {
                record.layers = self.layers(median);
            }
            record
                .values
                .insert("lost_initial".to_owned(), if system == "roscpp" { 1.0 } else { 0.0 });
            record.values.insert("code_bytes".to_owned(), 2e6 + nanos);
            record.values.insert("threads".to_owned(), 2.0 + (nanos / 30_000.0).floor());
        }
        self.records.push(record);
    }

    fn layers(&mut self, median: f64) -> Vec<Layer> {
        [
            "client",
            "serialize",
            "engine write",
            "wire",
            "announce",
            "notification",
            "take",
            "deserialize",
            "queue",
        ]
        .into_iter()
        .zip([0.04, 0.12, 0.18, 0.3, 0.06, 0.14, 0.05, 0.08, 0.03])
        .map(|(name, share)| Layer {
            name: name.to_owned(),
            nanos: self.samples(median * share, 100),
        })
        .collect()
    }

    fn fairness(&mut self) {
        for (system, factor) in [("feros", 0.0), ("roscpp", 0.25), ("rcl", 0.05)] {
            for size in [65_536_u64, 1 << 20] {
                for repetition in 0..self.repetitions {
                    let mut record = self.record(
                        "fairness",
                        vec![
                            ("system", text(system)),
                            ("size_bytes", number(size)),
                            ("subscriptions", number(5)),
                            ("placement", text("local")),
                        ],
                        repetition,
                    );
                    record.subscriptions = (0..5)
                        .map(|index| {
                            let median = (60_000.0 + size as f64 * 0.4)
                                * (1.0 + factor * f64::from(index))
                                * self.between();
                            Received {
                                received: 100,
                                lost: 0,
                                late: 0,
                                latency: Some(self.samples(median, 100)),
                            }
                        })
                        .collect();
                    self.records.push(record);
                }
            }
        }
    }

    fn chains(&mut self) {
        for (system, per_node) in
            [("feros", 21_000.0), ("rcl", 118_000.0), ("cyclonedds", 84_000.0)]
        {
            for nodes in [3_u64, 5, 9, 15, 23] {
                for repetition in 0..self.repetitions {
                    let median = per_node * (nodes - 1) as f64 * self.between();
                    let latency = self.samples(median, 200);
                    let mut record = self.record(
                        "chain",
                        vec![
                            ("system", text(system)),
                            ("nodes", number(nodes)),
                            ("placement", text("composed")),
                        ],
                        repetition,
                    );
                    record.subscriptions =
                        vec![Received { received: 200, lost: 0, late: 0, latency: Some(latency) }];
                    record.sent = 200;
                    record.layers = self.layers(median);
                    self.records.push(record);
                }
            }
        }
    }

    fn memory(&mut self) {
        for (system, first, further) in
            [("feros", 6.5e6, 1.1e6), ("rcl", 31e6, 4.3e6), ("roscpp", 9e6, 3.9e6)]
        {
            for (placement, share) in [("local", 1.0), ("composed", 0.06)] {
                for nodes in [1_u64, 5, 20] {
                    for repetition in 0..self.repetitions {
                        let bytes = (first + further * share * (nodes - 1) as f64) * self.between();
                        let mut record = self.record(
                            "memory",
                            vec![
                                ("system", text(system)),
                                ("nodes", number(nodes)),
                                ("placement", text(placement)),
                            ],
                            repetition,
                        );
                        record.values.insert("pss_bytes".to_owned(), bytes);
                        record.processes = vec![Process {
                            role: "nodes".to_owned(),
                            values: [("pss_bytes".to_owned(), bytes)].into(),
                            threads: Vec::new(),
                        }];
                        self.records.push(record);
                    }
                }
            }
        }
    }

    fn networks(&mut self) {
        for (system, strength) in [("feros", 1.0), ("rcl", 0.35), ("cyclonedds", 0.6)] {
            for mbit in [54_u64, 300, 1000] {
                for loss in [0_u64, 10, 20, 30, 40] {
                    let share = (1.0 - loss as f64 / 100.0 * (1.6 - strength)).clamp(0.0, 1.0);
                    let mut record = self.record(
                        "degraded",
                        vec![
                            ("system", text(system)),
                            ("link_mbit", number(mbit)),
                            ("loss_percent", number(loss)),
                            ("placement", text("remote")),
                            ("size_bytes", number(1024)),
                            ("rate_hz", number(30)),
                        ],
                        0,
                    );
                    let latency = self.samples(300_000.0 / strength, 300);
                    record.sent = 450;
                    let received = (450.0 * share) as u64;
                    record.subscriptions = vec![Received {
                        received,
                        lost: 450 - received,
                        late: 0,
                        latency: Some(latency),
                    }];
                    record.timeline = (0..15)
                        .map(|second| {
                            let gone = if system == "rcl" && loss >= 30 && second > 8 {
                                0.0
                            } else {
                                share
                            };
                            (30, (30.0 * gone) as u64)
                        })
                        .collect();
                    self.records.push(record);
                }
            }
        }
    }
}

fn status(system: &str, placement: &str, size: u64) -> Status {
    match (system, placement, size) {
        ("iceoryx2", "remote", _) => Status::Skipped("it has no way between hosts".to_owned()),
        ("roscpp" | "rustdds" | "zenoh", "intra", _) => {
            Status::Skipped("peer.toml names no such placement".to_owned())
        }
        ("rcl", "remote", 4_194_304) => {
            Status::Hung("listener 0 was still running 5 s after its time; killed".to_owned())
        }
        ("rustdds", _, 4_194_304) => {
            Status::Failed("talker: exit code 101: index out of bounds <in> fragment".to_owned())
        }
        _ => Status::Complete,
    }
}
