//! The resources that a process and its `/dev/shm` take from the system.

use std::fs;
use std::os::unix::fs::MetadataExt;

use super::{Peer, Place};

/// The resources that are checked for leaks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resources {
    /// Memory of the process and its part of shared memory, without the program's file, whose part
    /// depends on the other processes that run it.
    pub(crate) memory_kb: u64,
    pub(crate) descriptors: usize,
    /// Files in the place's `/dev/shm`.
    pub(crate) shm_files: usize,
    pub(crate) shm_kb: u64,
}

pub(crate) fn resources(peer: &Peer, place: &Place) -> Resources {
    let proc = |what: &str| format!("/proc/{}/{what}", peer.pid());
    let rollup = fs::read_to_string(proc("smaps_rollup")).unwrap();
    let kb = |name: &str| -> u64 {
        let line = rollup.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    let count = |what: &str| fs::read_dir(proc(what)).unwrap().count();
    let files = place.files();
    let blocks: u64 = files.iter().filter_map(|file| Some(fs::metadata(file).ok()?.blocks())).sum();
    Resources {
        memory_kb: kb("Pss_Anon:") + kb("Pss_Shmem:"),
        descriptors: count("fd"),
        shm_files: files.len(),
        shm_kb: blocks / 2,
    }
}
