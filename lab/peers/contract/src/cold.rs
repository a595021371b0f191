//! Makes caches cold between two messages, for a simulated cache that counts the cache lines that a
//! message touches.

use std::hint::black_box;
use std::sync::OnceLock;

/// A number of bytes that exceeds the simulated cache of `scripts/count_message.py`.
const BYTES: usize = 4 << 20;
const LINE_BYTES: usize = 64;

/// Reads enough memory to evict everything else from a simulated cache, if `FEROS_LAB_COLD` is 1.
#[inline(never)]
pub(crate) fn make_cold() {
    static MEMORY: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    let asked = || std::env::var("FEROS_LAB_COLD").is_ok_and(|asked| asked == "1");
    let memory = MEMORY.get_or_init(|| asked().then(|| vec![1; BYTES]));
    if let Some(memory) = memory {
        // This uses no iterator, since functions of the iterator that are not inlined would be
        // counted.
        let mut at = 0;
        while at < memory.len() {
            black_box(memory[at]);
            at += LINE_BYTES;
        }
    }
}
