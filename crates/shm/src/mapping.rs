//! Which addresses of this process lie in a publisher's shared memory, so that no place that comes
//! from there is read unchecked.

use std::fs;
use std::ops::Range;

/// Enough for a pool and the one it replaced.
const REMEMBERED: usize = 2;

/// The mappings that samples were found in; asking the kernel is for the first sample of each only.
#[derive(Default)]
pub(crate) struct Mappings {
    known: [Range<usize>; REMEMBERED],
    oldest: usize,
}

impl Mappings {
    /// How many bytes can be read from `address` on, when it lies in shared memory whose name
    /// begins with `prefix`.
    pub(crate) fn room_from(&mut self, address: usize, prefix: &str) -> Option<usize> {
        if let Some(range) = self.known.iter().find(|range| range.contains(&address)) {
            return Some(range.end - address);
        }
        self.ask_kernel(address, prefix)
    }

    #[cold]
    fn ask_kernel(&mut self, address: usize, prefix: &str) -> Option<usize> {
        let maps = fs::read_to_string("/proc/self/maps").ok()?;
        let range = maps
            .lines()
            .find_map(|line| data_segment(line, prefix).filter(|range| range.contains(&address)))?;
        let room = range.end - address;
        self.known[self.oldest] = range;
        self.oldest = (self.oldest + 1) % REMEMBERED;
        Some(room)
    }
}

/// The address range of a line of `/proc/self/maps`, when it is a readable data segment of ours.
fn data_segment(line: &str, prefix: &str) -> Option<Range<usize>> {
    let name = line.split_once("/dev/shm/")?.1;
    let name = name.strip_suffix(" (deleted)").unwrap_or(name);
    if !name.starts_with(prefix) || !name.ends_with(".data") {
        return None;
    }
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    rest.starts_with('r').then_some(())?;
    Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::data_segment;

    #[test]
    fn only_readable_data_segments_of_the_prefix_count() {
        let line = |name: &str| format!("7f00-7f80 r--s 00000000 00:18 12  {name}");
        let prefix = "feros_0_";
        assert_eq!(data_segment(&line("/dev/shm/feros_0_x_1.data"), prefix), Some(0x7f00..0x7f80));
        assert_eq!(
            data_segment(&line("/dev/shm/feros_0_x_1.data (deleted)"), prefix),
            Some(0x7f00..0x7f80)
        );
        assert_eq!(data_segment(&line("/dev/shm/feros_0_x_1.connection"), prefix), None);
        assert_eq!(data_segment(&line("/dev/shm/other_1.data"), prefix), None);
        assert_eq!(
            data_segment("7f00-7f80 ---s 00000000 00:18 12 /dev/shm/feros_0_x_1.data", prefix),
            None
        );
    }
}
