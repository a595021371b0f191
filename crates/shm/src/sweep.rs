//! Removes the few files that iceoryx2's own clean-up misses when a process is killed at an unlucky moment: a connection that was
//! made but not yet entered by either side, a service whose last owner was just leaving, the folder of a node that had no lock
//! yet, a draft of our own.
//!
//! What a file belongs to can be told from names. iceoryx2 makes the tag of a port before anything else of it and removes it
//! last, and the tag of a service before its files; so a file that was seen first, and has no tag afterwards, belongs to nobody
//! or is just being removed. Where the name could come into use again, age decides.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::populate::SHM;

/// How old something must be that cannot be told from what is just being made.
const OLD: Duration = Duration::from_secs(10);

/// Removes what belongs to nobody; returns how many files. `service_of_ours` is the name of a service that nobody but the caller
/// makes: of any age, if it has no owner.
pub(crate) fn sweep(folder: &Path, prefix: &str, service_of_ours: Option<&str>) -> u64 {
    let found = InSharedMemory::list(prefix);
    let services = folder.join("services");
    let service_hashes: Vec<String> =
        names(&services).filter_map(|name| between(&name, prefix, ".service").map(str::to_owned)).collect();
    let nodes = Nodes::list(&folder.join("nodes"), prefix);
    let mut sweeper = Sweeper { removed: 0 };
    for (name, port) in &found.of_ports {
        if !nodes.tags.contains(port) {
            sweeper.remove(&Path::new(SHM).join(name));
        }
    }
    let file_of = |hash: &str| services.join(format!("{prefix}{hash}.service"));
    for hash in service_hashes.iter().filter(|hash| !nodes.tags.contains(*hash)) {
        let file = file_of(hash);
        let content = fs::read_to_string(&file).unwrap_or_default();
        let ours =
            service_of_ours.is_some_and(|name| content.contains(&format!("service_name = \"{name}\"")));
        if ours || is_old(&file) {
            let id = service_id(&content);
            for (name, _) in found.of_services.iter().filter(|(_, of)| Some(of) == id.as_ref()) {
                sweeper.remove(&Path::new(SHM).join(name));
            }
            sweeper.remove(&file);
        }
    }
    // Each service has one file in shared memory, made after and removed about when its description is.
    if found.of_services.len() > service_hashes.len() {
        let known: HashSet<String> = service_hashes
            .iter()
            .filter_map(|hash| service_id(&fs::read_to_string(file_of(hash)).unwrap_or_default()))
            .collect();
        for (name, _) in found.of_services.iter().filter(|(_, id)| !known.contains(id)) {
            sweeper.remove_if_old(&Path::new(SHM).join(name));
        }
    }
    for node in nodes.without_lock {
        sweeper.remove_if_old(&folder.join("nodes").join(node));
    }
    for draft in names(folder).filter(|name| name.starts_with("prefix.")) {
        sweeper.remove_if_old(&folder.join(draft));
    }
    sweeper.removed
}

struct Sweeper {
    removed: u64,
}

impl Sweeper {
    fn remove(&mut self, path: &Path) {
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        if removed.is_ok() {
            tracing::debug!(target: "feros::shm", path = %path.display(), "removed what a killed process left");
            self.removed += 1;
        }
    }

    fn remove_if_old(&mut self, path: &Path) {
        if is_old(path) {
            self.remove(path);
        }
    }
}

/// Files in `/dev/shm`, with what they belong to.
struct InSharedMemory {
    /// Data segments and connections, with the port without which nobody needs them: a connection is made by its receiver, and
    /// its sender opens it only while the receiver is registered.
    of_ports: Vec<(String, String)>,
    of_services: Vec<(String, String)>,
}

