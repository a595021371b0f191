//! Measures how long processes take to find each other and to end together: `end_together
//! [PROCESSES [NODES [ROUNDS]]]`.
//!
//! Each process has nodes with a publisher and a subscription of one topic, and all processes
//! exchange messages through shared memory. All processes end together, once each publisher has
//! found all subscriptions and the processes are idle. With `early` as a fourth argument, they end
//! while discovery is still running. The lines that they log are counted.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use feros::{Context, Error, Executor, Node, Publisher, QosProfile, Subscription};
use feros_msgs::std_msgs::msg::UInt32;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: usize| {
        arguments.get(index).map_or(Ok(default), |text| text.parse()).map_err(Error::other)
    };
    if arguments.first().is_some_and(|first| first == "part") {
        return part(number(1, 30)?, number(2, 300)?);
    }
    let (processes, nodes, rounds) = (number(0, 10)?, number(1, 30)?, number(2, 20)?);
    let early = arguments.get(3).is_some_and(|word| word == "early");
    for round in 1..=rounds {
        let Round { found, processor, ended, lines } = end_together(processes, nodes, early)?;
        let ended: Vec<String> = ended.iter().map(|t| format!("{:.2}", t.as_secs_f64())).collect();
        println!(
            "round {round}: all found after {:.2} s and {processor:.1} s of the processors; \
             {lines} log lines; seconds until each had ended: {}",
            found.as_secs_f64(),
            ended.join(" ")
        );
    }
    Ok(())
}

/// Runs one of the processes. It prints a line when each publisher has found the wanted number of
/// subscriptions, and ends when its standard input ends.
fn part(nodes: usize, wanted: usize) -> Result<(), Error> {
    feros::logging::init(&feros::Arguments::default());
    let context = Context::new(feros::ContextOptions::from_variables().map_err(Error::other)?)?;
    let executor = Executor::new();
    let mut endpoints: Vec<(Node, Publisher<UInt32>, Subscription<UInt32>)> = Vec::new();
    for index in 0..nodes {
        let node = context.create_node(&format!("node_{}_{index}", std::process::id()))?;
        let publisher = node.create_publisher("together", QosProfile::default())?;
        let subscription =
            node.create_subscription("together", QosProfile::default(), |_: UInt32| {})?;
        executor.add_node(&node)?;
        endpoints.push((node, publisher, subscription));
    }
    let stopper = executor.stopper();
    let spinning = std::thread::Builder::new().name("spinning".to_owned());
    let spinning = spinning.spawn(move || executor.spin()).map_err(Error::other)?;
    while endpoints.iter().any(|(_, publisher, _)| publisher.subscription_count() < wanted) {
        std::thread::sleep(Duration::from_millis(50));
    }
    println!("found all");
    std::io::stdout().flush().map_err(Error::other)?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(Error::other)?;
    stopper.stop();
    context.shutdown(); // as a signal does
    Ok(spinning.join().expect("nothing panics")?)
}

struct Round {
    /// The time from the start of the first process until all processes had found all
    /// subscriptions.
    found: Duration,
    /// The processor time, in seconds, that all processes together had used until they were idle.
    processor: f64,
    /// The time that each process took to end, in the order of their ends.
    ended: Vec<Duration>,
    /// The number of lines that all processes together have logged.
    lines: usize,
}

fn end_together(processes: usize, nodes: usize, early: bool) -> Result<Round, Error> {
    let wanted = if early { nodes } else { processes * nodes };
    let program = std::env::current_exe().map_err(Error::other)?;
    let start = || {
        Command::new(&program)
            .args(["part", &nodes.to_string(), &wanted.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(Error::other)
    };
    let began = Instant::now();
    let mut children = (0..processes).map(|_| start()).collect::<Result<Vec<Child>, _>>()?;
    let logs = children.iter_mut().map(count_lines).collect::<Result<Vec<_>, _>>()?;
    for child in &mut children {
        let mut line = String::new();
        let output = child.stdout.as_mut().expect("it is piped");
        BufReader::new(output).read_line(&mut line).map_err(Error::other)?;
        if line.trim() != "found all" {
            return Err(Error::other("a process ended before it had found all others"));
        }
    }
    let found = began.elapsed();
    if !early {
        wait_for_rest(&children)?;
    }
    let processor = ticks_of(&children)? as f64 / 100.0;
    let began = Instant::now();
    children.iter_mut().for_each(|child| drop(child.stdin.take()));
    let mut took = vec![None; children.len()];
    while took.contains(&None) {
        for (child, took) in children.iter_mut().zip(&mut took) {
            if took.is_none() && child.try_wait().map_err(Error::other)?.is_some() {
                *took = Some(began.elapsed());
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut ended: Vec<Duration> = took.into_iter().flatten().collect();
    ended.sort_unstable();
    let lines = logs.into_iter().map(|log| log.join().expect("nothing panics")).sum::<usize>();
    Ok(Round { found, processor, ended, lines })
}

/// Counts the lines that a process logs until it ends.
fn count_lines(child: &mut Child) -> Result<JoinHandle<usize>, Error> {
    let mut log = child.stderr.take().expect("it is piped");
    let count = move || {
        let mut text = Vec::new();
        let _ = log.read_to_end(&mut text); // what has been read before an error is counted
        text.iter().filter(|byte| **byte == b'\n').count()
    };
    std::thread::Builder::new().name("log".to_owned()).spawn(count).map_err(Error::other)
}

/// Waits until the processes have used less than a fifth of a processor for two seconds, which
/// means that all connections are open.
fn wait_for_rest(children: &[Child]) -> Result<(), Error> {
    let mut before = ticks_of(children)?;
    loop {
        std::thread::sleep(Duration::from_secs(2));
        let now = ticks_of(children)?;
        if now - before <= 40 {
            return Ok(());
        }
        before = now;
    }
}

/// The processor time that the processes have used, in hundredths of a second.
fn ticks_of(children: &[Child]) -> Result<u64, Error> {
    let ticks = |child: &Child| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
        // The 12th and 13th words after the name are utime and stime; see proc(5).
        let words = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        Ok::<u64, std::io::Error>(
            words.skip(11).take(2).filter_map(|w| w.parse::<u64>().ok()).sum(),
        )
    };
    children.iter().map(ticks).sum::<Result<u64, _>>().map_err(Error::other)
}
