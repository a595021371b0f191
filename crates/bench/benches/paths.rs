//! The three paths beside their references: the table of what they have to reach.
//!
//! ```text
//! cargo bench -p feros-bench --bench paths -- [--rounds N] [--sizes 256,4K,1M] [--rows process,built,..] [--rate HZ] [--awake] [--domain ID] [--details]
//! ```
//!
//! `--rate` is for those who look for a cause: it replaces the 1000 messages a second of the rows
//! that have that.
//!
//! `--awake` keeps the processors from halting while nothing is to be done, by threads of the
//! scheduling class that yields to every other. A processor that halts comes back with empty
//! caches; what a message then costs is mostly the fetching of the code and data that it touches.
//! Both are real: a robot whose processors have work, and one that rests between messages.
//!
//! Round after round, row by row and size by size, Feros and its reference run one right after the
//! other, each in processes of their own and in turn who begins. The table shows medians over the
//! rounds; a ratio is the median of the ratios within the rounds. Each run of Feros waits until its
//! matches take the wanted path and fails if a single message took another.

use std::process::{Command, ExitCode};

use feros_bench::child::{RunError, Running};
use feros_bench::latency::Size;
use feros_bench::paths::{Bench, Cell, FLAT, Goal, ROWS, Rounds, Row, spread};
use feros_bench::peer;

struct Options {
    rounds: usize,
    sizes: Vec<usize>,
    rows: Vec<Row>,
    domain: u32,
    details: bool,
    rate_hz: Option<u32>,
    awake: bool,
}

impl Options {
    fn cells(&self, row: &Row) -> Vec<Cell> {
        let is_wanted = |cell: &&Cell| self.sizes.is_empty() || self.sizes.contains(&cell.0);
        let with_rate = |&(size, rate, count): &Cell| match self.rate_hz {
            Some(wanted) if rate == 1000 => (size, wanted, wanted.max(200)),
            _ => (size, rate, count),
        };
        row.cells.iter().filter(is_wanted).map(with_rate).collect()
    }
}

