//! Other processes of the host: a handle that refers to one process only, the process segment as
//! publishers use it, and reports when processes end.

mod peer;
mod process_end;
mod process_handle;

pub(crate) use peer::open_file;
pub use peer::{Peer, PeerAttachment, PeerError, PeerSubscription};
pub use process_end::EndWatch;
pub(crate) use process_handle::ProcessHandle;
