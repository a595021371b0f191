//! The course of a cell in which the processes of a robot find each other: they start, have all of
//! their matches, and rest; a newcomer joins them; all end by SIGINT.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use feros_lab_contract::now_nanos;
use feros_link::Counters;

use super::super::network::Network;
use super::super::participants::{NEWCOMER_WITHIN, Participant, starting_limit};
use super::super::program::Program;
use super::super::traffic::Traffic;
use super::{Phase, Session};

/// The interval at which the free memory of the machine is checked while processes start.
const LOOK: Duration = Duration::from_millis(250);
/// If less memory is free, the cell ends before the system ends programs of its choice.
const LEAST_FREE_BYTES: u64 = 512 << 20;

/// The course of a cell.
pub(super) struct Discovery {
    began_nanos: u64,
    before: Counted,
    /// The time at which the last process was started.
    started: Option<Instant>,
    at_rest: Option<Counted>,
    /// The number of processes without the newcomer, once it has been started.
    members: Option<usize>,
    interrupted_nanos: Option<u64>,
    values: BTreeMap<String, f64>,
}

/// The counters of the hosts and of their link.
#[derive(Clone, Copy)]
struct Counted {
    traffic: Traffic,
    /// Packets and bytes in both directions.
    wire: Option<(u64, u64)>,
}

impl Counted {
    fn now(network: &Network) -> Self {
        Self { traffic: network.traffic(), wire: network.counters().as_ref().map(both_ways) }
    }

    /// The packets and bytes on the link since earlier counters.
    fn wire_since(&self, before: &Self) -> Option<(f64, f64)> {
        let (after, before) = self.wire.zip(before.wire)?;
        let since = |after: u64, before: u64| after.saturating_sub(before) as f64;
        Some((since(after.0, before.0), since(after.1, before.1)))
    }
}

/// The packets and bytes that hosts handed over to the link.
fn both_ways(counters: &Counters) -> (u64, u64) {
    let Counters { forward, backward } = counters;
    (
        forward.offered_packets + backward.offered_packets,
        forward.offered_bytes + backward.offered_bytes,
    )
}

impl Discovery {
    /// Begins before the first process is started.
    pub(super) fn begin(network: &Network) -> Self {
        Self {
            before: Counted::now(network),
            began_nanos: now_nanos(),
            started: None,
            at_rest: None,
            members: None,
            interrupted_nanos: None,
            values: BTreeMap::new(),
        }
    }

    fn put(&mut self, name: &str, value: f64) {
        self.values.insert(name.to_owned(), value);
    }

    /// Notes the moment when every process has all of its matches.
    fn settle(&mut self, network: &Network) {
        let now = Counted::now(network);
        now.traffic.since(self.before.traffic).put_settling(&mut self.values);
        if let Some((packets, bytes)) = now.wire_since(&self.before) {
            self.put("settling_wire_packets", packets);
            self.put("settling_wire_bytes", bytes);
        }
    }

    /// Notes what was on the way while the processes were at rest.
    fn rested(&mut self, network: &Network, seconds: f64) {
        let Some(before) = self.at_rest.filter(|_| seconds > 0.0) else { return };
        let now = Counted::now(network);
        now.traffic.since(before.traffic).put_rest(seconds, &mut self.values);
        if let Some((packets, _)) = now.wire_since(&before) {
            self.put("rest_wire_packets_per_second", packets / seconds);
        }
    }

    /// All values of the cell, once its programs have ended.
    pub(super) fn finish(mut self, programs: &[Program]) -> BTreeMap<String, f64> {
        let count = self.members.unwrap_or(programs.len()).min(programs.len());
        let (members, newcomers) = programs.split_at(count);
        let times = |of: fn(&Program) -> Option<u64>| -> Vec<Option<u64>> {
            members.iter().map(of).collect()
        };
        let since = |nanos: u64, begin: u64| nanos.saturating_sub(begin) as f64 / 1e9;
        let settled = times(|program| program.settled_nanos);
        for (name, times) in [
            ("started_seconds", times(|program| Some(program.started_nanos))),
            ("ready_seconds", times(|program| program.ready_nanos)),
            ("settled_seconds", settled.clone()),
        ] {
            if let Some(last) = last_of_all(&times) {
                self.put(name, since(last, self.began_nanos));
            }
        }
        if let Some(median) = median_of_all(&settled) {
            self.put("settled_seconds_median", since(median, self.began_nanos));
        }
        let unsettled = settled.iter().filter(|time| time.is_none()).count();
        if unsettled > 0 {
            self.put("unsettled", unsettled as f64);
        }
        if let [newcomer] = newcomers
            && let Some(at) = newcomer.settled_nanos
        {
            self.put("newcomer_seconds", since(at, newcomer.started_nanos));
        }
        if let Some(interrupted) = self.interrupted_nanos
            && let Some(last) = last_of_all(&times(|program| program.ended_nanos))
            && members.iter().all(|program| !program.hung && !program.killed)
        {
            self.put("end_seconds", since(last, interrupted));
        }
        self.values
    }
}

/// The last of the times; `None` if one of them is not known, or if there is no time.
fn last_of_all(times: &[Option<u64>]) -> Option<u64> {
    times.iter().copied().collect::<Option<Vec<u64>>>()?.into_iter().max()
}

/// The time by which half of all have what they wait for; `None` if one of the times is not known.
fn median_of_all(times: &[Option<u64>]) -> Option<u64> {
    let mut times = times.iter().copied().collect::<Option<Vec<u64>>>()?;
    times.sort_unstable();
    times.get(times.len().checked_sub(1)? / 2).copied()
}

