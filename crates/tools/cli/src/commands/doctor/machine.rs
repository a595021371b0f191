//! Checks of the shared memory, the environment and the clock of this machine.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use feros::SharedMemoryOptions;
use feros_engine::SessionOptions;
use feros_engine::engine::{known, meeting_points};

use super::finding::Finding;

/// The free shared memory that large messages between processes need.
const WANTED_SHARED_BYTES: u64 = 64 << 20;
/// The variables that change the behaviour of Feros, apart from the variables of its engines.
const VARIABLES: [&str; 15] = [
    "ROS_DOMAIN_ID",
    "ROS_AUTOMATIC_DISCOVERY_RANGE",
    "ROS_STATIC_PEERS",
    meeting_points::VARIABLE,
    "ROS_LOCALHOST_ONLY",
    "ROS_DISTRO",
    "ROS_SECURITY_ENABLE",
    "RMW_IMPLEMENTATION",
    "AMENT_PREFIX_PATH",
    "FEROS_PREFIX_PATH",
    "FEROS_INTERFACES",
    "FEROS_ENGINE",
    "FEROS_ROS_DISTRO",
    "FEROS_TRANSPORTS",
    SharedMemoryOptions::MAX_SUBSCRIPTIONS_VARIABLE,
];

/// All variables that change the behaviour of Feros.
pub(super) fn variables() -> impl Iterator<Item = &'static str> {
    let of_engines = known::ALL.iter().flat_map(|engine| engine.variables.iter().copied());
    VARIABLES.into_iter().chain(of_engines)
}

pub(super) fn examine() -> Vec<Finding> {
    let mut findings = vec![shared_memory(Path::new("/dev/shm")), shared_memory_transport()];
    findings.extend(environment(|name| std::env::var_os(name)));
    findings.extend(clock());
    findings
}

fn shared_memory(path: &Path) -> Finding {
    const AREA: &str = "memory";
    let cure = "mount it: sudo mount -t tmpfs -o size=512M tmpfs /dev/shm (in a container: --shm-size=512m)";
    match rustix::fs::statvfs(path) {
        Ok(room) => {
            let free = room.f_bavail.saturating_mul(room.f_frsize);
            let text = format!("{} has {} MB free", path.display(), free >> 20);
            if rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_err() {
                Finding::warning(
                    AREA,
                    format!("{} cannot be written", path.display()),
                    "sudo chmod 1777 /dev/shm",
                )
            } else if free < WANTED_SHARED_BYTES {
                Finding::warning(AREA, format!("{text}, too little for large messages"), cure)
            } else {
                Finding::ok(AREA, text)
            }
        }
        Err(error) => {
            Finding::warning(AREA, format!("there is no {}: {error}", path.display()), cure)
        }
    }
}

/// Tries shared memory as a node does; the messages of a process that cannot share memory take the
/// network transport.
fn shared_memory_transport() -> Finding {
    const AREA: &str = "transports";
    match feros::check_shared_memory() {
        Ok(()) => {
            Finding::ok(AREA, "intra-process, shared memory and network: shared memory works")
        }
        Err(why) => Finding::warning(
            AREA,
            format!("intra-process and network only: {why}"),
            "free or mount /dev/shm; `feros topic info -v TOPIC` shows the transport of each match",
        ),
    }
}

