//! Prints received messages in the form that the user chose.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use feros::MessageInfo;
use feros_engine::FailureCounter;
use feros_message::dynamic::{
    DynamicMessage, DynamicType, PathError, PrintOptions, Selected, ValueRef,
};
use serde_json::json;

use super::form::Form;
use crate::error::CliError;
use crate::filter::Filter;
use crate::{csv, notices, output};

/// The parts of each message to print, and their form.
pub(in crate::commands) struct Format {
    /// The type of the messages; `None` prints their bytes.
    ty: Option<DynamicType>,
    /// The parts to print; empty for the whole message.
    fields: Vec<String>,
    filter: Option<Arc<Filter>>,
    pub(super) form: Form,
    options: PrintOptions,
    /// Whether to print the steps of a service's calls as words, as `ros2` does
    /// (`ros2service/ros2service/verb/echo.py`).
    names_events: bool,
}

/// The constants of `service_msgs/msg/ServiceEventInfo`.
const EVENTS: [&str; 4] =
    ["REQUEST_SENT", "REQUEST_RECEIVED", "RESPONSE_SENT", "RESPONSE_RECEIVED"];

impl Format {
    pub(super) fn new(
        form: &Form,
        ty: Option<DynamicType>,
        fields: &[String],
        filter: Option<&Arc<Filter>>,
    ) -> Self {
        Self {
            ty,
            fields: fields.to_vec(),
            filter: filter.cloned(),
            options: form.text.options(),
            form: form.clone(),
            names_events: false,
        }
    }

    /// The format for the events of a service.
    pub(in crate::commands) fn of_service_events(
        form: &Form,
        ty: Option<DynamicType>,
        field: Option<String>,
    ) -> Self {
        let fields: Vec<String> = field.into_iter().collect();
        Self { names_events: fields.is_empty(), ..Self::new(form, ty, &fields, None) }
    }

    /// Returns the text of one message, or `None` if the filter rejects the message.
    fn text(&self, bytes: &[u8], info: &MessageInfo) -> Result<Option<String>, Refused> {
        let with_info = self.form.include_message_info;
        let yaml_info = if with_info { info_yaml(info) } else { String::new() };
        let Some(ty) = &self.ty else {
            return Ok(Some(format!("{yaml_info}{}---\n", hexadecimal(bytes))));
        };
        let message = ty
            .decode(bytes)
            .map_err(|error| Refused::Malformed(format!("not a valid {}: {error}", ty.name())))?;
        let message = Arc::new(message);
        let parts = self.fields.iter().map(|path| select(&message, path));
        let parts = parts.collect::<Result<Vec<_>, Refused>>()?;
        if !self.is_meant(&message)? {
            return Ok(None);
        }
        Ok(Some(if self.form.text.csv {
            let line = match parts.as_slice() {
                [] => csv::line([ValueRef::Message(&message)], &self.options),
                parts => csv::line(parts.iter().map(Selected::value), &self.options),
            };
            if with_info { info_csv(info) + &line } else { line }
        } else if self.form.text.json {
            let text = self.json(&message, &parts);
            if with_info {
                format!("{{\"info\":{},\"message\":{text}}}\n", info_object(info))
            } else {
                text + "\n"
            }
        } else {
            let text = match parts.as_slice() {
                [] => message.to_yaml(&self.options),
                parts => parts.iter().map(|part| part.to_yaml(&self.options)).collect(),
            };
            let text = if self.names_events { name_event(text) } else { text };
            format!("{yaml_info}{text}---\n")
        }))
    }

    /// Whether the filter accepts a message. If exactly one part is printed, the filter reads that
    /// part.
    fn is_meant(&self, message: &Arc<DynamicMessage>) -> Result<bool, Refused> {
        let Some(filter) = &self.filter else { return Ok(true) };
        let part = match self.fields.as_slice() {
            [one] => Some(one.as_str()),
            _ => None,
        };
        filter.accepts(message, part).map_err(|text| Refused::Usage(format!("--filter: {text}")))
    }

    /// The JSON of a single part is its value; several parts are an object with their paths as
    /// names.
    fn json(&self, message: &DynamicMessage, parts: &[Selected<'_>]) -> String {
        match parts {
            [] => message.to_json(&self.options),
            [part] => part.to_json(&self.options),
            several => {
                let members =
                    self.fields.iter().zip(several).map(|(path, part)| {
                        format!("{}:{}", json!(path), part.to_json(&self.options))
                    });
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }
        }
    }
}

fn select<'a>(message: &'a DynamicMessage, path: &str) -> Result<Selected<'a>, Refused> {
    message.select(path).map_err(|error| match error {
        // The next message may have an element that this one lacks.
        PathError::Index { .. } => Refused::NotInThis(error.to_string()),
        wrong => Refused::Usage(format!("--field: {wrong}")),
    })
}

/// Replaces the number of the event, which is the first field of all, with a word.
pub(in crate::commands) fn name_event(yaml: String) -> String {
    const FIELD: &str = "event_type: ";
    let Some(place) = yaml.find(FIELD).map(|start| start + FIELD.len()) else { return yaml };
    let (before, rest) = yaml.split_at(place);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    match rest[..digits].parse().ok().and_then(|number: usize| EVENTS.get(number)) {
        Some(name) => format!("{before}{name}{}", &rest[digits..]),
        None => yaml,
    }
}

