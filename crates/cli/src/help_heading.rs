//! Headings of the help, which options of several rooms stand under.

/// The options that many verbs take, apart from those of one verb.
pub(crate) const GENERAL_OPTIONS: &str = "General options";
