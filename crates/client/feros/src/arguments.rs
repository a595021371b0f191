//! Parses the ROS part of a command line: `--ros-args … [--]`, with the flags and rules of `rcl`.
//!
//! The grammar is in `rcl/arguments.h`. Arguments outside `--ros-args … --` belong to the
//! application and are returned to it.

mod remap;

pub use remap::{RemapKind, RemapRule};
pub(crate) use remap::{remap_name, remap_node};

use std::ffi::OsString;
use std::path::PathBuf;

use feros_parameter::{NodePattern, ParameterFileError, ParameterOverrides, ParameterValue, file};

/// The ROS part of a command line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arguments {
    /// The remap rules, in the order of the command line. The first match wins.
    pub remap_rules: Vec<RemapRule>,
    /// The sources of parameter values (`-p` and `--params-file`), in the order of the command
    /// line.
    pub parameters: Vec<ParameterSource>,
    /// The enclave: `--enclave`.
    pub enclave: Option<String>,
    /// The log levels: `--log-level`, for one logger or for all loggers.
    pub log_levels: Vec<LogLevelArgument>,
    /// Whether to log to the terminal: `--enable-stdout-logs` or `--disable-stdout-logs`.
    pub log_to_terminal: Option<bool>,
    /// Whether to log to `/rosout`: `--enable-rosout-logs` or `--disable-rosout-logs`.
    pub log_to_rosout: Option<bool>,
}

/// A source of parameter values.
#[derive(Debug, Clone, PartialEq)]
pub enum ParameterSource {
    /// `-p [node:]name:=value`
    Value(ParameterArgument),
    /// `--params-file`
    File(PathBuf),
}

/// `-p [node:]name:=value`
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterArgument {
    /// The nodes that get the parameter: the named node in the namespace `/`, as in `rcl`, or all
    /// nodes if the argument names no node.
    pub nodes: NodePattern,
    /// The name of the parameter.
    pub name: String,
    /// The value of the parameter.
    pub value: ParameterValue,
}

/// `--log-level [logger:=]level`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLevelArgument {
    /// The logger; `None` means all loggers.
    pub logger: Option<String>,
    /// The least severe level that is shown.
    pub level: LogLevel,
}

/// The severity of a log message, with the numbers of `rcl_interfaces/msg/Log`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// `DEBUG`: 10
    Debug = 10,
    /// `INFO`: 20
    Info = 20,
    /// `WARN`: 30
    Warn = 30,
    /// `ERROR`: 40
    Error = 40,
    /// `FATAL`: 50
    Fatal = 50,
}

impl std::str::FromStr for LogLevel {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.to_ascii_lowercase().as_str() {
            "debug" => Ok(Self::Debug),
            "info" => Ok(Self::Info),
            "warn" => Ok(Self::Warn),
            "error" => Ok(Self::Error),
            "fatal" => Ok(Self::Fatal),
            _ => Err(()),
        }
    }
}

/// The reason why the ROS part of a command line cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// A flag has no value after it.
    #[error("{flag} must be followed by {expected}")]
    MissingValue {
        /// The flag.
        flag: String,
        /// The value that the flag needs.
        expected: &'static str,
    },
    /// The value of a flag is malformed.
    #[error("{flag} {value:?} cannot be used: {reason}; expected {expected}")]
    Malformed {
        /// The flag.
        flag: String,
        /// The value.
        value: String,
        /// The reason.
        reason: String,
        /// The values that the flag takes.
        expected: &'static str,
    },
    /// A ROS argument is not UTF-8.
    #[error("the ROS argument {argument:?} is not UTF-8")]
    NotUnicode {
        /// The argument.
        argument: OsString,
    },
    /// A flag is unknown.
    #[error(
        "unknown ROS argument {argument:?}; end the ROS arguments with -- if it belongs to the application"
    )]
    Unknown {
        /// The argument.
        argument: String,
    },
}

const REMAP: &str =
    "[node:]from:=to, such as chatter:=/robot/chatter, __node:=name or __ns:=/namespace";
const PARAMETER: &str = "[node:]name:=value";
const LEVEL: &str = "[logger:=]debug|info|warn|error|fatal";

fn unicode(argument: OsString) -> Result<String, ArgumentError> {
    argument.into_string().map_err(|argument| ArgumentError::NotUnicode { argument })
}

impl Arguments {
    /// Parses a command line without the program's name; returns its ROS part and the arguments
    /// that belong to the application.
    ///
    /// # Errors
    /// When an argument cannot be used; the error is about the first such argument.
    ///
    /// ```
    /// use feros::Arguments;
    /// let line = ["--mine", "--ros-args", "-r", "chatter:=talk", "--", "file"].map(String::from);
    /// let (ros, rest) = Arguments::parse(line)?;
    /// assert_eq!(ros.remap_rules.len(), 1);
    /// assert_eq!(rest, ["--mine", "file"]);
    /// # Ok::<(), feros::ArgumentError>(())
    /// ```
    pub fn parse(
        line: impl IntoIterator<Item = String>,
    ) -> Result<(Self, Vec<String>), ArgumentError> {
        let (arguments, rest) = Self::parse_os(line.into_iter().map(OsString::from))?;
        Ok((arguments, rest.into_iter().filter_map(|text| text.into_string().ok()).collect()))
    }

