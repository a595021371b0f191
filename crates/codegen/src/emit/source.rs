//! Collects the lines of generated source and indents them.

/// Source text under construction. Lines that end with an opening bracket indent what follows them.
#[derive(Debug, Default)]
pub(crate) struct Source {
    text: String,
    depth: usize,
}

impl Source {
    /// Adds a line at the current depth.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if line.starts_with(['}', ')', ']']) {
            self.depth = self.depth.saturating_sub(1);
        }
        if !line.is_empty() {
            self.text.extend(std::iter::repeat_n("    ", self.depth));
            self.text.push_str(line);
        }
        self.text.push('\n');
        if line.ends_with(['{', '(', '[']) {
            self.depth += 1;
        }
    }

    /// Adds documentation, a line of text each.
    ///
    /// Comments of definitions are prose and drawings, not Markdown: leading blanks and fences are
    /// taken away, or rustdoc would compile them as examples.
    pub(crate) fn doc<T: AsRef<str>>(&mut self, lines: impl IntoIterator<Item = T>) {
        for line in lines {
            let text = line.as_ref().trim().replace("```", "'''").replace("~~~", "---");
            self.line(format!("#[doc = {text:?}]"));
        }
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}
