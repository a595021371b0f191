//! Writes dynamic messages as JSON on one line, with the fields in the order of their definition.

use std::fmt::Write as _;

use super::path::Selected;
use super::print::{PrintOptions, Shown, show};
use super::value::DynamicMessage;

impl DynamicMessage {
    /// Writes the message as a JSON object. Units of a `wstring` that are not valid UTF-16 become
    /// U+FFFD.
    #[must_use]
    pub fn to_json(&self, options: &PrintOptions) -> String {
        let mut out = String::new();
        write_message(&mut out, self, options);
        out
    }
}

impl Selected<'_> {
    /// Writes the selected part as JSON.
    #[must_use]
    pub fn to_json(&self, options: &PrintOptions) -> String {
        let mut out = String::new();
        write_shown(&mut out, show(*self, options), options);
        out
    }
}

fn write_message(out: &mut String, message: &DynamicMessage, options: &PrintOptions) {
    out.push('{');
    for (position, (field, value)) in message.fields().enumerate() {
        if position > 0 {
            out.push(',');
        }
        write_text(out, field.name());
        out.push(':');
        write_shown(out, show(Selected { value: value.as_ref(), field }, options), options);
    }
    out.push('}');
}

fn write_shown(out: &mut String, shown: Shown<'_>, options: &PrintOptions) {
    // Writing to a `String` cannot fail.
    let _ = match shown {
        Shown::Bool(value) => write!(out, "{value}"),
        Shown::Signed(value) => write!(out, "{value}"),
        Shown::Unsigned(value) => write!(out, "{value}"),
        Shown::Byte(value) => write!(out, "{value}"),
        Shown::Float(value) if value.is_nan() => write!(out, "\"NaN\""),
        Shown::Float(value) if value.is_infinite() => {
            write!(out, "\"{}Infinity\"", if value < 0.0 { "-" } else { "" })
        }
        Shown::Float(value) => write!(out, "{value:?}"),
        Shown::Text(text) => {
            write_text(out, &text);
            Ok(())
        }
        Shown::Message(message) => {
            write_message(out, message, options);
            Ok(())
        }
        Shown::Elements(elements) => {
            out.push('[');
            for (position, element) in elements.iter(options).enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_shown(out, element, options);
            }
            out.push(']');
            Ok(())
        }
    };
}

fn write_text(out: &mut String, text: &str) {
    out.push_str(&feros_wording::harmless_json(&serde_json::Value::from(text).to_string()));
}
