//! Measures the resources that a process and its `/dev/shm` take from the system.

use std::fs;
use std::os::unix::fs::MetadataExt;

use super::{Peer, Place};

/// The resources that are checked for leaks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resources {
    /// The memory of the process and its share of shared memory. The program's file is left out,
    /// because its share depends on how many other processes run it.
    pub(crate) memory_kb: u64,
    pub(crate) descriptors: usize,
    /// The number of files in the `/dev/shm` of the place.
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
