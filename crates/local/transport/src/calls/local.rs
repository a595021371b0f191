//! The number and the sample of a request or response that the engine does not see.

use feros_engine::{Gid, MessageInfo, Payload, Sample, Stamp};

/// The number of the first request that the engine does not see. The engine counts its requests
/// from 1 and never reaches this number.
pub(crate) const FIRST_LOCAL_NUMBER: i64 = 1 << 62;

/// Makes the sample of a request or response that the endpoint `own` received from `sender` over a
/// local transport.
pub(crate) fn local_sample(own: Gid, sender: Gid, stamp: Stamp, payload: Payload) -> Sample {
    let info = MessageInfo {
        source_timestamp: stamp.to_system_time(),
        received_timestamp: None,
        publication_sequence_number: None,
        publisher_gid: sender,
        from_same_session: sender.is_of_session_of(&own),
    };
    Sample { payload, info }
}