impl InSharedMemory {
    fn list(prefix: &str) -> Self {
        let mut this = Self { of_ports: Vec::new(), of_services: Vec::new() };
        for name in names(Path::new(SHM)) {
            let of = |suffix| Some(between(&name, prefix, suffix)?.rsplit('_').next()?.to_owned());
            if let Some(port) = of(".data").or_else(|| of(".connection")) {
                this.of_ports.push((name, port));
            } else if let Some(service) = of(".dynamic") {
                this.of_services.push((name, service));
            }
        }
        this
    }
}

struct Nodes {
    /// Of ports (numbers) and services (hashes).
    tags: HashSet<String>,
    without_lock: Vec<String>,
}

impl Nodes {
    fn list(nodes: &Path, prefix: &str) -> Self {
        let mut tags = HashSet::new();
        let mut folders = Vec::new();
        let mut locked = HashSet::new();
        for name in names(nodes) {
            if let Some(node) = between(&name, prefix, ".node_monitor") {
                locked.insert(node.to_owned());
            } else if name.bytes().all(|byte| byte.is_ascii_digit()) {
                folders.push(name);
            }
        }
        for node in &folders {
            tags.extend(names(&nodes.join(node)).filter_map(|name| {
                between(&name, prefix, ".port_tag")
                    .or_else(|| between(&name, prefix, ".service_tag"))
                    .map(str::to_owned)
            }));
        }
        folders.retain(|node| !locked.contains(node));
        Self { tags, without_lock: folders }
    }
}

/// The id of a service, as in the name of its file in shared memory, from its description.
fn service_id(description: &str) -> Option<String> {
    let section = description.split_once("[unique_service_id]")?.1;
    let number =
        |key: &str| -> Option<u64> { section.split_once(key)?.1.lines().next()?.trim().parse().ok() };
    let id = u128::from(number("payload_value =")?) | u128::from(number("unique_value =")?) << 64;
    Some(id.to_string())
}

fn between<'name>(name: &'name str, prefix: &str, suffix: &str) -> Option<&'name str> {
    name.strip_prefix(prefix)?.strip_suffix(suffix)
}

fn names(folder: &Path) -> impl Iterator<Item = String> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
}

fn is_old(path: &Path) -> bool {
    let age = fs::symlink_metadata(path).and_then(|found| found.modified()).map(|time| time.elapsed());
    matches!(age, Ok(Ok(age)) if age > OLD)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::{SHM, sweep};

    #[test]
    fn what_has_a_tag_or_may_be_in_the_making_stays() {
        let folder = Path::new(SHM).join(format!("feros-test-{}-sweep", std::process::id()));
        let prefix = format!("feros_test_{}_", std::process::id());
        let nodes = folder.join("nodes");
        let shm = |name: &str| Path::new(SHM).join(format!("{prefix}{name}"));
        fs::create_dir_all(nodes.join("10")).unwrap();
        fs::create_dir_all(nodes.join("11")).unwrap();
        fs::create_dir_all(nodes.join("12")).unwrap();
        fs::write(nodes.join(format!("{prefix}10.node_monitor")), "").unwrap();
        fs::write(nodes.join(format!("10/{prefix}77.port_tag")), "").unwrap();
        let old = SystemTime::now() - Duration::from_secs(60);
        fs::File::open(nodes.join("10")).unwrap().set_modified(old).unwrap();
        fs::File::open(nodes.join("11")).unwrap().set_modified(old).unwrap();
        let stay = ["h_77.data", "h_78_77.connection", "h_78.dynamic"];
        let go = ["h_78.data", "h_77_78.connection"];
        for name in stay.iter().chain(&go) {
            fs::write(shm(name), "").unwrap();
        }
        assert_eq!(sweep(&folder, &prefix, None), 3);
        assert!(stay.iter().all(|name| shm(name).exists()));
        assert!(!go.iter().any(|name| shm(name).exists()));
        let left = |name: &str| nodes.join(name).exists();
        assert_eq!(
            (left("10"), left("11"), left("12")),
            (true, false, true),
            "alive, dead, perhaps being made"
        );
        for name in stay {
            fs::remove_file(shm(name)).unwrap();
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
