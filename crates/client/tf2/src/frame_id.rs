//! The number of a frame: samples and chains refer to frames by number, which makes comparisons
//! cheap.

/// The number of a frame in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FrameId(u32);

impl FrameId {
    pub(crate) const fn new(number: u32) -> Self {
        Self(number)
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}