impl Session<'_> {
    /// The time that the processes may take, from the start of the last one, to have their matches.
    pub(super) fn settling_limit(&self) -> Duration {
        Duration::from_secs_f64(self.cell.procedure.timeout_seconds)
    }

    /// Enters the next phase when it is time; returns the reason if the cell cannot go on.
    pub(super) fn advance_discovery(&mut self, is_started: bool) -> Result<(), String> {
        let procedure = &self.cell.procedure;
        match self.phase {
            Phase::Starting => self.wait_until_settled(is_started)?,
            Phase::Settling(since) if since.elapsed().as_secs_f64() >= procedure.settle_seconds => {
                for program in &mut self.programs {
                    program.usage.begin();
                }
                let counted = Counted::now(self.network);
                self.phase = Phase::Measuring(Instant::now());
                if let Some(discovery) = &mut self.discovery {
                    discovery.at_rest = Some(counted);
                }
            }
            Phase::Measuring(since) if since.elapsed().as_secs_f64() >= procedure.seconds => {
                self.end_rest(since.elapsed().as_secs_f64())?;
            }
            Phase::UnderWay(since) => self.wait_for_newcomer(since)?,
            Phase::Settling(_) | Phase::Measuring(_) | Phase::Stopping(_) => {}
        }
        Ok(())
    }

    fn wait_until_settled(&mut self, is_started: bool) -> Result<(), String> {
        let (limit, starting_limit) = (self.settling_limit(), starting_limit(self.cell));
        let Some(discovery) = &mut self.discovery else { return Ok(()) };
        let count = self.programs.len();
        if self.last_look.elapsed() >= LOOK {
            self.last_look = Instant::now();
            check_memory(count)?;
        }
        if !is_started {
            let since = now_nanos().saturating_sub(discovery.began_nanos);
            let late = Duration::from_nanos(since) > limit + starting_limit;
            return match late {
                true => {
                    Err(format!("only {count} of {} processes started in time", self.cell.nodes))
                }
                false => Ok(()),
            };
        }
        let started = *discovery.started.get_or_insert_with(Instant::now);
        let open = self.programs.iter().filter(|program| program.settled_nanos.is_none()).count();
        if open > 0 {
            let seconds = limit.as_secs_f64();
            return match started.elapsed() > limit {
                true => Err(format!("{open} of {count} processes miss matches after {seconds} s")),
                false => Ok(()),
            };
        }
        discovery.settle(self.network);
        for program in &mut self.programs {
            program.usage.begin();
        }
        let nanos: u64 = self.programs.iter().map(|program| program.usage.nanos_before()).sum();
        discovery.put("settling_cpu_seconds", nanos as f64 / 1e9);
        self.phase = Phase::Settling(Instant::now());
        Ok(())
    }

    /// Ends the time at rest, and starts the newcomer.
    fn end_rest(&mut self, seconds: f64) -> Result<(), String> {
        for program in &mut self.programs {
            program.usage.sample();
        }
        if let Some(discovery) = &mut self.discovery {
            discovery.rested(self.network, seconds);
            discovery.members = Some(self.programs.len());
        }
        if self.cell.procedure.memory {
            for program in &mut self.programs {
                program.usage.look_at_memory();
            }
        }
        self.phase = Phase::UnderWay(Instant::now());
        self.start(&Participant::newcomer(self.cell))
    }

    /// Interrupts the members once the newcomer has its first message.
    fn wait_for_newcomer(&mut self, since: Instant) -> Result<(), String> {
        let newcomer = self.programs.last();
        if newcomer.is_some_and(|program| program.settled_nanos.is_some()) {
            if let Some(discovery) = &mut self.discovery {
                discovery.interrupted_nanos = Some(now_nanos());
            }
            // The newcomer, which is the last program, ends by itself.
            let members = self.programs.len() - 1;
            for program in &mut self.programs[..members] {
                program.interrupt();
            }
            self.phase = Phase::Stopping(Instant::now());
        } else if since.elapsed() > NEWCOMER_WITHIN {
            let seconds = NEWCOMER_WITHIN.as_secs();
            return Err(format!("a newcomer had no message after {seconds} s"));
        }
        Ok(())
    }
}

/// Fails if the machine has too little free memory for more processes.
fn check_memory(processes: usize) -> Result<(), String> {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    match available_bytes(&text) {
        Some(bytes) if bytes < LEAST_FREE_BYTES => Err(format!(
            "with {processes} processes, this machine has less than {} MB of free memory",
            LEAST_FREE_BYTES >> 20
        )),
        _ => Ok(()),
    }
}

/// The available memory in the text of `/proc/meminfo`.
fn available_bytes(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_all_counts_and_a_missing_one_leaves_no_number() {
        assert_eq!(last_of_all(&[Some(3), Some(9), Some(4)]), Some(9));
        assert_eq!(last_of_all(&[Some(3), None, Some(4)]), None);
        assert_eq!(last_of_all(&[]), None);
        assert_eq!(median_of_all(&[Some(9), Some(1), Some(4)]), Some(4));
        assert_eq!(median_of_all(&[Some(9), Some(1), Some(4), Some(5)]), Some(4));
        assert_eq!(median_of_all(&[Some(7)]), Some(7));
        assert_eq!(median_of_all(&[Some(3), None]), None);
        assert_eq!(median_of_all(&[]), None);
    }

    #[test]
    fn free_memory_is_read() {
        let text = "MemTotal:       24685000 kB\nMemAvailable:   2048 kB\n";
        assert_eq!(available_bytes(text), Some(2 << 20));
        for text in
            ["", "MemAvailable:", "MemAvailable: x kB", "MemAvailable: 99999999999999999999"]
        {
            assert_eq!(available_bytes(text), None, "{text}");
        }
    }
}
