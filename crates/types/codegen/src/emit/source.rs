//! Collects the lines of generated source and indents them.

/// Source text that is being written. After a line that ends with an opening bracket, the following
/// lines are indented.
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

    /// Adds each line of a text, whatever its indentation in the text.
    pub(crate) fn lines(&mut self, text: impl AsRef<str>) {
        text.as_ref().lines().for_each(|line| self.line(line.trim()));
    }

    /// Closes this many blocks.
    pub(crate) fn close(&mut self, blocks: usize) {
        (0..blocks).for_each(|_| self.line("}"));
    }

    /// Adds documentation, one line for each string.
    ///
    /// Comments in definitions are prose and drawings and not Markdown. Leading spaces and fences
    /// are removed, because rustdoc would otherwise compile the text as examples.
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
