//! The standard output of a program, in the order of the contract.

use std::collections::BTreeMap;
use std::process::ExitCode;

use crate::line::{Kind, Line, Points, write};
use crate::samples::{Published, Samples};
use crate::words::Role;

/// The version of the contract that this crate follows.
pub const CONTRACT: u32 = 1;
/// The exit code if a requirement is not installed or a licence is missing.
pub const NOT_INSTALLED: u8 = 69;

/// The reason why a program gives no result, in words.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    text: String,
}

impl Failure {
    /// Creates a failure of this kind.
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// The system does not support the request.
    pub fn unsupported(text: impl Into<String>) -> Self {
        Self::new(Kind::Unsupported, text)
    }

    /// The other side was not found.
    pub fn not_matched(text: impl Into<String>) -> Self {
        Self::new(Kind::NotMatched, text)
    }
}

/// This does not implement [`std::error::Error`], so that `?` can turn every error into a failure.
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

/// Proof that the last line was written; only [`Output::end`] creates it.
#[derive(Debug)]
pub struct Ended(());

/// The standard output of the program.
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

    /// Reports that the entities exist; a talker is also matched.
    pub fn ready(&self) {
        write(&Line::Ready {});
    }

    /// Reports that the program has had since this time, on the clock of
    /// [`now_nanos`](crate::now_nanos), what it waited for: a member all of its matches, a newcomer
    /// its first message.
    pub fn settled(&self, at_nanos: u64) {
        write(&Line::Settled { at_nanos });
    }

    /// Reports the times when messages passed a trace point.
    pub fn points(&self, points: &Points<'_>) {
        write(&Line::Points(points));
    }

    /// Reports single numbers by name. The numbers of several programs are added up.
    pub fn values(&self, values: &BTreeMap<&str, f64>) {
        write(&Line::Values(values));
    }

    /// Reports a sentence for the person who waits for the result.
    pub fn note(&self, text: &str) {
        write(&Line::Note { text });
    }

    /// Writes the remaining samples and the last line.
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
