//! XML elements and their text.

/// The spaces before the children of an element.
const INDENT: usize = 2;

/// An element that is to be written.
pub(super) struct Element {
    tag: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Element>,
}

impl Element {
    pub(super) fn new(tag: &'static str) -> Self {
        Self { tag, attributes: Vec::new(), children: Vec::new() }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.set(name, Some(value.into()));
        self
    }

    pub(super) fn with_children(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children);
        self
    }

    /// Sets an attribute, if it has a value.
    pub(super) fn set(&mut self, name: &'static str, value: Option<String>) {
        self.attributes.extend(value.map(|value| (name, value)));
    }

    pub(super) fn push(&mut self, child: Self) {
        self.children.push(child);
    }

    /// A document with this root.
    pub(super) fn document(&self) -> String {
        let mut text = String::new();
        self.write(0, &mut text);
        text
    }

    fn write(&self, depth: usize, text: &mut String) {
        let indent = " ".repeat(depth * INDENT);
        text.push_str(&format!("{indent}<{}", self.tag));
        for (name, value) in &self.attributes {
            text.push_str(&format!(" {name}=\"{}\"", escaped(value)));
        }
        if self.children.is_empty() {
            text.push_str("/>\n");
            return;
        }
        text.push_str(">\n");
        self.children.iter().for_each(|child| child.write(depth + 1, text));
        text.push_str(&format!("{indent}</{}>\n", self.tag));
    }
}

/// The value of an attribute. A reader would turn line breaks and tabs into spaces.
fn escaped(value: &str) -> String {
    let mut text = String::new();
    for character in value.chars() {
        match character {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\n' | '\r' | '\t' => text.push_str(&format!("&#{};", u32::from(character))),
            other => text.push(other),
        }
    }
    text
}
