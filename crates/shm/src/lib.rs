//! The host path: messages in shared memory between processes of one host.
