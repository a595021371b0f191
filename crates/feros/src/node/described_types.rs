//! The types that a node's endpoints have used, for nodes that request their descriptions.

use feros_message::interface::TypeDescription as DynamicDescription;
use feros_message::{TypeDescription, TypeHash};
use feros_sync::Mutex;

/// Descriptions, each once. A type stays when its last endpoint ends: counting its endpoints would
/// cost memory for each, and the description stays true.
#[derive(Default)]
pub(crate) struct DescribedTypes {
    /// Descriptions of generated types, in static memory; they are rendered on request.
    generated: Mutex<Vec<&'static TypeDescription>>,
    /// Descriptions of types that are known only at run time.
    dynamic: Mutex<Vec<DynamicDescription>>,
}

impl DescribedTypes {
    /// Adds the description of a generated type.
    pub(crate) fn note(&self, description: &'static TypeDescription) {
        note_once(&self.generated, description); // one description may be in memory twice
    }

    /// Adds the description of a type that is known only at run time.
    pub(crate) fn note_dynamic(&self, description: DynamicDescription) {
        note_once(&self.dynamic, description);
    }

    /// The description with this hash.
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
