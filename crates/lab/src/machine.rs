//! The machine on which a run is made, and what it allows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the machine allows the laboratory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Why there are no network namespaces, where there are none.
    pub no_remote: Option<String>,
    /// Why there is no real-time scheduling, where there is none.
    pub no_realtime: Option<String>,
}

impl Machine {
    /// Tries what the laboratory needs.
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
        Self { no_remote, no_realtime }
    }

    /// What the report says of it.
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
        put("clock source", read("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
        put(
            "socket buffers",
            read("/proc/sys/net/core/rmem_max").map(|bytes| format!("{bytes} bytes at most")),
        );
        put("real time", Some(self.no_realtime.clone().unwrap_or_else(|| "SCHED_FIFO is allowed".into())));
        put(
            "remote",
            Some(self.no_remote.clone().unwrap_or_else(|| "network namespaces are allowed".into())),
        );
        all
    }
}

fn read(path: &str) -> Option<String> {
    Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
}

fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Where a command is, as the shell would find it.
pub(crate) fn which(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}
