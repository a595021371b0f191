//! The machine of a run, and the permissions that the laboratory has on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The permissions that the laboratory has on the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The reason why network namespaces are unavailable, if they are.
    pub no_remote: Option<String>,
    /// The reason why real-time scheduling is unavailable, if it is.
    pub no_realtime: Option<String>,
    /// The reason why programs cannot lock their memory, if they cannot.
    pub no_memory_lock: Option<String>,
}

impl Machine {
    /// Tries each permission that the laboratory needs.
    pub fn explore() -> Self {
        let succeeds = |words: &[&str]| {
            Command::new(words[0])
                .args(&words[1..])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        };
        let root = rustix::process::geteuid().is_root();
        let no_remote = if !root {
            Some("remote placement needs root (network namespaces): run it with sudo".to_owned())
        } else if !Path::new("/dev/net/tun").exists() {
            Some("remote placement needs /dev/net/tun: modprobe tun".to_owned())
        } else if !succeeds(&["unshare", "--net", "true"]) {
            Some("this machine does not allow network namespaces (unshare --net fails)".to_owned())
        } else {
            None
        };
        let no_realtime = (!succeeds(&["chrt", "--fifo", "50", "true"])).then(|| {
            "SCHED_FIFO is refused here (chrt --fifo 50 fails): run it as root, or raise the limit rtprio"
                .to_owned()
        });
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
        Self { no_remote, no_realtime, no_memory_lock: no_memory_lock(&status, &limits) }
    }

    /// The facts about the machine for the report.
    pub fn environment(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        let mut put = |name: &str, value: Option<String>| {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                all.insert(name.to_owned(), value);
            }
        };
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        put("processor", field(&cpuinfo, "model name"));
        put("processors", std::thread::available_parallelism().ok().map(|count| count.to_string()));
        let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        put("memory", field(&meminfo, "MemTotal"));
        put("kernel", read("/proc/sys/kernel/osrelease"));
        let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
        put(
            "system",
            release
                .lines()
                .find_map(|line| Some(line.strip_prefix("PRETTY_NAME=")?.trim_matches('"').into())),
        );
        put("virtual machine", cpuinfo.contains(" hypervisor").then(|| "yes".to_owned()));
        put("governor", read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
        put("idle states", read("/sys/devices/system/cpu/cpuidle/current_driver"));
        put(
            "clock source",
            read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        );
        put(
            "socket buffers",
            read("/proc/sys/net/core/rmem_max").map(|bytes| format!("{bytes} bytes at most")),
        );
        put(
            "real time",
            Some(self.no_realtime.clone().unwrap_or_else(|| "SCHED_FIFO is allowed".into())),
        );
        put(
            "memory lock",
            Some(self.no_memory_lock.clone().unwrap_or_else(|| "mlockall is allowed".into())),
        );
        put(
            "remote",
            Some(self.no_remote.clone().unwrap_or_else(|| "network namespaces are allowed".into())),
        );
        all
    }
}

/// The bit of CAP_IPC_LOCK in the effective capabilities.
const IPC_LOCK: u64 = 1 << 14;

/// The reason why programs cannot lock all of their memory, if they cannot, derived from a
/// process's status and limits in /proc.
fn no_memory_lock(status: &str, limits: &str) -> Option<String> {
    let capabilities = field(status, "CapEff").and_then(|bits| u64::from_str_radix(&bits, 16).ok());
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max locked memory"));
    let limit =
        limit.and_then(|values| values.split_ascii_whitespace().next()).unwrap_or("unknown");
    if capabilities.is_some_and(|bits| bits & IPC_LOCK != 0) || limit == "unlimited" {
        return None;
    }
    Some(format!(
        "mlockall is refused here (the limit memlock is {limit} bytes): run it as root, or raise it (ulimit -l unlimited)"
    ))
}

fn read(path: &str) -> Option<String> {
    Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
}

fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Finds a command in the way that the shell does.
pub(crate) fn which(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::no_memory_lock;

    #[test]
    fn memory_is_locked_by_who_has_the_capability_or_no_limit() {
        let limits = |limit: &str| {
            format!("Max processes  9  9  processes\nMax locked memory  {limit}  8388608  bytes\n")
        };
        let (user, root) = ("CapEff:\t0000000000000000\n", "CapEff:\t000001ffffffffff\n");
        let refused = no_memory_lock(user, &limits("8388608")).expect("neither is there");
        assert!(refused.contains("8388608 bytes") && refused.contains("ulimit -l"), "{refused}");
        assert_eq!(no_memory_lock(root, &limits("8388608")), None);
        assert_eq!(no_memory_lock(user, &limits("unlimited")), None);
        assert!(
            no_memory_lock("CapEff:\t0000000000002000\n", &limits("0")).is_some(),
            "another capability"
        );
        assert!(no_memory_lock("", "").is_some(), "an unknown capability is not promised");
    }
}
