//! Headings of the help, for options that several modules define.

/// The options that many verbs take, apart from those of one verb.
pub(crate) const GENERAL_OPTIONS: &str = "General options";
