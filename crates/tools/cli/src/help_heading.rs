//! Headings of the help, for options that several modules define.

/// The heading of options that many verbs take, apart from a verb's own.
pub(crate) const GENERAL_OPTIONS: &str = "General options";
