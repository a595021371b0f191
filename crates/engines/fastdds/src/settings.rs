//! The settings that `rmw_fastrtps` reads from environment variables
//! (ros2/rmw_fastrtps:rmw_fastrtps_shared_cpp/src/participant.cpp).

use std::ffi::OsString;

use feros_engine::engine::LOG_TARGET;

/// The thread on which writers of Fast DDS send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum PublicationMode {
    /// The thread that calls `publish`.
    #[default]
    Synchronous,
    /// A thread of Fast DDS.
    Asynchronous,
    /// The thread that Fast DDS chooses by default.
    Auto,
}

/// The settings of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Settings {
    /// Whether XML profiles set the policies that ROS leaves open.
    pub(crate) qos_from_xml: bool,
    pub(crate) publication_mode: PublicationMode,
}

impl Settings {
    pub(crate) fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let text = |name| variable(name).map(|value| value.to_string_lossy().into_owned());
        let mode = text("RMW_FASTRTPS_PUBLICATION_MODE").unwrap_or_default();
        let publication_mode = match mode.as_str() {
            "" | "SYNCHRONOUS" => PublicationMode::Synchronous,
            "ASYNCHRONOUS" => PublicationMode::Asynchronous,
            "AUTO" => PublicationMode::Auto,
            other => {
                tracing::warn!(
                    target: LOG_TARGET,
                    "RMW_FASTRTPS_PUBLICATION_MODE is {other:?}; it takes SYNCHRONOUS, \
                     ASYNCHRONOUS or AUTO. SYNCHRONOUS is used"
                );
                PublicationMode::Synchronous
            }
        };
        let qos_from_xml = text("RMW_FASTRTPS_USE_QOS_FROM_XML").as_deref() == Some("1");
        Self { qos_from_xml, publication_mode }
    }

    /// This mode's number in the shim's interface.
    pub(crate) fn mode_number(self) -> u8 {
        match self.publication_mode {
            PublicationMode::Synchronous => 0,
            PublicationMode::Asynchronous => 1,
            PublicationMode::Auto => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Settings {
        Settings::from_variables(|name| {
            variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).into())
        })
    }

    #[test]
    fn variables_are_read_as_rmw_fastrtps_reads_them() {
        assert_eq!(settings(&[]), Settings::default());
        let mode = |value| settings(&[("RMW_FASTRTPS_PUBLICATION_MODE", value)]).publication_mode;
        assert_eq!(mode("ASYNCHRONOUS"), PublicationMode::Asynchronous);
        assert_eq!(mode("AUTO"), PublicationMode::Auto);
        assert_eq!(mode("asynchronous"), PublicationMode::Synchronous);
        let from_xml = |value| settings(&[("RMW_FASTRTPS_USE_QOS_FROM_XML", value)]).qos_from_xml;
        assert!(from_xml("1") && !from_xml("true"));
    }
}
