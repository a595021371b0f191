//! The findings of `feros doctor`: severity and cure.

use serde::Serialize;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::commands) enum Status {
    /// The check found no problem.
    Ok,
    /// ROS works, but not as well as it could.
    Warning,
    /// ROS does not work.
    Error,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(in crate::commands) struct Finding {
    pub(in crate::commands) area: &'static str,
    pub(in crate::commands) status: Status,
    pub(in crate::commands) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) cure: Option<String>,
}

impl Finding {
    pub(super) fn ok(area: &'static str, text: impl Into<String>) -> Self {
        Self { area, status: Status::Ok, text: text.into(), cure: None }
    }

    pub(super) fn warning(
        area: &'static str,
        text: impl Into<String>,
        cure: impl Into<String>,
    ) -> Self {
        Self { area, status: Status::Warning, text: text.into(), cure: Some(cure.into()) }
    }

    pub(super) fn error(
        area: &'static str,
        text: impl Into<String>,
        cure: impl Into<String>,
    ) -> Self {
        Self { area, status: Status::Error, text: text.into(), cure: Some(cure.into()) }
    }
}
