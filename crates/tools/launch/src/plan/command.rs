//! The commands of `$(command ...)` substitutions. They run while a file is planned. The output of
//! a command, such as the robot description that xacro writes, replaces the substitution.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::process::{Command, Stdio};

use feros_process::{ChildGroup, EndSignals, Followed};

use super::evaluator::MAX_TEXT_BYTES;
use crate::commandline;
use crate::error::{hint, shown};

/// The limit on the bytes of standard error that a message shows.
const SHOWN_BYTES: u64 = 1000;

/// The reaction to a command that writes to standard error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OnStderr {
    Fail,
    Warn,
    Ignore,
    Capture,
}

impl OnStderr {
    const NAMES: [(&'static str, Self); 4] = [
        ("fail", Self::Fail),
        ("warn", Self::Warn),
        ("ignore", Self::Ignore),
        ("capture", Self::Capture),
    ];

    pub(super) fn from_name(name: &str) -> Result<Self, String> {
        let known = Self::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, rule)| *rule).ok_or_else(|| {
            let names = Self::NAMES.iter().map(|(name, _)| *name);
            format!(
                "{} is not a way in which `command` handles standard error{}",
                shown(name),
                hint(name, names)
            )
        })
    }
}

/// The output of a command.
pub(super) struct Printed {
    pub(super) text: String,
    /// The warning if the command succeeded, but wrote to standard error with [`OnStderr::Warn`].
    pub(super) warning: Option<String>,
}

/// Runs a command to its end, with these changes to the environment. `None` removes a variable. If
/// one of the signals arrives, the command's process group is ended.
///
/// # Errors
/// Returns the reason why there is no output, as text for users.
pub(super) fn run<'a>(
    line: &str,
    on_stderr: OnStderr,
    environment: impl Iterator<Item = (&'a String, &'a Option<String>)>,
    signals: &EndSignals,
) -> Result<Printed, String> {
    let words = commandline::split_words(line)?;
    let Some((program, arguments)) = words.split_first() else {
        return Err("`command` without a command".to_owned());
    };
    let fail = |problem: String| format!("the command {} {problem}", shown(line));
    if signals.received().is_some() {
        return Err(fail("is not run, because a signal ends the launch".to_owned()));
    }
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    for (name, value) in environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let finished = finish(command, on_stderr, signals)
        .map_err(|error| fail(format!("cannot be run: {error}{}", cure(program, &error))))?;
    let Finished { followed, text, errors } = finished;
    let status = match followed {
        Followed::Ended(status) => status,
        Followed::Refused => {
            return Err(fail(format!("printed more than {MAX_TEXT_BYTES} bytes")));
        }
        Followed::Signalled(_) => {
            return Err(fail("was ended, because a signal ends the launch".to_owned()));
        }
    };
    if !status.success() {
        return Err(fail(format!("ended with {status}{}", after_colon(&errors))));
    }
    let noise = format!("wrote to standard error{}", after_colon(&errors));
    match on_stderr {
        OnStderr::Fail if !errors.is_empty() => {
            Err(fail(format!("{noise} (add `warn` or `ignore` to allow that)")))
        }
        OnStderr::Warn if !errors.is_empty() => Ok(Printed { text, warning: Some(fail(noise)) }),
        _ => Ok(Printed { text, warning: None }),
    }
}

/// What to install if a known program is missing.
fn cure(program: &str, error: &std::io::Error) -> &'static str {
    match (program, error.kind()) {
        ("xacro", ErrorKind::NotFound) => {
            "; xacro is a program in Python: install it (pip install xacro), or activate the \
             environment that has it"
        }
        _ => "",
    }
}

struct Finished {
    followed: Followed,
    text: String,
    /// The start of the text on standard error.
    errors: String,
}

/// Follows the command until it ends, prints too much, or a signal arrives.
fn finish(
    mut command: Command,
    on_stderr: OnStderr,
    signals: &EndSignals,
) -> std::io::Result<Finished> {
    let (reader, writer) = std::io::pipe()?;
    let mut errors = tempfile::tempfile()?;
    if on_stderr == OnStderr::Capture {
        command.stderr(writer.try_clone()?);
    } else {
        command.stderr(errors.try_clone()?);
    }
    command.stdout(writer);
    let mut child = ChildGroup::spawn(&mut command)?;
    drop(command); // it holds an end of the pipe, which must close
    let mut bytes = Vec::new();
    let followed = signals.follow(&mut child, reader, |piece| {
        bytes.extend_from_slice(piece);
        if bytes.len() > MAX_TEXT_BYTES {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Finished { followed, text, errors: ending(&mut errors)? })
}

/// The last lines of a file: a traceback names its cause at the end.
fn ending(file: &mut File) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    let length = file.seek(SeekFrom::End(0))?;
    let left_out = length.saturating_sub(SHOWN_BYTES);
    file.seek(SeekFrom::Start(left_out))?;
    file.take(SHOWN_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let whole_lines = match text.split_once('\n') {
        Some((_, rest)) if left_out > 0 => rest,
        _ => &text,
    };
    Ok(whole_lines.trim().to_owned())
}

fn after_colon(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!(": {}", feros_wording::harmless_block(text))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use feros_process::EndSignals;

    use super::{OnStderr, run};

    fn printed(line: &str, rule: OnStderr) -> Result<(String, Option<String>), String> {
        let (name, value) = ("FEROS_SAID".to_owned(), Some("a b".to_owned()));
        let environment = [(&name, &value)];
        run(line, rule, environment.into_iter(), &EndSignals::default())
            .map(|printed| (printed.text, printed.warning))
    }

    #[test]
    fn the_output_of_a_command_is_its_text() {
        let text = printed("sh -c 'echo \"$FEROS_SAID\"; echo \"$0\"' 'x  y'", OnStderr::Fail);
        assert_eq!(text.unwrap(), ("a b\nx  y\n".to_owned(), None));
    }

    #[test]
    fn standard_error_is_handled_as_asked_for() {
        let line = "sh -c 'echo oh >&2; echo text'";
        let failure = printed(line, OnStderr::Fail).unwrap_err();
        assert!(failure.contains("wrote to standard error: oh (add `warn`"), "{failure}");
        let (text, warning) = printed(line, OnStderr::Warn).unwrap();
        assert_eq!(text, "text\n");
        assert!(warning.unwrap().ends_with("wrote to standard error: oh"));
        assert_eq!(printed(line, OnStderr::Ignore).unwrap(), ("text\n".to_owned(), None));
        assert_eq!(printed(line, OnStderr::Capture).unwrap(), ("oh\ntext\n".to_owned(), None));
        assert!(OnStderr::from_name("wran").is_err_and(|it| it.contains("did you mean `warn`?")));
    }

    #[test]
    fn commands_that_fail_or_never_stop_printing_say_so() {
        let failure = |line: &str| printed(line, OnStderr::Ignore).unwrap_err();
        assert!(failure("/nowhere/xacro a").contains("cannot be run: No such file"));
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        assert!(super::cure("xacro", &missing).contains("pip install xacro"));
        assert_eq!(super::cure("/nowhere/xacro", &missing), "");
        assert!(failure("sh -c 'echo oh >&2; exit 3'").contains("exit status: 3: oh"));
        let lines = failure("sh -c 'seq 1 500 >&2; echo cause >&2; exit 3'");
        assert!(lines.ends_with("\n  500\n  cause") && !lines.contains("\n  1\n"), "{lines}");
        assert!(failure("yes").contains("printed more than 1048576 bytes"));
        assert_eq!(failure(" "), "`command` without a command");
        assert!(failure("echo 'a").contains("unclosed '"));
    }
}
