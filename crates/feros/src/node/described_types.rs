//! The types that a node's endpoints have used, for who asks what they are made of.

use feros_message::{TypeDescription, TypeHash};
use feros_sync::Mutex;

/// Descriptions in static memory, each once. A type stays when its last endpoint ends: to forget it
/// would cost every endpoint memory, and what is known is still true.
#[derive(Default)]
pub(crate) struct DescribedTypes(Mutex<Vec<&'static TypeDescription>>);

impl DescribedTypes {
    /// Knows this one from now on.
    pub(crate) fn note(&self, description: &'static TypeDescription) {
        let mut known = self.0.lock();
        // The same description may lie in memory twice.
        if !known.contains(&description) {
            known.push(description);
        }
    }

    /// The one of this hash.
    pub(crate) fn find(&self, hash: TypeHash) -> Option<feros_message::interface::TypeDescription> {
        let known = self.0.lock().clone();
        known.into_iter().map(TypeDescription::to_interface).find(|known| known.type_hash() == hash)
    }
}
