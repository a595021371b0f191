//! What a process and its `/dev/shm` take from the system.

use std::fs;
use std::os::unix::fs::MetadataExt;

use super::{Peer, Place};

/// What is looked at for leaks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resources {
    /// Memory of the process, its part of what it shares.
    pub(crate) pss_kb: u64,
    pub(crate) descriptors: usize,
    /// Files in the place's `/dev/shm`.
    pub(crate) shm_files: usize,
    pub(crate) shm_kb: u64,
}

pub(crate) fn resources(peer: &Peer, place: &Place) -> Resources {
    let proc = |what: &str| format!("/proc/{}/{what}", peer.pid());
    let rollup = fs::read_to_string(proc("smaps_rollup")).unwrap();
    let pss = rollup.lines().find_map(|line| line.strip_prefix("Pss:")).unwrap();
    let count = |what: &str| fs::read_dir(proc(what)).unwrap().count();
    let files = place.files();
    let blocks: u64 = files.iter().filter_map(|file| Some(fs::metadata(file).ok()?.blocks())).sum();
    Resources {
        pss_kb: pss.trim().trim_end_matches(" kB").parse().unwrap(),
        descriptors: count("fd"),
        shm_files: files.len(),
        shm_kb: blocks / 2,
    }
}
