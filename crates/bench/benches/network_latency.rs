//! Feros beside Cyclone DDS, stock ROS 2 and the floors of the host: one-way latency over the
//! network transport.
//!
//! ```text
//! cargo bench -p feros-bench --bench network_latency -- [--quick] [--best-effort] [--rounds N] [--domain ID]
//! ```
//!
//! All systems are run in turn, size by size, round after round; each round begins with another
//! system. The table shows for each size the median over the rounds of each run's median and 99th
//! percentile.

use std::process::ExitCode;

use feros_bench::latency::{Bench, Cell, Latencies, Rounds, Size, System};

/// Payload, rate and messages a round. Large messages go slower: the slowest system needs 40 ms for
/// 4 MB here, and this measures latency, not a queue.
const CELLS: [(usize, u32, u32); 5] = [
    (256, 100, 200),
    (4 << 10, 100, 200),
    (64 << 10, 100, 200),
    (1 << 20, 40, 80),
    (4 << 20, 10, 40),
];

struct Options {
    quick: bool,
    reliable: bool,
    rounds: usize,
    domain: u32,
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    let bench = Bench::prepare();
    let mut failures = Vec::new();
    let results = run(&bench, &options, &mut failures);
    print_table(&results, &options);
    for system in System::ALL {
        if let Some(missing) = bench.not_installed(system) {
            println!(
                "{}: not installed ({}). Install it with: {}",
                system.title(),
                missing.reason,
                missing.install_with
            );
        }
    }
    for failure in &failures {
        eprintln!("failed: {failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    // Processes of earlier runs are gone, but their sockets' domain may be in use by someone else:
    // any of twenty.
    let mut options =
        Options { quick: false, reliable: true, rounds: 0, domain: 100 + std::process::id() % 20 };
    let number = |name: &str, value: Option<String>| -> Result<u32, String> {
        let value = value.ok_or(format!("{name} needs a number"))?;
        value.parse().map_err(|_| format!("{name} needs a number, not {value:?}"))
    };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--bench" => {} // cargo says it
            "--quick" => options.quick = true,
            "--best-effort" => options.reliable = false,
            "--rounds" => {
                options.rounds = number("--rounds", arguments.next())?.clamp(1, 1000) as usize
            }
            "--domain" => options.domain = number("--domain", arguments.next())?,
            other => {
                return Err(format!(
                    "{other:?} is not an option (known: --quick --best-effort --rounds --domain)"
                ));
            }
        }
    }
    if options.rounds == 0 {
        options.rounds = if options.quick { 2 } else { 5 };
    }
    Ok(options)
}

/// One row of the table: a size with the rounds of every system, in the order of [`System::ALL`].
struct Row {
    size_bytes: usize,
    systems: Vec<Rounds>,
}

fn run(bench: &Bench, options: &Options, failures: &mut Vec<String>) -> Vec<Row> {
    let mut rows: Vec<Row> = CELLS
        .iter()
        .map(|&(size_bytes, ..)| Row {
            size_bytes,
            systems: vec![Rounds::default(); System::ALL.len()],
        })
        .collect();
    for round in 0..options.rounds {
        for (row, &(size_bytes, rate_hz, count)) in rows.iter_mut().zip(&CELLS) {
            eprintln!("round {} of {}: {}", round + 1, options.rounds, Size(size_bytes));
            let count = if options.quick { count / 4 } else { count };
            let cell = Cell {
                size_bytes,
                rate_hz,
                count,
                reliable: options.reliable,
                domain: options.domain,
            };
            for turn in 0..System::ALL.len() {
                let index = (turn + round) % System::ALL.len();
                let system = System::ALL[index];
                let measured = bench.measure(system, &cell).unwrap_or_else(|error| {
                    failures.push(format!("{} at {}: {error}", system.title(), Size(size_bytes)));
                    None
                });
                row.systems[index].0.push(measured);
            }
        }
    }
    rows
}

fn print_table(rows: &[Row], options: &Options) {
    let reliability = if options.reliable { "reliable" } else { "best effort" };
    println!(
        "\none-way latency in microseconds, two processes, network transport, {reliability}, {} rounds",
        options.rounds
    );
    println!("each cell: median / 99th percentile (messages lost, if any)\n");
    print!("{:>8}", "size");
    for system in System::ALL {
        print!("  {:>22}", system.title());
    }
    println!("  {:>14}  {:>14}", "Feros/Cyclone", "Feros/rcl");
    for row in rows {
        print!("{:>8}", Size(row.size_bytes));
        for rounds in &row.systems {
            print!("  {:>22}", cell_text(rounds));
        }
        let [feros, cyclonedds, rcl, ..] = row.systems.as_slice() else { continue };
        println!(
            "  {:>14}  {:>14}",
            ratio_text(feros.ratio_to(cyclonedds)),
            ratio_text(feros.ratio_to(rcl))
        );
    }
    println!();
}

fn cell_text(rounds: &Rounds) -> String {
    let median = |value: fn(&Latencies) -> f64| rounds.median(value);
    let (Some(p50), Some(p99)) = (median(|l| l.p50_us), median(|l| l.p99_us)) else {
        return "-".into();
    };
    let decimals =
        |value: f64| if value < 10.0 { format!("{value:.2}") } else { format!("{value:.0}") };
    let lost = if rounds.lost() > 0 { format!(" ({})", rounds.lost()) } else { String::new() };
    format!("{} / {}{lost}", decimals(p50), decimals(p99))
}

fn ratio_text(ratio: Option<f64>) -> String {
    ratio.map_or("-".into(), |ratio| format!("{ratio:.2}"))
}
