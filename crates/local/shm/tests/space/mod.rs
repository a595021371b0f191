//! The space in `/dev/shm` of one test.

use feros_shm::HostNode;

/// Removes the space at the end, even after a failed test. The variable is declared before the
/// node, so that it is dropped after the node.
pub(crate) struct Space(pub(crate) String);

impl Drop for Space {
    fn drop(&mut self) {
        let _ = HostNode::remove_space(&self.0);
    }
}
