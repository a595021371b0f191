//! Prints the private memory of one more node of a process, with or without the service that
//! describes the node's types: `node_memory on` or `node_memory off`.

use feros::{Context, Error, Node, NodeOptions};

const FIRST: usize = 20;
const MORE: usize = 200;

fn main() -> Result<(), Error> {
    let describes_types = std::env::args().nth(1).is_none_or(|argument| argument != "off");
    let context = Context::new(feros::ContextOptions::from_variables().map_err(Error::other)?)?;
    let create = |number: usize| {
        let options = NodeOptions::new(&format!("node_{number}"))
            .parameter_overrides([("start_type_description_service", describes_types)]);
        context.create_node_with(options)
    };
    // The first nodes bring along what a process has once.
    let _first = (0..FIRST).map(create).collect::<Result<Vec<Node>, _>>()?;
    let before = private_kilobytes()?;
    let _more = (FIRST..FIRST + MORE).map(create).collect::<Result<Vec<Node>, _>>()?;
    let nodes = private_kilobytes()? - before;
    println!("{:.1} KB a node, describing its types: {describes_types}", nodes / MORE as f64);
    Ok(())
}

/// Pages that the process has written, as the system counts them.
fn private_kilobytes() -> Result<f64, Error> {
    let pages = std::fs::read_to_string("/proc/self/smaps_rollup").map_err(Error::other)?;
    let found = pages.lines().find_map(|line| line.strip_prefix("Private_Dirty:"));
    let number = found.and_then(|text| text.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| Error::other("the system does not say how much memory is private"))
}
