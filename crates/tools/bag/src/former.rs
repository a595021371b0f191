//! The `metadata.yaml` that reindexing replaces. Reindexing keeps the entries that the files of the
//! bag do not contain: those that other programs wrote and Feros does not know, and some others.

use std::path::Path;

use feros_yaml::Content;

use crate::metadata::{BagMetadata, INFORMATION};
use crate::reader::metadata_text;
use crate::yaml::{Node, lines_of_entry, tree};

/// The content of a file that is about to be replaced.
#[derive(Default)]
pub(crate) struct Former {
    document: Option<feros_yaml::Node>,
    metadata: Option<BagMetadata>,
}

impl Former {
    /// Reads the file in the folder of a bag. A missing or unreadable file counts as empty.
    pub(crate) fn read(folder: &Path) -> Self {
        let Ok(Some(text)) = metadata_text(folder) else { return Self::default() };
        let document = tree(&text).ok().flatten();
        Self { document, metadata: BagMetadata::from_yaml(&text).ok() }
    }

    /// Adds to the metadata of the files what only `metadata.yaml` contains.
    pub(crate) fn complete(&self, metadata: &mut BagMetadata) {
        let Some(former) = &self.metadata else { return };
        for (key, value) in &former.custom_data {
            metadata.custom_data.entry(key.clone()).or_insert_with(|| value.clone());
        }
        if metadata.ros_distro == BagMetadata::default().ros_distro {
            metadata.ros_distro.clone_from(&former.ros_distro);
        }
        // Somebody may have unpacked files that were compressed as a whole.
        let is_packed = metadata.files.iter().any(|file| file.path.ends_with(".zstd"));
        if is_packed || !former.compression_mode.eq_ignore_ascii_case("file") {
            metadata.compression_format.clone_from(&former.compression_format);
            metadata.compression_mode.clone_from(&former.compression_mode);
        }
    }

    /// The text of the new file: the metadata, and the former entries that Feros does not know.
    pub(crate) fn text_with(&self, metadata: &BagMetadata) -> String {
        let mut text = metadata.to_yaml();
        let Ok(written) = Node::parse(&text) else { return text };
        let Some(document) = &self.document else { return text };
        let known = written.get(INFORMATION).unwrap_or(&Node::Null);
        let former = entries(document).iter().find(|(key, _)| key.text == INFORMATION);
        let inner = former.map_or(&[][..], |(_, value)| entries(value));
        for (entries, known, indent) in [(inner, known, "  "), (entries(document), &written, "")] {
            for (index, (key, value)) in entries.iter().enumerate() {
                let is_repeated =
                    entries[..index].iter().any(|(before, _)| before.text == key.text);
                if known.get(&key.text).is_none() && !is_repeated {
                    let lines = lines_of_entry(key, value);
                    lines.iter().for_each(|line| text.push_str(&format!("{indent}{line}\n")));
                }
            }
        }
        text
    }
}

/// The entries of a mapping; empty if the value is no mapping.
fn entries(node: &feros_yaml::Node) -> &[(feros_yaml::Scalar, feros_yaml::Node)] {
    match &node.content {
        Content::Mapping(entries) => entries,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The text that replaces `former`, and the entries that it has beyond those of Feros.
    fn replaced(former: &str) -> (String, Vec<String>) {
        let document = tree(former).unwrap();
        let former = Former { document, metadata: None };
        let text = former.text_with(&BagMetadata::default());
        let own = BagMetadata::default().to_yaml();
        let beyond = text.strip_prefix(&own).unwrap().lines().map(str::to_owned).collect();
        (text, beyond)
    }

    #[test]
    fn unknown_entries_keep_their_meaning() {
        let value = "plain: 5\nquoted: '5'\ntext: |\n  two\n  lines\nnothing:\nlist: [a, [b, 'no'], \
                     {c: d, e: []}]\n'odd: key': {}\ntagged: !!str 7\nfolded: two\n  words\n";
        let indented: String = value.lines().map(|line| format!("  {line}\n")).collect();
        let outer = "other_tool:\n  deep: {a: [1, 2]}\n";
        let (text, beyond) = replaced(&format!("{INFORMATION}:\n  version: 4\n{indented}{outer}"));
        // A second time, nothing changes.
        assert_eq!(replaced(&text), (text.clone(), beyond.clone()));
        let inner = beyond.iter().filter_map(|line| line.strip_prefix("  "));
        let inner: Vec<&str> = inner.take_while(|line| !line.starts_with("deep")).collect();
        let expected = [
            "plain: 5",
            "quoted: \"5\"",
            "text: \"two\\nlines\\n\"",
            "nothing:",
            "list:",
            "  - a",
            "  - - b",
            "    - \"no\"",
            "  - c: d",
            "    e: []",
            "\"odd: key\": {}",
            "tagged: !!str 7",
            "folded: two words",
        ];
        assert_eq!(inner, expected);
        assert!(text.ends_with("\nother_tool:\n  deep:\n    a:\n      - 1\n      - 2\n"), "{text}");
    }

    #[test]
    fn odd_documents_are_replaced_too() {
        let long = "k".repeat(2000);
        let (_, beyond) = replaced(&format!("{INFORMATION}: {{a: 1, a: 2}}\n? {long}\n: [x]\n"));
        assert_eq!(beyond, ["  a: 1".to_owned(), format!("? {long}"), ": - x".to_owned()]);
        for text in ["", "5", "[a]", INFORMATION] {
            assert!(replaced(text).1.is_empty(), "{text}");
        }
    }
}
