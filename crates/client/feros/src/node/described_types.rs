//! The descriptions of the types that a node's endpoints have used, for nodes that request them.

use feros_message::interface::TypeDescription as DynamicDescription;
use feros_message::{TypeDescription, TypeHash};
use feros_sync::Mutex;

/// The descriptions, each stored once. A description stays after the last endpoint of its type has
/// been dropped: to count the endpoints would cost memory for each endpoint, and the description is
/// still correct.
#[derive(Default)]
pub(crate) struct DescribedTypes {
    /// The descriptions of generated types, which are in static memory and are converted on
    /// request.
    generated: Mutex<Vec<&'static TypeDescription>>,
    /// The descriptions of types that are known only at run time.
    dynamic: Mutex<Vec<DynamicDescription>>,
}

impl DescribedTypes {
    /// Adds the description of a generated type.
    pub(crate) fn note(&self, description: &'static TypeDescription) {
        // The content is compared and not the address, since static memory may have a description
        // twice.
        note_once(&self.generated, description);
    }

    /// Adds the description of a type that is known only at run time.
    pub(crate) fn note_dynamic(&self, description: DynamicDescription) {
        note_once(&self.dynamic, description);
    }

    /// Finds the description of the type with this hash.
    pub(crate) fn find(&self, hash: TypeHash) -> Option<DynamicDescription> {
        let generated = self.generated.lock().clone();
        let generated = generated.into_iter().map(TypeDescription::to_interface);
        let is_meant = |known: &DynamicDescription| known.type_hash() == hash;
        generated.into_iter().find(is_meant).or_else(|| {
            let dynamic = self.dynamic.lock();
            dynamic.iter().find(|known| is_meant(known)).cloned()
        })
    }
}

fn note_once<T: PartialEq>(known: &Mutex<Vec<T>>, description: T) {
    let mut known = known.lock();
    if !known.contains(&description) {
        known.push(description);
    }
}
