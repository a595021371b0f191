//! The lines that a program says, one JSON object each.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;

use crate::samples::{Published, Samples};
use crate::words::Role;
use crate::{CONTRACT, NOT_INSTALLED};

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

/// Why a program gives no result, in words.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    text: String,
}

impl Failure {
    /// A failure of a kind.
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// The system cannot do what is asked.
    pub fn unsupported(text: impl Into<String>) -> Self {
        Self::new(Kind::Unsupported, text)
    }

    /// The other side did not come.
    pub fn not_matched(text: impl Into<String>) -> Self {
        Self::new(Kind::NotMatched, text)
    }
}

/// Not [`std::error::Error`], so that everything that is one becomes a failure with `?`.
impl std::fmt::Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(Kind::Failed, error.into().to_string())
    }
}

/// Proof that the last line was said; only [`Output::end`] makes it.
#[derive(Debug)]
pub struct Ended(());

/// Standard output.
#[derive(Debug)]
pub struct Output(());

impl Output {
    pub(crate) fn hello(system: &str, version: &str, role: Role) -> Self {
        write(&Line::Hello { contract: CONTRACT, system, version, role: role.word() });
        Self(())
    }

    pub(crate) fn error(&self, failure: &Failure) -> ExitCode {
        write(&Line::Error { kind: failure.kind, text: &failure.text });
        if failure.kind == Kind::NoLicence {
            ExitCode::from(NOT_INSTALLED)
        } else {
            ExitCode::FAILURE
        }
    }

    /// The entities exist; a talker is matched.
    pub fn ready(&self) {
        write(&Line::Ready {});
    }

    /// When messages passed a point.
    pub fn points(&self, points: &Points<'_>) {
        write(&Line::Points(points));
    }

    /// Time in a layer of each message's way, where the peer knows it.
    pub fn layer(&self, name: &str, numbers: &[u64], nanos: &[u64]) {
        write(&Line::Layers { name, numbers, nanos });
    }

    /// What is one number, by name: several programs' are added up.
    pub fn values(&self, values: &BTreeMap<&str, f64>) {
        write(&Line::Values(values));
    }

    /// A sentence for the person who waits for the result.
    pub fn note(&self, text: &str) {
        write(&Line::Note { text });
    }

    /// What is left, and the last line.
    pub fn end(&self, published: Option<&Published>, samples: &[Samples]) -> Ended {
        let sent = published.map(Published::finish).unwrap_or_default();
        let counts = samples.iter().map(Samples::finish).collect::<Vec<_>>();
        let sides = if counts.is_empty() { vec![sent] } else { counts.clone() };
        let some = || sides.iter().filter(|side| side.messages > 0);
        write(&Line::End {
            sent: sent.messages,
            received: &counts.iter().map(|counts| counts.messages).collect::<Vec<_>>(),
            bytes: &counts.iter().map(|counts| counts.bytes).collect::<Vec<_>>(),
            first_nanos: some().map(|side| side.first_nanos).min().unwrap_or(0),
            last_nanos: some().map(|side| side.last_nanos).max().unwrap_or(0),
        });
        Ended(())
    }
}
