//! Writes parameter files, with nested mappings for the parts of names.

use std::collections::BTreeMap;

use crate::value::{NamedValue, ParameterValue};

/// Returns the text of a parameter file that gives these values to the node of this name.
/// Parameters without a value are omitted.
pub fn to_text(node: &str, parameters: impl IntoIterator<Item = NamedValue>) -> String {
    let mut root = Group::default();
    for (name, value) in parameters.into_iter().filter(|(_, value)| !value.is_not_set()) {
        let mut group = &mut root;
        for part in name.split('.') {
            group = group.below.entry(part.to_owned()).or_default();
        }
        group.value = Some(value);
    }
    let mut text = format!("{node}:\n  ros__parameters:");
    if root.below.is_empty() {
        text.push_str(" {}\n");
    } else {
        text.push('\n');
        root.write_below("", 4, &mut text);
    }
    text
}

/// The parameters that share the beginning of their names, up to some `.`.
#[derive(Default)]
struct Group {
    value: Option<ParameterValue>,
    below: BTreeMap<String, Group>,
}

impl Group {
    /// Writes the parameters below a group. A group that is a parameter itself cannot also be a
    /// mapping, so the name of such a group becomes the `prefix` of the names below it.
    fn write_below(&self, prefix: &str, indent: usize, text: &mut String) {
        for (part, group) in &self.below {
            let name = format!("{prefix}{part}");
            let key = ParameterValue::from(name.as_str());
            let blanks = " ".repeat(indent);
            match &group.value {
                Some(value) => {
                    match value.elements() {
                        Some(elements) if !elements.is_empty() => {
                            text.push_str(&format!("{blanks}{key}:\n"));
                            elements
                                .iter()
                                .for_each(|one| text.push_str(&format!("{blanks}- {one}\n")));
                        }
                        _ => text.push_str(&format!("{blanks}{key}: {value}\n")),
                    }
                    group.write_below(&format!("{name}."), indent, text);
                }
                None => {
                    text.push_str(&format!("{blanks}{key}:\n"));
                    group.write_below("", indent + 2, text);
                }
            }
        }
    }
}
