//! Measures how much the emulated link carries on this machine, and how accurately, by sending
//! datagrams from one namespace to another without pause.
//!
//! `ceiling [datagram bytes [bit/s [seconds]]]`; without a rate, the link is as fast as possible.
//! Build it with `--release`.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use feros_link::{Link, LinkOptions, Namespace, host_address};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let bytes = usize::try_from(arguments.next().transpose()?.unwrap_or(1472))?;
    let rate = arguments.next().transpose()?;
    let seconds = arguments.next().transpose()?.unwrap_or(5);
    let (first, second) = (Namespace::new()?, Namespace::new()?);
    let options = LinkOptions { rate_bits_per_second: rate, ..LinkOptions::default() };
    let link = Link::between(&first, &second, options)?;
    let sender = first.run(|| UdpSocket::bind("0.0.0.0:7777"))??;
    let receiver = second.run(|| UdpSocket::bind("0.0.0.0:7777"))??;
    rustix::net::sockopt::set_socket_recv_buffer_size_force(&receiver, 16 << 20)?;
    receiver.set_read_timeout(Some(Duration::from_millis(100)))?;
    let stop = AtomicBool::new(false);
    let (mut sent, mut gaps) = (0u64, Vec::with_capacity(10_000_000));
    let begin = Instant::now();
    let cpu_before = cpu_of_link();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut buffer, mut before) = (vec![0; 65_536], None::<Instant>);
            while !stop.load(Ordering::Relaxed) {
                if receiver.recv(&mut buffer).is_ok() {
                    let now = Instant::now();
                    gaps.extend(before.map(|before| (now - before).as_nanos()));
                    before = Some(now);
                }
            }
        });
        let payload = vec![1; bytes];
        let wire_bits = (bytes.div_ceil(1480) * 62 + bytes) as f64 * 8.0;
        while begin.elapsed() < Duration::from_secs(seconds) {
            if let Some(rate) = rate {
                // Sends 5 % more than the line carries, in short bursts, so that the line is always
                // busy and its queue is always full.
                let due =
                    begin + Duration::from_secs_f64(sent as f64 * wire_bits / (rate as f64 * 1.05));
                if let Some(pause) = due
                    .checked_duration_since(Instant::now())
                    .filter(|pause| pause.as_micros() > 300)
                {
                    std::thread::sleep(pause);
                }
            }
            if sender.send_to(&payload, (host_address(1), 7777)).is_ok() {
                sent += 1;
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    let elapsed = begin.elapsed().as_secs_f64();
    let counters = link.counters().forward;
    let wire = (counters.bytes + 24 * counters.packets) as f64 * 8.0 / elapsed;
    println!("sent {sent} datagrams of {bytes} bytes, received {}", gaps.len() + 1);
    println!(
        "link: {:.1} Mbit/s on the line, {:.0} packets/s, its thread busy {:.0} %",
        wire / 1e6,
        counters.packets as f64 / elapsed,
        (cpu_of_link() - cpu_before) * 100.0 / elapsed
    );
    gaps.sort_unstable();
    if let Some(last) = gaps.len().checked_sub(1) {
        let at = |share: f64| gaps[(last as f64 * share) as usize] as f64 / 1e3;
        println!(
            "between receptions: 1 % {:.1}, median {:.1}, 99 % {:.1}, 99.9 % {:.1} us",
            at(0.01),
            at(0.5),
            at(0.99),
            at(0.999)
        );
    }
    println!("{counters:?}");
    Ok(())
}

/// The processor time that the link's thread has used, in seconds.
fn cpu_of_link() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let link = threads.map(|thread| thread.path()).find(|thread| {
        std::fs::read_to_string(thread.join("comm")).is_ok_and(|name| name.trim() == "feros-link")
    });
    let statistics = link.and_then(|thread| std::fs::read_to_string(thread.join("schedstat")).ok());
    let nanos = statistics.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanos.unwrap_or(f64::NAN) / 1e9
}
