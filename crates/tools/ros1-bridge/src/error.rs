//! Why a name is not bridged, or why the bridge ends: all modules of the bridge return this error.

use feros_ros1::MasterError;

use crate::types::TypeError;

/// Why a name is not bridged, or why the bridge ends.
#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    /// The ROS 1 node failed.
    #[error(transparent)]
    Ros1(#[from] feros_ros1::NodeError),
    /// A call of a ROS 1 service failed.
    #[error(transparent)]
    Call(#[from] feros_ros1::CallError),
    /// The ROS 2 node failed.
    #[error(transparent)]
    Ros2(#[from] feros::CreateError),
    /// The types do not match.
    #[error(transparent)]
    Type(Box<TypeError>),
    /// Another bridge uses the same name in ROS 1.
    #[error(
        "the ROS 1 master has ended this bridge: {reason}. Two bridges under one master cannot \
         have the same name"
    )]
    Ended {
        /// The master's reason.
        reason: String,
    },
}

impl BridgeError {
    /// The error of the master, if the master caused this error.
    pub(crate) fn of_master(&self) -> Option<&MasterError> {
        match self {
            Self::Ros1(feros_ros1::NodeError::Master(error))
            | Self::Call(feros_ros1::CallError::Master(error)) => Some(error),
            _ => None,
        }
    }
}

impl From<feros_ros1::TypeError> for BridgeError {
    fn from(error: feros_ros1::TypeError) -> Self {
        TypeError::from(error).into()
    }
}

impl From<TypeError> for BridgeError {
    fn from(error: TypeError) -> Self {
        Self::Type(Box::new(error))
    }
}
