//! The location of a process, which consists of the properties that must be equal in two processes
//! that share memory.

use std::os::linux::fs::MetadataExt;
use std::sync::OnceLock;

/// The location of a process, as far as sharing memory is concerned.
///
/// The parts are stored separately, so that error messages can name the part that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HostId {
    /// Identifies the running kernel. This is the boot id of the kernel, whose 128 random bits are
    /// combined to 64 bits. It is the same in all containers of a host.
    pub boot: u64,
    /// The inode of the user namespace. User ids have the same meaning only within one namespace.
    pub user_namespace: u64,
    /// The inode of the PID namespace. Process ids have the same meaning only within one namespace.
    pub pid_namespace: u64,
    /// The device number of `/dev/shm`.
    pub dev_shm: u64,
}

impl HostId {
    /// The location of this process, or `None` if `/proc` or `/dev/shm` cannot be read. They are
    /// read only once.
    pub fn of_this_process() -> Option<Self> {
        static HOST_ID: OnceLock<Option<HostId>> = OnceLock::new();
        *HOST_ID.get_or_init(|| {
            Some(Self {
                boot: fold_uuid(&feros_trace::boot_id()?)?,
                user_namespace: inode("/proc/self/ns/user")?,
                pid_namespace: inode("/proc/self/ns/pid")?,
                dev_shm: std::fs::metadata("/dev/shm")
                    .ok()
                    .filter(std::fs::Metadata::is_dir)?
                    .st_dev(),
            })
        })
    }
}

fn inode(path: &str) -> Option<u64> {
    std::fs::metadata(path).ok().map(|metadata| metadata.st_ino())
}

/// Combines the halves of a UUID, both of which are random, with exclusive or.
fn fold_uuid(text: &str) -> Option<u64> {
    let digits: String = text.chars().filter(|&character| character != '-').collect();
    if digits.len() != 32 {
        return None;
    }
    let number = u128::from_str_radix(&digits, 16).ok()?;
    Some((number >> 64) as u64 ^ number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_a_place_that_stays() {
        let id = HostId::of_this_process().unwrap();
        assert_eq!(HostId::of_this_process(), Some(id));
        assert_ne!(id.boot, 0);
        assert_ne!(id.user_namespace, id.pid_namespace);
    }

    #[test]
    fn a_uuid_is_folded_and_nothing_else_is() {
        assert_eq!(fold_uuid("00000000-0000-0001-0000-000000000003"), Some(2));
        for text in [
            "",
            "00000000-0000-0001-0000-00000000003",
            "+0000000-0000-0001-0000-0000000000030",
            "zz",
        ] {
            assert_eq!(fold_uuid(text), None, "{text:?}");
        }
    }
}
