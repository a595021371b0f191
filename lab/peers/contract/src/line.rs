//! The lines that a program says, one JSON object each.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line<'a> {
    Hello { contract: u32, system: &'a str, version: &'a str, role: &'a str },
    Ready {},
    Samples { subscription: usize, numbers: &'a [u64], nanos: &'a [u64], at_nanos: &'a [u64] },
    Published { numbers: &'a [u64], call_nanos: &'a [u64], at_nanos: &'a [u64] },
    Points(&'a Points<'a>),
    Layers { name: &'a str, numbers: &'a [u64], nanos: &'a [u64] },
    Values(&'a BTreeMap<&'a str, f64>),
    Note { text: &'a str },
    End { sent: u64, received: &'a [u64], bytes: &'a [u64], first_nanos: u64, last_nanos: u64 },
    Error { kind: Kind, text: &'a str },
}

/// When messages passed a point of their way, which the laboratory joins to layers.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Points<'a> {
    /// `publish`, `write_begin`, `taken`, ...
    pub name: &'a str,
    /// A word for the publisher, where one number is published more than once.
    pub by: Option<&'a str>,
    /// A word for the subscription, where a point concerns one alone.
    pub of: Option<&'a str>,
    /// The way, where a message may go several at once.
    pub transport: Option<&'a str>,
    /// Numbers of messages.
    pub numbers: &'a [u64],
    /// On the clock of all stamps.
    pub at_nanos: &'a [u64],
}

/// A line is made whole and written at once, so lines of several threads do not mix.
pub(crate) fn write(line: &Line<'_>) {
    let mut text = serde_json::to_vec(line).expect("numbers and strings become JSON");
    text.push(b'\n');
    let mut output = std::io::stdout().lock();
    if output.write_all(&text).and_then(|()| output.flush()).is_err() {
        // Nobody listens any more, so nobody would end this process either.
        std::process::exit(1);
    }
}

/// Ends the program from wherever it is.
pub(crate) fn fail(text: &str) -> ! {
    write(&Line::Error { kind: Kind::Failed, text });
    std::process::exit(1);
}

/// Why a program gives no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The system cannot do what is asked.
    Unsupported,
    /// It needs a licence.
    NoLicence,
    /// The other side did not come.
    NotMatched,
    /// Anything else.
    Failed,
}
