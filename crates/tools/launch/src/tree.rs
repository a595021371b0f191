//! A launch file as a tree of entities, the same for XML and YAML, so that only one module
//! interprets their content.

mod entity;
mod read;
mod xml;
mod yaml;

pub(crate) use entity::{Attribute, AttributeValue, Entity, Scalar};
pub(crate) use read::{Language, parse_xml, parse_yaml, read_file, read_text};
pub(crate) use yaml::{Content, Node, document};
