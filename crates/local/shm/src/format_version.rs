//! The version of the format of the data that processes share.

use std::hint::black_box;

const NUMBER: u32 = 6;

/// The number of the format after a mark, by which it is found in the file of a program. A test
/// changes it there: the two programs then differ in nothing but the format.
static MARKED: [u8; 20] = {
    let mut marked = *b"feros-shm-format....";
    let (_, number) = marked.split_at_mut(16);
    number.copy_from_slice(&NUMBER.to_le_bytes());
    marked
};

/// The format of announcements and of everything in shared memory.
pub fn format_version() -> u32 {
    // The compiler must read the number from the memory of the program.
    let [.., a, b, c, d] = *black_box(&MARKED);
    u32::from_le_bytes([a, b, c, d])
}
