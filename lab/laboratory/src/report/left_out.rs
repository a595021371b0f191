//! Cells that do not count as results of their system, although its programs did their work.
//! Statistics ignore them, and the report gives their number and the reason.

use crate::record::Record;

/// The reason why a record is left out; `None` if it counts.
pub(crate) fn reason(record: &Record) -> Option<String> {
    let took = record.transport.as_deref().unwrap_or("of another name");
    record.unexpected_transport.then(|| {
        format!("its messages took the transport {took}, which is not the one that is measured")
    })
}