    /// The form of [`Arguments::parse`] for a command line whose application part need not be UTF-8
    /// (`std::env::args_os().skip(1)`).
    ///
    /// # Errors
    /// When an argument cannot be used; the error is about the first such argument.
    pub fn parse_os(
        line: impl IntoIterator<Item = OsString>,
    ) -> Result<(Self, Vec<OsString>), ArgumentError> {
        let mut arguments = Self::default();
        let mut rest = Vec::new();
        let mut in_ros = false;
        let mut line = line.into_iter();
        while let Some(argument) = line.next() {
            match argument.to_str() {
                Some("--ros-args") => in_ros = true,
                Some("--") if in_ros => in_ros = false,
                _ if in_ros => arguments.read_flag(&unicode(argument)?, &mut line)?,
                _ => rest.push(argument),
            }
        }
        Ok((arguments, rest))
    }

    fn read_flag(
        &mut self,
        flag: &str,
        line: &mut impl Iterator<Item = OsString>,
    ) -> Result<(), ArgumentError> {
        let mut value = |expected| {
            let missing = || ArgumentError::MissingValue { flag: flag.to_owned(), expected };
            line.next().ok_or_else(missing).and_then(unicode)
        };
        let malformed = |value: String, reason: String, expected| ArgumentError::Malformed {
            flag: flag.to_owned(),
            value,
            reason,
            expected,
        };
        match flag {
            "-r" | "--remap" => {
                let text = value(REMAP)?;
                let rule =
                    RemapRule::parse(&text).map_err(|reason| malformed(text, reason, REMAP))?;
                self.remap_rules.push(rule);
            }
            "-p" | "--param" => {
                let text = value(PARAMETER)?;
                let parameter = ParameterArgument::parse(&text)
                    .map_err(|reason| malformed(text, reason, PARAMETER))?;
                self.parameters.push(ParameterSource::Value(parameter));
            }
            "--params-file" => {
                self.parameters.push(ParameterSource::File(value("a YAML file")?.into()));
            }
            "-e" | "--enclave" => self.enclave = Some(value("an enclave, such as /robot")?),
            "--log-level" => {
                let text = value(LEVEL)?;
                let (logger, level) = match text.rsplit_once(":=") {
                    Some((logger, level)) => (Some(logger.to_owned()), level),
                    None => (None, text.as_str()),
                };
                match level.parse() {
                    Ok(level) => self.log_levels.push(LogLevelArgument { logger, level }),
                    Err(()) => return Err(malformed(text, "there is no such level".into(), LEVEL)),
                }
            }
            // Feros writes no log files and uses no external log library. The flags for both are
            // accepted and ignored, so that command lines for stock nodes work.
            "--log-config-file" | "--log-file-name" => drop(value("a file name")?),
            "--enable-external-lib-logs" | "--disable-external-lib-logs" => {}
            "--enable-stdout-logs" => self.log_to_terminal = Some(true),
            "--disable-stdout-logs" => self.log_to_terminal = Some(false),
            "--enable-rosout-logs" => self.log_to_rosout = Some(true),
            "--disable-rosout-logs" => self.log_to_rosout = Some(false),
            // As in rcl (`rcl/src/rcl/arguments.c`), a rule without `-r` before it is accepted;
            // this is an older form of remapping.
            rule if rule.contains(":=") && !rule.starts_with('-') => {
                let rule = RemapRule::parse(rule)
                    .map_err(|reason| malformed(rule.to_owned(), reason, REMAP))?;
                self.remap_rules.push(rule);
            }
            _ => return Err(ArgumentError::Unknown { argument: flag.to_owned() }),
        }
        Ok(())
    }

    /// Returns the parameter values from `-p` and from the files of `--params-file`, which are read
    /// by this call.
    ///
    /// # Errors
    /// When a file cannot be read or is malformed; the error names the file, the line and the
    /// expected input.
    pub fn parameter_overrides(&self) -> Result<ParameterOverrides, ParameterFileError> {
        let mut overrides = ParameterOverrides::default();
        for source in &self.parameters {
            match source {
                ParameterSource::File(path) => overrides.merge(file::read(path)?),
                ParameterSource::Value(ParameterArgument { nodes, name, value }) => {
                    overrides.set(nodes.clone(), name, value.clone());
                }
            }
        }
        Ok(overrides)
    }
}

impl ParameterArgument {
    fn parse(text: &str) -> Result<Self, String> {
        let (name, yaml) = text.split_once(":=").ok_or("there is no ':='")?;
        let (nodes, name) = match name.split_once(':') {
            Some((node, name)) => (node.parse()?, name),
            None => (NodePattern::every_node(), name),
        };
        if name.is_empty() {
            return Err("the name of the parameter is empty".into());
        }
        let value = ParameterValue::from_yaml(yaml).map_err(|error| error.to_string())?;
        Ok(Self { nodes, name: name.to_owned(), value })
    }
}

#[cfg(test)]
mod tests;
