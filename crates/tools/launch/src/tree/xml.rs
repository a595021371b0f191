//! Converts XML to entities (`launch_xml/launch_xml/entity.py`). Elements become entities,
//! attributes become attributes, and text between elements is a mistake.

use std::path::Path;
use std::sync::Arc;

use roxmltree::{Document, NodeType, ParsingOptions};

use super::entity::{
    Attribute, AttributeValue, Entity, MAX_ATTRIBUTES, MAX_DEPTH, MAX_NODES, Scalar,
};
use crate::error::{LaunchError, shown};
use crate::position::{Lines, Position};

/// An attribute with this suffix names the separator of the list in the attribute without the
/// suffix.
const SEPARATOR: &str = "-sep";

pub(super) fn parse(file: &Arc<Path>, text: &str) -> Result<Entity, LaunchError> {
    refuse_deep_nesting(file, text)?;
    refuse_many_attributes(file, text)?;
    let nodes_limit = u32::try_from(MAX_NODES).expect("it is small");
    let options = ParsingOptions { allow_dtd: false, nodes_limit, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let place = error.pos();
        let position = Position::new(file, place.row as usize, place.col as usize);
        // The library's messages end with the position, with which the error already begins.
        let message = error.to_string();
        let message = message.split(" at ").next().unwrap_or(&message).to_owned();
        LaunchError::at(&position, format!("the file is not well-formed XML: {message}"))
    })?;
    Reader { file, text, lines: Lines::new(text) }.entity(document.root_element(), 0)
}

/// The library recurses on the thread's stack, so the depth is limited before it parses.
fn refuse_deep_nesting(file: &Arc<Path>, text: &str) -> Result<(), LaunchError> {
    let mut depth = 0_usize;
    let bytes = text.as_bytes();
    for (at, _) in text.match_indices('<') {
        match bytes.get(at + 1) {
            Some(b'/') => depth = depth.saturating_sub(1),
            Some(b'!' | b'?') | None => {}
            Some(_) => {
                let end = text[at..].find('>').map_or(text.len(), |length| at + length);
                if !text[at..end].ends_with('/') {
                    depth += 1;
                }
            }
        }
        // Comments and values may also contain `<`, so the count may be too high; the factor allows
        // for that.
        if depth > 16 * MAX_DEPTH {
            let position = Lines::new(text).position(file, at);
            return Err(LaunchError::at(&position, too_deep()));
        }
    }
    Ok(())
}

/// The library compares each attribute of an element with all earlier attributes, so their number
/// is limited.
fn refuse_many_attributes(file: &Arc<Path>, text: &str) -> Result<(), LaunchError> {
    let mut rest = text;
    while let Some(begin) = rest.find('<') {
        rest = &rest[begin..];
        let hidden = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        if let Some((_, end)) = hidden.iter().find(|(begin, _)| rest.starts_with(begin)) {
            let Some(length) = rest.find(end) else { break };
            rest = &rest[length + end.len()..];
            continue;
        }
        let (mut quote, mut attributes, mut end) = (None, 0, rest.len());
        for (at, byte) in rest.bytes().enumerate() {
            match (quote, byte) {
                (None, b'>') => {
                    end = at;
                    break;
                }
                (None, b'"' | b'\'') => {
                    quote = Some(byte);
                    attributes += 1;
                }
                (Some(open), _) if open == byte => quote = None,
                _ => {}
            }
        }
        if attributes > MAX_ATTRIBUTES {
            let position = Lines::new(text).position(file, text.len() - rest.len());
            let problem = format!(
                "an element has {attributes} attributes, more than the limit of {MAX_ATTRIBUTES}"
            );
            return Err(LaunchError::at(&position, problem));
        }
        rest = &rest[end..];
    }
    Ok(())
}

fn too_deep() -> String {
    format!("elements are nested deeper than {MAX_DEPTH}")
}

struct Reader<'a> {
    file: &'a Arc<Path>,
    text: &'a str,
    lines: Lines<'a>,
}

impl Reader<'_> {
    fn at(&self, byte: usize) -> Position {
        self.lines.position(self.file, byte)
    }

    fn entity(&self, node: roxmltree::Node<'_, '_>, depth: usize) -> Result<Entity, LaunchError> {
        let at = self.at(node.range().start);
        if depth >= MAX_DEPTH {
            return Err(LaunchError::at(&at, too_deep()));
        }
        let tag = node.tag_name().name().to_owned();
        let mut children = Vec::new();
        for child in node.children() {
            match child.node_type() {
                NodeType::Element => children.push(self.entity(child, depth + 1)?),
                NodeType::Text => self.refuse_text(&tag, child)?,
                NodeType::Root | NodeType::Comment | NodeType::PI => {}
            }
        }
        Ok(Entity { attributes: self.attributes(node), tag, at, children })
    }

    fn refuse_text(&self, tag: &str, node: roxmltree::Node<'_, '_>) -> Result<(), LaunchError> {
        let text = node.text().unwrap_or("");
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Ok(());
        }
        let blank = text.len() - text.trim_start().len();
        let problem = format!(
            "the text {} within <{tag}>: expected elements and attributes only",
            shown(trimmed)
        );
        Err(LaunchError::at(&self.at(node.range().start + blank), problem))
    }

    fn attributes(&self, node: roxmltree::Node<'_, '_>) -> Vec<Attribute> {
        let separators: Vec<(&str, &str)> = node
            .attributes()
            .filter_map(|attribute| {
                Some((attribute.name().strip_suffix(SEPARATOR)?, attribute.value()))
            })
            .filter(|(list, separator)| !separator.is_empty() && node.has_attribute(*list))
            .collect();
        let is_separator = |name: &str| {
            separators.iter().any(|(list, _)| name.strip_suffix(SEPARATOR) == Some(*list))
        };
        let attributes = node.attributes().filter(|attribute| !is_separator(attribute.name()));
        let read = attributes.map(|attribute| {
            let range = attribute.range_value();
            let value_at = self.at(range.start);
            let verbatim = self.text.get(range) == Some(attribute.value());
            let one = |text: &str, verbatim| Scalar {
                text: text.to_owned(),
                quoted: false,
                at: value_at.clone(),
                verbatim,
            };
            let value = match separators.iter().find(|(list, _)| *list == attribute.name()) {
                Some((_, separator)) => AttributeValue::List(
                    attribute.value().split(separator).map(|item| one(item, false)).collect(),
                ),
                None => AttributeValue::One(one(attribute.value(), verbatim)),
            };
            Attribute {
                name: attribute.name().to_owned(),
                at: self.at(attribute.range().start),
                value,
            }
        });
        read.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    fn parse(text: &str) -> Result<usize, String> {
        let entity = super::parse(&Arc::from(Path::new("f.xml")), text);
        entity.map(|entity| entity.attributes.len()).map_err(|error| error.to_string())
    }

    #[test]
    fn an_element_has_a_bounded_number_of_attributes() {
        let attributes =
            |count: usize| (0..count).map(|n| format!(" a{n}='>'")).collect::<String>();
        assert_eq!(parse(&format!("<launch{}/>", attributes(1000))), Ok(1000));
        let hidden = format!("<!-- <a{} --><launch b='1'/>", attributes(1001));
        assert_eq!(parse(&hidden), Ok(1));
        assert_eq!(
            parse(&format!("<launch>\n <node{}/></launch>", attributes(50_000))),
            Err("f.xml:2:2: an element has 50000 attributes, more than the limit of 1000"
                .to_owned())
        );
    }
}
