//! Names within one chunk of a key: `%` stands for each slash, because a slash would end the chunk.

use feros_engine::NamePrefix;

/// Returns the chunk of a name.
pub(super) fn mangle(name: &str) -> String {
    if name.is_empty() { "%".into() } else { name.replace('/', "%") }
}

/// Returns the name of a chunk.
pub(super) fn demangle(chunk: &str) -> String {
    chunk.replace('%', "/")
}

/// Returns the pattern for the chunks of all names below a namespace.
pub(super) fn chunk_below(namespace: &NamePrefix) -> String {
    format!("{}%$*", mangle(namespace.namespace()))
}
