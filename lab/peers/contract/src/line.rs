//! The lines that a program writes, one JSON object each.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line<'a> {
    Hello { contract: u32, system: &'a str, version: &'a str, role: &'a str },
    Ready {},
    Settled { at_nanos: u64 },
    Samples { subscription: usize, numbers: &'a [u64], nanos: &'a [u64], at_nanos: &'a [u64] },
    Published { numbers: &'a [u64], call_nanos: &'a [u64], at_nanos: &'a [u64] },
    Points(&'a Points<'a>),
    Values(&'a BTreeMap<&'a str, f64>),
    Note { text: &'a str },
    End { sent: u64, received: &'a [u64], bytes: &'a [u64], first_nanos: u64, last_nanos: u64 },
    Error { kind: Kind, text: &'a str },
}

/// The times when messages passed a trace point; the laboratory joins points into layers.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Points<'a> {
    /// The name, such as `publish`, `write_begin` or `taken`.
    pub name: &'a str,
    /// A word that identifies the publisher; needed if several publishers publish the same number.
    pub by: Option<&'a str>,
    /// A word that identifies the subscription, if the point concerns only one.
    pub of: Option<&'a str>,
    /// The transport; needed if a message may take several transports at the same time.
    pub transport: Option<&'a str>,
    /// The numbers of the messages.
    pub numbers: &'a [u64],
    /// The times, in nanoseconds of the monotonic clock.
    pub at_nanos: &'a [u64],
}

/// A line is built completely and written with one call, so that lines of several threads do not
/// mix.
pub(crate) fn write(line: &Line<'_>) {
    let mut text = serde_json::to_vec(line).expect("numbers and strings become JSON");
    text.push(b'\n');
    let mut output = std::io::stdout().lock();
    if output.write_all(&text).and_then(|()| output.flush()).is_err() {
        // If the laboratory no longer reads the output, it would not end this process either.
        std::process::exit(1);
    }
}

/// Reports a failure and ends the program from anywhere.
pub(crate) fn fail(text: &str) -> ! {
    write(&Line::Error { kind: Kind::Failed, text });
    std::process::exit(1);
}

/// The reason why a program gives no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The system does not support the request.
    Unsupported,
    /// The system needs a licence.
    NoLicence,
    /// The other side was not found.
    NotMatched,
    /// Any other reason.
    Failed,
}
