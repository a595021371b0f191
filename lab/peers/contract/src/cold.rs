//! Cold caches between two messages, where a simulated cache counts which lines a message touches.

use std::hint::black_box;
use std::sync::OnceLock;

/// More than the simulated cache holds (`scripts/count_message.py`).
const BYTES: usize = 4 << 20;
const LINE_BYTES: usize = 64;

/// Reads so much that a simulated cache holds nothing else, where `FEROS_LAB_COLD` is 1.
#[inline(never)]
pub(crate) fn make_cold() {
    static MEMORY: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    let asked = || std::env::var("FEROS_LAB_COLD").is_ok_and(|asked| asked == "1");
    let memory = MEMORY.get_or_init(|| asked().then(|| vec![1; BYTES]));
    if let Some(memory) = memory {
        // No iterator: functions of it that are not inlined would be counted.
        let mut at = 0;
        while at < memory.len() {
            black_box(memory[at]);
            at += LINE_BYTES;
        }
    }
}
