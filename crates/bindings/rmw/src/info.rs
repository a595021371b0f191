//! Converts the information about messages, requests and endpoints into the form of rmw.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::time::{SystemTime, UNIX_EPOCH};

use feros_engine::{Gid, MessageInfo};

use crate::arguments::{Out, given, ours};
use crate::error::{Failure, guarded};
use crate::ffi::{SEQUENCE_NUMBER_UNSUPPORTED, rmw_gid_t, rmw_message_info_t, rmw_ret_t};
use crate::identity::identifier;

/// Nanoseconds since the epoch; 0 if the time is unknown.
pub(crate) fn nanos(time: Option<SystemTime>) -> i64 {
    let since_epoch = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since_epoch.and_then(|duration| i64::try_from(duration.as_nanos()).ok()).unwrap_or(0)
}

/// A gid in the form of rmw.
pub(crate) fn gid(gid: Gid) -> rmw_gid_t {
    rmw_gid_t { implementation_identifier: identifier(), data: gid.0 }
}

/// Writes a gid for the host program.
///
/// # Safety
/// The pointer is null or points to memory for a gid.
pub(crate) unsafe fn report_gid(of_endpoint: Gid, out: *mut rmw_gid_t) -> Result<(), Failure> {
    // SAFETY: [outputs] there is memory for the gid.
    unsafe { Out::new(out, "gid") }?.set(gid(of_endpoint));
    Ok(())
}

impl From<MessageInfo> for rmw_message_info_t {
    fn from(info: MessageInfo) -> Self {
        Self {
            source_timestamp: nanos(info.source_timestamp),
            received_timestamp: nanos(info.received_timestamp),
            publication_sequence_number: info
                .publication_sequence_number
                .unwrap_or(SEQUENCE_NUMBER_UNSUPPORTED),
            reception_sequence_number: SEQUENCE_NUMBER_UNSUPPORTED,
            publisher_gid: gid(info.publisher_gid),
            // False, since messages that rclcpp delivers intra-process never reach this library.
            from_intra_process: false,
        }
    }
}

/// Writes whether two identities are the same.
///
/// # Safety
/// The gids are null or valid; the result is null or points to memory for a bool.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_compare_gids_equal(
    gid1: *const rmw_gid_t,
    gid2: *const rmw_gid_t,
    result: *mut bool,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [pointers] the gids are null or valid for the call. [outputs] There is memory for
        // the result.
        unsafe {
            given(gid1, "gid1")?;
            given(gid2, "gid2")?;
            let result = Out::new(result, "result")?;
            result.set(ours(gid1)?.data == ours(gid2)?.data);
        }
        Ok(())
    })
}