fn environment(variable: impl Fn(&str) -> Option<OsString>) -> Vec<Finding> {
    const AREA: &str = "environment";
    let mut findings: Vec<Finding> = variables()
        .filter_map(|name| Some(Finding::ok(AREA, format!("{name}={}", variable(name)?.display()))))
        .collect();
    match SessionOptions::from_variables(&variable) {
        Ok(options) => findings.push(Finding::ok(
            AREA,
            format!("domain {}, discovery range {:?}", options.domain_id, options.discovery_range),
        )),
        Err(error) => {
            findings.push(Finding::error(
                AREA,
                error.to_string(),
                format!("correct or unset {}", error.variable),
            ));
        }
    }
    if let Some(Err(error)) = variable("FEROS_TRANSPORTS")
        .map(|value| value.to_string_lossy().parse::<feros::TransportSet>())
    {
        findings.push(Finding::error(
            AREA,
            format!("FEROS_TRANSPORTS: {error}"),
            "correct or unset FEROS_TRANSPORTS",
        ));
    }
    let name = SharedMemoryOptions::MAX_SUBSCRIPTIONS_VARIABLE;
    if let Err(error) = SharedMemoryOptions::default_max_subscriptions(variable(name)) {
        findings.push(Finding::error(
            AREA,
            format!("{name}: {error}"),
            format!("correct or unset {name}"),
        ));
    }
    if variable("ROS_SECURITY_ENABLE").is_some_and(|value| value == "true") {
        findings.push(Finding::warning(
            AREA,
            "ROS_SECURITY_ENABLE is set, but Feros does not support DDS Security: secured nodes \
             are not seen",
            "unset ROS_SECURITY_ENABLE",
        ));
    }
    findings
}

fn clock() -> Vec<Finding> {
    const AREA: &str = "clock";
    let mut findings = Vec::new();
    // This program was written in 2026, so a clock that shows an earlier time was never set.
    let made = UNIX_EPOCH + Duration::from_secs(1_767_225_600);
    if SystemTime::now() < made {
        findings.push(Finding::error(
            AREA,
            "the system's clock was never set: stamps and lifespans are wrong",
            "sudo timedatectl set-ntp true, or set the clock by hand: sudo date -s …",
        ));
    }
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    if let Ok(source) = std::fs::read_to_string(source) {
        let source = source.trim();
        if matches!(source, "hpet" | "acpi_pm" | "jiffies") {
            findings.push(Finding::warning(
                AREA,
                format!(
                    "the kernel reads the time from {source}, which takes microseconds each time"
                ),
                "boot with clocksource=tsc tsc=reliable if the processor's counter is stable",
            ));
        } else {
            findings.push(Finding::ok(AREA, format!("the kernel reads the time from {source}")));
        }
    }
    let signs = [
        ("/run/systemd/timesync/synchronized", "systemd-timesyncd"),
        ("/run/chrony/chronyd.pid", "chrony"),
        ("/run/ntpd.pid", "ntpd"),
        ("/run/ptp4l", "ptp4l"),
    ];
    match signs.iter().find(|(path, _)| Path::new(path).exists()) {
        Some((_, name)) => {
            findings.push(Finding::ok(AREA, format!("the clock is synchronized by {name}")))
        }
        None => findings.push(Finding::ok(
            AREA,
            "no time service was found: between machines, stamps are only as good as their clocks",
        )),
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::finding::Status;

    #[test]
    fn the_environment_is_checked() {
        let set = |pairs: &'static [(&str, &str)]| {
            move |name: &str| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into())
            }
        };
        let findings = environment(set(&[("ROS_DOMAIN_ID", "7")]));
        assert!(findings.iter().all(|finding| finding.status == Status::Ok));
        assert!(findings.iter().any(|finding| finding.text.starts_with("domain 7")));
        let findings = environment(set(&[("ROS_DOMAIN_ID", "many")]));
        let error = findings.iter().find(|finding| finding.status == Status::Error);
        assert!(error.is_some_and(|e| e.text.contains("ROS_DOMAIN_ID") && e.cure.is_some()));
        let findings = environment(set(&[("FEROS_MAX_SUBSCRIPTIONS", "0")]));
        let error = findings.iter().find(|finding| finding.status == Status::Error);
        assert!(error.is_some_and(|e| e.text.contains("from 1 to 1024") && e.cure.is_some()));
        let findings = environment(set(&[("ROS_SECURITY_ENABLE", "true")]));
        assert!(findings.iter().any(|finding| finding.status == Status::Warning));
    }

    #[test]
    fn absent_shared_memory_is_a_warning() {
        assert_eq!(shared_memory(Path::new("/nowhere/at/all")).status, Status::Warning);
    }
}