/// A row with its sizes and what they gave.
struct Results {
    row: Row,
    sizes: Vec<(Cell, Rounds)>,
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    let bench = Bench::prepare(
        env!("CARGO_BIN_EXE_feros_paths"),
        env!("CARGO_BIN_EXE_iceoryx2_latency"),
        options.domain,
    );
    let before = load();
    let awake = options.awake.then(keep_awake).transpose();
    let mut awake = match awake {
        Ok(awake) => awake,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut failures = Vec::new();
    let results = run(&bench, &options, &mut failures);
    if awake.as_mut().is_some_and(|awake| !awake.is_running()) {
        failures.push(
            "the processors were not kept awake: the scheduling class SCHED_IDLE is refused".into(),
        );
    }
    let processors = if options.awake { "kept awake" } else { "free to halt" };
    println!(
        "\n{} rounds; processors {processors}; load of the host before and after: {before}; {}\n",
        options.rounds,
        load()
    );
    print_table(&results);
    if options.details {
        print_details(&results);
    }
    if let Some(missing) = bench.not_installed() {
        println!(
            "stock ROS 2: not installed ({}). Install it with: {}",
            missing.reason, missing.install_with
        );
    }
    for failure in &failures {
        eprintln!("failed: {failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        rounds: 5,
        sizes: Vec::new(),
        rows: ROWS.to_vec(),
        // The sockets of earlier runs' domain may be in use by someone else: any of twenty.
        domain: 100 + std::process::id() % 20,
        details: false,
        rate_hz: None,
        awake: false,
    };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        let number =
            |text: String| text.parse::<u32>().map_err(|_| format!("{text:?} is not a number"));
        match argument.as_str() {
            "--bench" => {} // cargo says it
            "--awake" => options.awake = true,
            "--details" => options.details = true,
            "--rounds" => options.rounds = number(value()?)?.clamp(1, 1000) as usize,
            "--domain" => options.domain = number(value()?)?,
            "--rate" => options.rate_hz = Some(number(value()?)?.clamp(1, 100_000)),
            "--sizes" => {
                options.sizes = value()?.split(',').map(parse_size).collect::<Result<_, _>>()?
            }
            "--rows" => options.rows = parse_rows(&value()?)?,
            _ => {
                return Err(format!(
                    "{argument:?} is not an option (known: --rounds --sizes --rows --rate --awake --domain --details)"
                ));
            }
        }
    }
    Ok(options)
}

fn parse_size(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.trim_end_matches(['K', 'M']) {
        digits if text.ends_with('K') => (digits, 1 << 10),
        digits if text.ends_with('M') => (digits, 1 << 20),
        digits => (digits, 1),
    };
    digits
        .parse::<usize>()
        .map(|number| number * unit)
        .map_err(|_| format!("{text:?} is not a size such as 256, 4K, 1M"))
}

fn parse_rows(text: &str) -> Result<Vec<Row>, String> {
    let row = |name: &str| {
        let known = || ROWS.map(|row| row.name).join(", ");
        ROWS.into_iter()
            .find(|row| row.name == name)
            .ok_or_else(|| format!("there is no row {name:?}, but {}", known()))
    };
    text.split(',').map(row).collect()
}

/// The threads of `--awake`, until this is dropped.
fn keep_awake() -> Result<Running, RunError> {
    Running::start(Command::new(peer::FLOORS).arg("awake"))
}

/// What the kernel says of the last minute.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}

fn run(bench: &Bench, options: &Options, failures: &mut Vec<String>) -> Vec<Results> {
    let fresh = |row: &Row| {
        let sizes = options.cells(row).into_iter().map(|cell| (cell, Rounds::default()));
        Results { row: *row, sizes: sizes.collect() }
    };
    let mut results: Vec<Results> = options.rows.iter().map(fresh).collect();
    for round in 0..options.rounds {
        for Results { row, sizes } in &mut results {
            for (cell, rounds) in sizes {
                let size = Size(cell.0);
                eprintln!("round {} of {}: {}, {}", round + 1, options.rounds, row.title, size);
                let mut both = [None, None];
                for turn in 0..2 {
                    let which = (turn + round) % 2;
                    let Some(program) = [Some(row.ours), row.reference][which] else { continue };
                    both[which] = bench.measure(program, *cell).unwrap_or_else(|error| {
                        failures.push(format!("{program:?} at {size}: {error}"));
                        None
                    });
                }
                rounds.0.push(both);
            }
        }
    }
    results
}

fn print_table(results: &[Results]) {
    println!(
        "one way, from the call that publishes to the callback; microseconds, median / 99th percentile\n"
    );
    println!("| path | size | rate | Feros | reference | reference is | result | goal | |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for Results { row, sizes } in results {
        for ((size, rate, _), rounds) in sizes {
            let rate =
                if matches!(row.goal, Goal::Share(_)) { "-".into() } else { format!("{rate}/s") };
            let result = rounds.result(row.goal);
            println!(
                "| {} | {} | {rate} | {} | {} | {} | {} | {} | {} |",
                row.title,
                Size(*size),
                cell_text(row.goal, rounds, 0),
                if row.reference.is_some() {
                    cell_text(row.goal, rounds, 1)
                } else {
                    fastest_text(rounds)
                },
                row.reference_title,
                result.map_or("-".into(), decimals),
                row.goal,
                verdict(result.map(|result| row.goal.is_reached_by(result))),
            );
        }
        if row.goal.is_flat() && sizes.len() > 1 {
            let flatness = |which| {
                let medians =
                    sizes.iter().map(|(_, rounds)| rounds.median(which, |run| run.p50_us));
                medians.collect::<Option<Vec<f64>>>().map(|medians| spread(&medians))
            };
            let text = |which| flatness(which).map_or("-".into(), decimals);
            println!(
                "| {} | slowest / fastest size | | {} | {} | | {} | <= {FLAT} | {} |",
                row.title,
                text(0),
                text(1),
                text(0),
                verdict(flatness(0).map(|flatness| flatness <= FLAT)),
            );
        }
    }
    println!();
}

fn verdict(is_reached: Option<bool>) -> &'static str {
    match is_reached {
        Some(true) => "reached",
        Some(false) => "missed",
        None => "not measured",
    }
}

fn cell_text(goal: Goal, rounds: &Rounds, which: usize) -> String {
    let median = |value: fn(&feros_bench::contract::Measured) -> f64| rounds.median(which, value);
    if matches!(goal, Goal::Share(_)) {
        return median(|run| run.payload_bytes_per_second)
            .map_or("-".into(), |bytes| format!("{:.0} MB/s", bytes / 1e6));
    }
    let (Some(p50), Some(p99)) = (median(|run| run.p50_us), median(|run| run.p99_us)) else {
        return "-".into();
    };
    format!("{} / {}", decimals(p50), decimals(p99))
}

fn fastest_text(rounds: &Rounds) -> String {
    let fastest = |run: &feros_bench::contract::Measured| {
        run.medians_us.iter().copied().fold(f64::INFINITY, f64::min)
    };
    rounds.median(0, fastest).map_or("-".into(), decimals)
}

fn decimals(value: f64) -> String {
    if value < 10.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}

/// The medians of every round, for those who look for a cause.
fn print_details(results: &[Results]) {
    for Results { row, sizes } in results {
        for ((size, ..), rounds) in sizes {
            let text = |which: usize| {
                let of_round = |round: &[Option<feros_bench::contract::Measured>; 2]| {
                    round[which].as_ref().map_or("-".into(), |run| decimals(run.p50_us))
                };
                rounds.0.iter().map(of_round).collect::<Vec<_>>().join(" ")
            };
            println!(
                "{:>14} {:>7}: Feros {}; reference {}",
                row.name,
                Size(*size),
                text(0),
                text(1)
            );
        }
    }
    println!();
}