/// The reason why a message is not printed.
enum Refused {
    /// The bytes are not a message of the type.
    Malformed(String),
    /// The message lacks the element that the user asked for.
    NotInThis(String),
    /// The options fit no message of the type.
    Usage(String),
}

/// Prints messages as they come.
pub(super) struct Printer {
    format: Format,
    /// The number of messages printed so far.
    pub(super) printed: usize,
    /// The number of messages that the filter rejected.
    pub(super) left_out: usize,
    /// The error that ended printing.
    pub(super) failure: Option<CliError>,
    refused: FailureCounter,
}

impl Printer {
    pub(super) fn new(format: Format) -> Self {
        Self { format, printed: 0, left_out: 0, failure: None, refused: FailureCounter::new() }
    }

    /// Prints a message. Malformed messages are counted and rarely reported.
    pub(super) fn print(&mut self, bytes: &[u8], info: &MessageInfo) {
        let text = match self.format.text(bytes, info) {
            Ok(Some(text)) => text,
            Ok(None) => {
                self.left_out += 1;
                return;
            }
            Err(Refused::Usage(text)) => {
                self.failure = Some(CliError::usage(text));
                return;
            }
            Err(Refused::Malformed(reason) | Refused::NotInThis(reason)) => {
                if let Some(refused) = self.refused.count() {
                    notices::warn(format!(
                        "{refused} messages so far could not be printed; the last, of {} bytes \
                         from publisher {}: {reason}",
                        bytes.len(),
                        info.publisher_gid
                    ));
                }
                return;
            }
        };
        let print = if self.format.form.clear { output::print_anew } else { output::print };
        match print(&text) {
            Ok(()) => self.printed += 1,
            Err(error) => self.failure = Some(error),
        }
    }
}

fn nanos(time: Option<SystemTime>) -> Option<u64> {
    let since = time?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

fn info_object(info: &MessageInfo) -> serde_json::Value {
    json!({
        "source_timestamp": nanos(info.source_timestamp),
        "received_timestamp": nanos(info.received_timestamp),
        "publication_sequence_number": info.publication_sequence_number,
        "publisher_gid": info.publisher_gid.to_string(),
    })
}

fn info_yaml(info: &MessageInfo) -> String {
    let number =
        |number: Option<u64>| number.map_or_else(|| "null".to_owned(), |number| number.to_string());
    format!(
        "source_timestamp: {}\nreceived_timestamp: {}\npublication_sequence_number: {}\npublisher_gid: {}\n---\n",
        number(nanos(info.source_timestamp)),
        number(nanos(info.received_timestamp)),
        number(info.publication_sequence_number),
        info.publisher_gid,
    )
}

/// The columns that `ros2` prepends. The reception number is `None`, since the engine does not
/// count received messages.
fn info_csv(info: &MessageInfo) -> String {
    let shown = |number: Option<u64>| number.map_or("None".to_owned(), |number| number.to_string());
    format!(
        "{},{},{},None,",
        shown(nanos(info.source_timestamp)),
        shown(nanos(info.received_timestamp)),
        shown(info.publication_sequence_number)
    )
}

/// Lines of 16 bytes with their offset.
fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (line, chunk) in bytes.chunks(16).enumerate() {
        let _ = write!(text, "{:08x}", line * 16);
        chunk.iter().for_each(|byte| {
            let _ = write!(text, " {byte:02x}");
        });
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use feros::Gid;

    #[test]
    fn bytes_are_shown_with_their_offset() {
        let bytes: Vec<u8> = (0..18).collect();
        assert_eq!(
            hexadecimal(&bytes),
            "00000000 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f\n00000010 10 11\n"
        );
    }

    #[test]
    fn events_of_services_have_names() {
        let named = |text: &str| name_event(text.to_owned());
        assert_eq!(named("info:\n  event_type: 2\n"), "info:\n  event_type: RESPONSE_SENT\n");
        assert_eq!(
            named("{info: {event_type: 0, x: 1}}"),
            "{info: {event_type: REQUEST_SENT, x: 1}}"
        );
        assert_eq!(
            named("info:\n  event_type: 1\n  stamp:\n    sec: 1\nrequest: []\n"),
            "info:\n  event_type: REQUEST_RECEIVED\n  stamp:\n    sec: 1\nrequest: []\n"
        );
        assert_eq!(
            named("{info: {event_type: 3, sec: 1}}"),
            "{info: {event_type: RESPONSE_RECEIVED, sec: 1}}"
        );
        assert_eq!(named("event_type: 44"), "event_type: 44");
        // An event without a word stays a number.
        assert_eq!(named("event_type: 12\n"), "event_type: 12\n");
        assert_eq!(named("other: 1\n"), "other: 1\n");
    }

    #[test]
    fn message_information_is_optional() {
        let info = MessageInfo {
            source_timestamp: Some(UNIX_EPOCH + std::time::Duration::from_nanos(5)),
            received_timestamp: None,
            publication_sequence_number: Some(3),
            publisher_gid: Gid::default(),
            from_same_session: false,
        };
        assert!(info_yaml(&info).starts_with("source_timestamp: 5\nreceived_timestamp: null\n"));
        assert_eq!(info_object(&info)["publication_sequence_number"], 3);
        assert_eq!(info_csv(&info), "5,None,3,None,");
    }
}
