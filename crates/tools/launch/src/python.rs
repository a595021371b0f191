//! Launch files in Python. A Python process, the host, runs the files and holds their objects; it
//! hands over their actions as data, which [`crate::plan`] evaluates like the actions of other
//! files. The command asks the host by the number of an object for what only Python can do.
//!
//! The two processes exchange lines of JSON on a socket, which is the standard input of the host.
//! Questions and answers are strictly nested, so only one side speaks at a time.

mod decode;
mod host;
mod message;
mod options;
mod session;

pub(crate) use decode::{Decoder, value_to_json};
pub(crate) use host::HostError;
pub(crate) use message::{Changes, Failure, Line, Message};
pub use options::{PythonHost, PythonOptions};
pub(crate) use session::Session;
