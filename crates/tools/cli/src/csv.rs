//! A message on one line, its fields separated by commas, as `ros2 topic echo --csv` prints it.

use std::fmt::Write as _;

use feros_message::dynamic::{PrintOptions, ValueRef};

use crate::output::foreign;

/// The fields of all values on one line, in the order of the values.
pub(crate) fn line<'a>(
    values: impl IntoIterator<Item = ValueRef<'a>>,
    options: &PrintOptions,
) -> String {
    let mut out = String::new();
    for (index, value) in values.into_iter().enumerate() {
        separate(&mut out, index);
        write(&mut out, value, options);
    }
    out.push('\n');
    out
}

fn write(out: &mut String, value: ValueRef<'_>, options: &PrintOptions) {
    // Writing to a String cannot fail.
    let _ = match value {
        ValueRef::Bool(true) => write!(out, "True"),
        ValueRef::Bool(false) => write!(out, "False"),
        ValueRef::U8(value) => write!(out, "{value}"),
        ValueRef::I8(value) => write!(out, "{value}"),
        ValueRef::U16(value) => write!(out, "{value}"),
        ValueRef::I16(value) => write!(out, "{value}"),
        ValueRef::U32(value) => write!(out, "{value}"),
        ValueRef::I32(value) => write!(out, "{value}"),
        ValueRef::U64(value) => write!(out, "{value}"),
        ValueRef::I64(value) => write!(out, "{value}"),
        // As in Python, where every floating-point number is a double.
        ValueRef::F32(value) => write!(out, "{:?}", f64::from(value)),
        ValueRef::F64(value) => write!(out, "{value:?}"),
        ValueRef::String(text) => write_text(out, text, options),
        ValueRef::WString(text) => write_text(out, &text.to_string(), options),
        ValueRef::Message(message) => {
            for (index, (_, value)) in message.fields().enumerate() {
                separate(out, index);
                write(out, value.as_ref(), options);
            }
            Ok(())
        }
        ValueRef::Array(array) if options.no_arr => write!(out, "<array of {}>", array.len()),
        ValueRef::Array(array) => {
            let shown = options.truncate_length.unwrap_or(usize::MAX).min(array.len());
            for (index, value) in (0..shown).filter_map(|index| array.get(index)).enumerate() {
                separate(out, index);
                write(out, value, options);
            }
            if shown < array.len() {
                separate(out, shown);
                out.push_str("...");
            }
            Ok(())
        }
        _ => Ok(()),
    };
}

fn separate(out: &mut String, index: usize) {
    if index > 0 {
        out.push(',');
    }
}

fn write_text(out: &mut String, text: &str, options: &PrintOptions) -> std::fmt::Result {
    if options.no_str {
        return write!(out, "<string length: <{}>>", text.chars().count());
    }
    match options.truncate_length.and_then(|length| text.char_indices().nth(length)) {
        Some((end, _)) => write!(out, "{}...", foreign(&text[..end])),
        None => write!(out, "{}", foreign(text)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use feros_message::dynamic::{DynamicMessage, DynamicType};

    #[test]
    fn all_fields_are_on_one_line() {
        let name = "sensor_msgs/msg/LaserScan".parse().unwrap();
        let ty = DynamicType::resolve(feros_interface::shipped(), &name).unwrap();
        let text =
            "{header: {stamp: {sec: 1}, frame_id: laser}, angle_min: 0.5, ranges: [1, 2, 3]}";
        let message = DynamicMessage::from_yaml(&ty, text).unwrap();
        let options = PrintOptions { truncate_length: Some(2), ..PrintOptions::default() };
        assert_eq!(
            line([ValueRef::Message(&message)], &options),
            "1,0,la...,0.5,0.0,0.0,0.0,0.0,0.0,0.0,1.0,2.0,...,\n"
        );
    }
}
