//! Cells that are no result of their system, though its programs did what was asked: no statistic
//! knows them, and the report says how many there are and why.

use crate::record::Record;

/// Why a record is left out; `None`: it is not.
pub(crate) fn reason(record: &Record) -> Option<String> {
    let took = record.transport.as_deref().unwrap_or("of another name");
    record.unexpected_transport.then(|| {
        format!("its messages took the transport {took}, which is not the one that is measured")
    })
}
