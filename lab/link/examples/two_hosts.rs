//! A link for manual use: runs a shell command on each of two hosts, and prints the counters of the
//! link.
//!
//! `two_hosts [--rate 54M] [--loss 10%] [--burst 5] [--delay 2ms] [--jitter 1ms] [--queue 100]
//! [--seed 1] FIRST SECOND`, for example `two_hosts --rate 54M --loss 10% 'ping -c 20 10.77.0.2'
//! 'sleep 25'`. Without `--queue`, senders wait for the line. The example ends when FIRST ends;
//! SECOND then has two seconds to end by itself.

use std::time::{Duration, Instant};

use feros_link::{Link, LinkOptions, Namespace};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = LinkOptions { backpressure: true, ..LinkOptions::default() };
    let mut commands = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let Some(name) = argument.strip_prefix("--") else {
            commands.push(argument);
            continue;
        };
        let value = arguments.next().ok_or(format!("--{name} needs a value"))?;
        match name {
            "rate" => options.rate_bits_per_second = Some(quantity(&value)? as u64),
            "loss" => options.loss = quantity(&value)?,
            "burst" => options.burst = Some(quantity(&value)?),
            "delay" => options.delay = Duration::from_secs_f64(quantity(&value)?),
            "jitter" => options.jitter = Duration::from_secs_f64(quantity(&value)?),
            "queue" => {
                (options.queue_packets, options.backpressure) =
                    (Some(quantity(&value)? as u64), false)
            }
            "seed" => options.seed = value.parse()?,
            _ => return Err(format!("--{name} is not known").into()),
        }
    }
    let [first_command, second_command] = &commands[..] else {
        return Err("give two commands, for the first host and for the second".into());
    };
    let (first, second) = (Namespace::new()?, Namespace::new()?);
    let link = Link::between(&first, &second, options)?;
    let mut receiver = second.command("sh").args(["-c", second_command]).spawn()?;
    let status = first.command("sh").args(["-c", first_command]).status()?;
    let end = Instant::now();
    while receiver.try_wait()?.is_none() && end.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let counters = link.counters();
    drop((link, first, second));
    receiver.wait()?;
    eprintln!(
        "first: {status}\nforward: {:?}\nbackward: {:?}",
        counters.forward, counters.backward
    );
    Ok(())
}

/// A number with its unit: 54M, 10%, 2ms.
fn quantity(text: &str) -> Result<f64, Box<dyn std::error::Error>> {
    let units =
        [("us", 1e-6), ("ms", 1e-3), ("%", 0.01), ("s", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9)];
    let (number, unit) = units
        .iter()
        .find_map(|&(name, unit)| Some((text.strip_suffix(name)?, unit)))
        .unwrap_or((text, 1.0));
    let number: f64 =
        number.parse().map_err(|_| format!("{text} is not a quantity such as 54M, 10% or 2ms"))?;
    Ok(number * unit)
}
