//! Prints received messages in the form that was asked for.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use feros::MessageInfo;
use feros_message::dynamic::{DynamicType, PrintOptions, ValueRef};
use feros_rmw::FailureCounter;
use serde_json::json;

use super::csv;
use super::form::Form;
use crate::error::CliError;
use crate::{notices, output};

/// What is printed of each message, and how.
pub(in crate::commands) struct Format {
    /// `None` prints bytes.
    ty: Option<DynamicType>,
    field: Option<String>,
    options: PrintOptions,
    json: bool,
    csv: bool,
    with_info: bool,
    with_lost: bool,
    /// The steps of a service's calls are words, as `ros2` prints them.
    names_events: bool,
}

/// The constants of `service_msgs/msg/ServiceEventInfo`.
const EVENTS: [&str; 4] =
    ["REQUEST_SENT", "REQUEST_RECEIVED", "RESPONSE_SENT", "RESPONSE_RECEIVED"];

impl Format {
    pub(super) fn new(form: &Form, ty: Option<DynamicType>, field: Option<String>) -> Self {
        let options = PrintOptions {
            truncate_length: if form.full_length { None } else { form.truncate_length },
            no_arr: form.no_arr,
            no_str: form.no_str,
            flow_style: form.flow_style,
        };
        Self {
            ty,
            field,
            options,
            json: form.json,
            csv: form.csv,
            with_info: form.include_message_info,
            with_lost: !form.no_lost_messages,
            names_events: false,
        }
    }

    /// For the events of a service.
    pub(in crate::commands) fn of_service_events(
        form: &Form,
        ty: Option<DynamicType>,
        field: Option<String>,
    ) -> Self {
        Self { names_events: field.is_none(), ..Self::new(form, ty, field) }
    }

    /// Whether the user wants to know of messages that are not printed because they were lost.
    pub(super) fn tells_lost_messages(&self) -> bool {
        self.with_lost
    }

    /// The text of one message.
    fn text(&self, bytes: &[u8], info: &MessageInfo) -> Result<String, Refused> {
        let Some(ty) = &self.ty else { return Ok(format!("{}---\n", hexadecimal(bytes))) };
        let message = ty
            .decode(bytes)
            .map_err(|error| Refused::Malformed(format!("no {}: {error}", ty.name())))?;
        let selected = match &self.field {
            Some(path) => Some(message.select(path).map_err(|error| match error {
                // An element that this message happens not to have may be in the next.
                feros_message::dynamic::PathError::Index { .. } => {
                    Refused::NotInThis(error.to_string())
                }
                wrong => Refused::Field(wrong.to_string()),
            })?),
            None => None,
        };
        if self.csv {
            let value = selected.map_or(ValueRef::Message(&message), |selected| selected.value());
            return Ok(csv::line(value, &self.options));
        }
        if self.json {
            let text = selected
                .map_or_else(|| message.to_json(&self.options), |part| part.to_json(&self.options));
            return Ok(if self.with_info {
                format!("{{\"info\":{},\"message\":{text}}}\n", info_object(info))
            } else {
                text + "\n"
            });
        }
        let text = selected
            .map_or_else(|| message.to_yaml(&self.options), |part| part.to_yaml(&self.options));
        let text = if self.names_events { name_event(text) } else { text };
        let info = if self.with_info { info_yaml(info) } else { String::new() };
        Ok(format!("{info}{text}---\n"))
    }
}

/// The number of the event, which is the first field of all, as a word.
fn name_event(yaml: String) -> String {
    const FIELD: &str = "event_type: ";
    let Some(place) = yaml.find(FIELD).map(|start| start + FIELD.len()) else { return yaml };
    let (before, rest) = yaml.split_at(place);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    match rest[..digits].parse().ok().and_then(|number: usize| EVENTS.get(number)) {
        Some(name) => format!("{before}{name}{}", &rest[digits..]),
        None => yaml,
    }
}

/// Why a message is not printed.
enum Refused {
    /// It is not a message of the type.
    Malformed(String),
    /// It has not the element that was asked for.
    NotInThis(String),
    /// No message of the type has the field.
    Field(String),
}

/// Prints messages as they come.
pub(super) struct Printer {
    format: Format,
    /// Messages printed so far.
    pub(super) printed: usize,
    /// What ended printing.
    pub(super) failure: Option<CliError>,
    refused: FailureCounter,
}

impl Printer {
    pub(super) fn new(format: Format) -> Self {
        Self { format, printed: 0, failure: None, refused: FailureCounter::new() }
    }

    /// Prints a message; one that is malformed is counted and seldom reported.
    pub(super) fn print(&mut self, bytes: &[u8], info: &MessageInfo) {
        let text = match self.format.text(bytes, info) {
            Ok(text) => text,
            Err(Refused::Field(text)) => {
                self.failure = Some(CliError::usage(format!("--field: {text}")));
                return;
            }
            Err(Refused::Malformed(reason) | Refused::NotInThis(reason)) => {
                if let Some(refused) = self.refused.count() {
                    notices::warn(format!(
                        "{refused} messages could not be printed so far; the last, of {} bytes from publisher {}: {reason}",
                        bytes.len(),
                        info.publisher_gid
                    ));
                }
                return;
            }
        };
        match output::print_plain(&text) {
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
        // What no definition has stays a number.
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
    }
}
