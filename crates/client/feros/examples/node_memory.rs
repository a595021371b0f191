//! Prints the cost of idle nodes in one process: the private memory for each further node, the
//! number of threads, and the rate of their wake-ups. The argument turns the service that describes
//! a node's types on or off: `node_memory on` or `node_memory off`.

use std::time::Duration;

use feros::{Context, Error, Executor, Node, NodeOptions};

const FIRST: usize = 20;
const MORE: usize = 200;
/// The time within which discovery and other initial work end.
const SETTLE: Duration = Duration::from_secs(5);
const WATCH: Duration = Duration::from_secs(10);

fn main() -> Result<(), Error> {
    let describes_types = std::env::args().nth(1).is_none_or(|argument| argument != "off");
    let context = Context::new(feros::ContextOptions::from_variables().map_err(Error::other)?)?;
    let create = |number: usize| {
        let options = NodeOptions::new(&format!("node_{number}"))
            .parameter_overrides([("start_type_description_service", describes_types)]);
        context.create_node_with(options)
    };
    // The first nodes are not counted, because they include the fixed cost of the process.
    let first = (0..FIRST).map(create).collect::<Result<Vec<Node>, _>>()?;
    let (wake_ups, threads) = watch(&first)?;
    println!("{FIRST} nodes on one executor: {threads} threads, {wake_ups:.1} wake-ups a second");
    let before = private_kilobytes()?;
    let _more = (FIRST..FIRST + MORE).map(create).collect::<Result<Vec<Node>, _>>()?;
    let nodes = private_kilobytes()? - before;
    println!("{:.1} KB a node, describing its types: {describes_types}", nodes / MORE as f64);
    Ok(())
}

/// Spins the nodes while nothing happens; returns the wake-ups per second of all threads, and the
/// number of threads.
fn watch(nodes: &[Node]) -> Result<(f64, usize), Error> {
    let executor = Executor::new();
    for node in nodes {
        executor.add_node(node)?;
    }
    let stopper = executor.stopper();
    let spinning = std::thread::Builder::new().name("spinning".to_owned());
    let spinning = spinning.spawn(move || executor.spin()).map_err(Error::other)?;
    std::thread::sleep(SETTLE);
    let (before, _) = switches()?;
    std::thread::sleep(WATCH);
    let (after, threads) = switches()?;
    stopper.stop();
    spinning.join().expect("nothing panics")?;
    #[expect(clippy::cast_precision_loss, reason = "a rate for display")]
    Ok(((after - before) as f64 / WATCH.as_secs_f64(), threads))
}

/// Returns how many times the threads of the process have gone to sleep so far, and the number of
/// threads.
fn switches() -> Result<(u64, usize), Error> {
    let (mut switches, mut threads) = (0, 0);
    for task in std::fs::read_dir("/proc/self/task").map_err(Error::other)? {
        let status = task.map_err(Error::other)?.path().join("status");
        let status = std::fs::read_to_string(status).map_err(Error::other)?;
        let found = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        switches += found.and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or_default();
        threads += 1;
    }
    Ok((switches, threads))
}

/// Returns the private memory that the process has written, as the system counts it.
fn private_kilobytes() -> Result<f64, Error> {
    let pages = std::fs::read_to_string("/proc/self/smaps_rollup").map_err(Error::other)?;
    let found = pages.lines().find_map(|line| line.strip_prefix("Private_Dirty:"));
    let number = found.and_then(|text| text.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| Error::other("the system does not say how much memory is private"))
}
