//! The size of a page, which is the unit in which the system gives memory. It is 4 KiB on x86-64,
//! and 4, 16 or 64 KiB on ARM, where the configuration of the kernel decides.
//!
//! The layout of shared memory does not depend on the size of a page. Only the code that asks the
//! system for memory rounds to pages. The functions that round get the size as an argument, so that
//! tests can try each size on each machine.

use std::ops::Range;

/// The smallest size of a page on all systems. Tables in shared memory are aligned to it, and a
/// mapping, which begins at a page, has at least this alignment.
pub(crate) const SMALLEST_PAGE_BYTES: usize = 4096;

/// The sizes of a page on all systems.
#[cfg(test)]
pub(crate) const PAGE_SIZES: [usize; 3] = [SMALLEST_PAGE_BYTES, 16 << 10, 64 << 10];

/// The size of a page on this system.
pub(crate) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// The pages that contain these bytes, from the start of the first to the end of the last page.
pub(crate) fn pages_around(bytes: Range<usize>, page_bytes: usize) -> Range<usize> {
    bytes.start & !(page_bytes - 1)..bytes.end.next_multiple_of(page_bytes)
}

/// The pages that contain nothing but these bytes. The range is empty if there is no such page.
pub(crate) fn pages_within(bytes: Range<usize>, page_bytes: usize) -> Range<usize> {
    let start = bytes.start.next_multiple_of(page_bytes);
    start..(bytes.end & !(page_bytes - 1)).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_this_system_is_one_of_the_known_sizes() {
        assert!(PAGE_SIZES.contains(&page_bytes()), "{}", page_bytes());
    }

    #[test]
    fn bytes_lie_in_the_pages_around_them_and_pages_within_bytes_have_no_others() {
        for page in PAGE_SIZES {
            let edges = [0, 1, page / 2, page - 1, page, page + 1, 3 * page - 1, 3 * page];
            for (start, end) in edges.into_iter().flat_map(|start| edges.map(|end| (start, end))) {
                if start > end {
                    continue;
                }
                let (around, within) =
                    (pages_around(start..end, page), pages_within(start..end, page));
                for edge in [around.start, around.end, within.start, within.end] {
                    assert!(edge.is_multiple_of(page), "{start}..{end} with pages of {page}");
                }
                assert!(around.start <= start && start < around.start + page);
                assert!(end <= around.end && around.end < end + page);
                if within.is_empty() {
                    assert!(end - start < 2 * page);
                } else {
                    assert!(start <= within.start && within.end <= end);
                    assert!(start + page > within.start && within.end + page > end);
                }
            }
        }
    }

    #[test]
    fn whole_pages_are_their_own_pages() {
        for page in PAGE_SIZES {
            assert_eq!(pages_around(page..4 * page, page), page..4 * page);
            assert_eq!(pages_within(page..4 * page, page), page..4 * page);
            assert_eq!(pages_around(page - 1..page + 1, page), 0..2 * page);
            assert!(pages_within(page - 1..page + 1, page).is_empty());
        }
    }
}
