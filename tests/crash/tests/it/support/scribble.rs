//! Overwrites files that other processes share.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use super::Random;

/// Overwrites a run of random length within a part of a file with random bytes, zeros, or ones.
pub(crate) fn scribble(file: &File, (from, to): (u64, u64), random: &mut Random) {
    let at = from + random.below(to - from);
    let length = (1 + random.below(64)).min(to - at) as usize;
    let bytes: Vec<u8> = match random.below(4) {
        0 => vec![0; length],
        1 => vec![0xff; length],
        _ => (0..length).map(|_| random.next() as u8).collect(),
    };
    file.write_all_at(&bytes, at).unwrap();
}
