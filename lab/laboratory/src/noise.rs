//! Disturbances of a measurement: processor time that was stolen or that other processes used,
//! load, frequency, clock jumps and suspension.

use std::collections::BTreeMap;

use rustix::time::{ClockId, clock_gettime};

/// Watches the disturbances from the beginning of a cell to its end.
pub(crate) struct NoiseWatch {
    processor: Option<ProcessorTime>,
    clocks: Clocks,
}

#[derive(Clone, Copy)]
struct ProcessorTime {
    total: u64,
    idle: u64,
    stolen: u64,
}

#[derive(Clone, Copy)]
struct Clocks {
    realtime: i128,
    monotonic: i128,
    /// The time on a clock that, unlike the monotonic clock, also advances while the machine
    /// sleeps.
    boottime: i128,
}

/// The difference that is allowed between two clocks, because NTP corrects one of them during a
/// cell, and because some time passes between reading the first and the second clock.
const CLOCKS_AGREE_NANOS: i128 = 20_000_000;

impl NoiseWatch {
    pub(crate) fn begin() -> Self {
        Self { processor: ProcessorTime::read(), clocks: Clocks::read() }
    }

    /// The noise by name, and a warning if a clock jumped or the machine slept.
    pub(crate) fn end(&self) -> (BTreeMap<String, f64>, Option<String>) {
        let mut noise = BTreeMap::new();
        if let (Some(before), Some(after)) = (self.processor, ProcessorTime::read()) {
            let total = after.total.saturating_sub(before.total).max(1) as f64;
            let idle = after.idle.saturating_sub(before.idle) as f64;
            noise.insert(
                "stolen_percent".into(),
                100.0 * after.stolen.saturating_sub(before.stolen) as f64 / total,
            );
            noise.insert("busy_percent".into(), (100.0 - 100.0 * idle / total).max(0.0));
        }
        if let Some(load) = std::fs::read_to_string("/proc/loadavg")
            .ok()
            .and_then(|text| text.split_ascii_whitespace().next()?.parse().ok())
        {
            noise.insert("load".into(), load);
        }
        if let Some(megahertz) = frequency_megahertz() {
            noise.insert("frequency_mhz".into(), megahertz);
        }
        let said = self.clocks.against(Clocks::read(), &mut noise);
        (noise, said)
    }
}

impl ProcessorTime {
    fn read() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        let fields: Vec<u64> = stat
            .lines()
            .next()?
            .split_ascii_whitespace()
            .skip(1)
            .filter_map(|field| field.parse().ok())
            .collect();
        // The fields are user nice system idle iowait irq softirq steal; user time already includes
        // guest time.
        let of = |index: usize| fields.get(index).copied();
        Some(Self { total: fields.iter().take(8).sum(), idle: of(3)? + of(4)?, stolen: of(7)? })
    }
}

impl Clocks {
    fn read() -> Self {
        let nanos = |clock| {
            let time = clock_gettime(clock);
            i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
        };
        Self {
            realtime: nanos(ClockId::Realtime),
            monotonic: nanos(ClockId::Monotonic),
            boottime: nanos(ClockId::Boottime),
        }
    }

    fn against(self, later: Self, noise: &mut BTreeMap<String, f64>) -> Option<String> {
        let passed = later.monotonic - self.monotonic;
        let slept = (later.boottime - self.boottime) - passed;
        // The wall clock also advances while the machine sleeps.
        let jumped = (later.realtime - self.realtime) - (later.boottime - self.boottime);
        let mut said = Vec::new();
        if slept > CLOCKS_AGREE_NANOS {
            noise.insert("suspended_seconds".into(), slept as f64 / 1e9);
            said.push(format!("the machine was suspended for {:.1} s", slept as f64 / 1e9));
        }
        if jumped.abs() > CLOCKS_AGREE_NANOS {
            noise.insert("clock_jump_seconds".into(), jumped as f64 / 1e9);
            said.push(format!("the wall clock jumped by {:.3} s", jumped as f64 / 1e9));
        }
        (!said.is_empty()).then(|| said.join(", "))
    }
}

fn frequency_megahertz() -> Option<f64> {
    let kilohertz =
        std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq").ok();
    if let Some(value) = kilohertz.and_then(|text| text.trim().parse::<f64>().ok()) {
        return Some(value / 1e3);
    }
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("cpu MHz"))?;
    line.rsplit_once(':')?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Clocks, NoiseWatch, ProcessorTime};

    #[test]
    fn processor_time_is_read_from_the_first_line() {
        let time = ProcessorTime::parse("cpu  10 1 5 80 4 0 0 7 3 0\ncpu0 1 1 1 1\n").unwrap();
        assert_eq!((time.total, time.idle, time.stolen), (107, 84, 7));
        assert!(ProcessorTime::parse("").is_none());
    }

    #[test]
    fn clocks_that_jump_and_machines_that_sleep_are_noticed() {
        let second = 1_000_000_000;
        let before = Clocks { realtime: 0, monotonic: 0, boottime: 0 };
        let mut noise = BTreeMap::new();
        let calm = Clocks { realtime: second, monotonic: second, boottime: second };
        assert_eq!(before.against(calm, &mut noise), None);
        assert!(noise.is_empty());
        let set_back = Clocks { realtime: -second, monotonic: second, boottime: second };
        assert!(before.against(set_back, &mut noise).unwrap().contains("jumped by -2.000 s"));
        let slept = Clocks { realtime: 6 * second, monotonic: second, boottime: 6 * second };
        assert!(before.against(slept, &mut noise).unwrap().contains("suspended for 5.0 s"));
        assert_eq!((noise["clock_jump_seconds"], noise["suspended_seconds"]), (-2.0, 5.0));
    }

    #[test]
    fn a_cell_has_its_noise() {
        let (noise, _) = NoiseWatch::begin().end();
        assert!(noise["load"] >= 0.0 && noise["busy_percent"] <= 100.0);
    }
}
