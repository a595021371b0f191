//! Finds the matching types of ROS 1 and ROS 2, and creates the plans that convert between them.

use std::ops::Deref;

use feros::action::ActionIdentity;
use feros::{ServiceIdentity, TypeIdentity};
use feros_engine::TypeHash;
use feros_interface::{Interface, Namespace, TypeName};
use feros_message::dynamic::{DynamicType, DynamicTypeError};
use feros_ros1::{CatalogError, ConvertError, Plans, Ros1Action, Ros1Type, parse_type};

/// All known types, including those of actions.
#[derive(Debug)]
pub struct Types(feros_ros1::Types);

impl Deref for Types {
    type Target = feros_ros1::Types;

    fn deref(&self) -> &feros_ros1::Types {
        &self.0
    }
}

/// Why a type has no counterpart on the other side.
#[derive(Debug, thiserror::Error)]
pub enum TypeError {
    /// The error is in a message or service.
    #[error(transparent)]
    Type(feros_ros1::TypeError),
    /// The error is in the ROS 2 definition.
    #[error(transparent)]
    Ros2(#[from] DynamicTypeError),
    /// ROS 2 has no action with this name.
    #[error("the action {ros2} is unknown: add its package with --interfaces or AMENT_PREFIX_PATH")]
    NoAction {
        /// The name of the action.
        ros2: String,
    },
}

impl From<feros_ros1::TypeError> for TypeError {
    fn from(error: feros_ros1::TypeError) -> Self {
        Self::Type(error)
    }
}

impl From<CatalogError> for TypeError {
    fn from(error: CatalogError) -> Self {
        Self::Type(error.into())
    }
}

impl From<feros_ros1::DefinitionError> for TypeError {
    fn from(error: feros_ros1::DefinitionError) -> Self {
        Self::Type(error.into())
    }
}

/// The plans and types for the messages of an action.
#[derive(Debug)]
pub(crate) struct ActionPlans {
    pub(crate) ros1: Ros1Action,
    pub(crate) identity: ActionIdentity,
    pub(crate) goal: ActionPart,
    pub(crate) result: ActionPart,
    pub(crate) feedback: ActionPart,
    /// A response to a request for a result, with default values.
    pub(crate) empty_result: Vec<u8>,
}

/// The bytes of the goal's identity, which precede a goal in its request and feedback in its
/// message.
const ID_BYTES: usize = 16;
/// The bytes of the goal's status, which precede a result.
const STATUS_BYTES: usize = 1;

/// Converts between the last fields of actionlib messages, after the goal's identity or status, and
/// messages of ROS 2. On the ROS 2 side, the identity or status is written as zeros.
#[derive(Debug)]
pub(crate) struct ActionPart {
    plans: Plans,
    /// The number of bytes before the last fields.
    begin: usize,
}

impl ActionPart {
    pub(crate) fn to_ros1(&self, of: &[u8], out: &mut Vec<u8>) -> Result<(), ConvertError> {
        self.plans.to_ros1.convert_last(self.begin, of, out)
    }

    pub(crate) fn to_ros2(&self, of: &[u8], out: &mut Vec<u8>) -> Result<(), ConvertError> {
        self.plans.to_ros2.convert_last(self.begin, of, out)
    }
}

impl Types {
    /// Wraps the known interfaces, definitions and rules.
    #[must_use]
    pub fn new(types: feros_ros1::Types) -> Self {
        Self(types)
    }

    /// Returns the name and hash of a ROS 2 message type.
    pub(crate) fn identity(&self, ros2: &TypeName) -> Result<TypeIdentity, TypeError> {
        let ty = DynamicType::resolve(&self.set, ros2)?;
        Ok(TypeIdentity { name: ros2.to_string(), hash: Some(TypeHash(ty.type_hash().0)) })
    }

    /// Returns a message type of `actionlib_msgs`.
    pub(crate) fn actionlib(&self, name: &str) -> Result<Ros1Type, TypeError> {
        Ok(self.catalog.message(&TypeName::message("actionlib_msgs", name))?)
    }

    /// Returns the ROS 2 action for a ROS 1 action, `package/Name`.
    pub(crate) fn ros2_action(&self, ros1: &str) -> Result<(TypeName, ActionPlans), TypeError> {
        let name = parse_type(ros1)?;
        let action = TypeName::new(&name.package, Namespace::Action, &name.name);
        let mut candidates = self.rules.of_ros1(&action).into_iter();
        let ros2 = candidates.find(|name| self.is_action(name));
        let ros2 = ros2.ok_or_else(|| feros_ros1::TypeError::NoRos2 { ros1: ros1.to_owned() })?;
        let plans = self.action_plans(&self.ros1_action_named(&name, &ros2)?, &ros2)?;
        Ok((ros2, plans))
    }

    /// Returns the plans for a ROS 2 action, for which it finds the ROS 1 action.
    pub(crate) fn ros1_action(&self, ros2: &TypeName) -> Result<ActionPlans, TypeError> {
        if !self.is_action(ros2) {
            return Err(TypeError::NoAction { ros2: ros2.to_string() });
        }
        for name in self.rules.of_ros2(ros2) {
            match self.catalog.action(&TypeName::message(name.package, name.name)) {
                Err(CatalogError::Unknown { .. }) => {}
                found => return self.action_plans(&found?, ros2),
            }
        }
        let name = TypeName::message(&ros2.package, &ros2.name);
        self.action_plans(&self.catalog.action_of_ros2(&name, &self.set, ros2)?, ros2)
    }

    fn is_action(&self, name: &TypeName) -> bool {
        self.set.get(name).is_some_and(|found| matches!(**found, Interface::Action(_)))
    }

    fn ros1_action_named(&self, ros1: &TypeName, ros2: &TypeName) -> Result<Ros1Action, TypeError> {
        match self.catalog.action(ros1) {
            Err(CatalogError::Unknown { .. }) => {
                Ok(self.catalog.action_of_ros2(ros1, &self.set, ros2)?)
            }
            found => Ok(found?),
        }
    }

    fn action_plans(&self, ros1: &Ros1Action, ros2: &TypeName) -> Result<ActionPlans, TypeError> {
        let part = |ty: &Ros1Type, suffix: &str, begin: usize| {
            let plans = self.plans(ty, &ros2.with_suffix(suffix))?;
            Ok::<_, TypeError>(ActionPart { plans, begin })
        };
        let response = ros2.with_suffix("_GetResult_Response");
        let response = DynamicType::resolve(&self.set, &response)?.default_message();
        Ok(ActionPlans {
            goal: part(&ros1.goal, "_Goal", ID_BYTES)?,
            result: part(&ros1.result, "_Result", STATUS_BYTES)?,
            feedback: part(&ros1.feedback, "_Feedback", ID_BYTES)?,
            identity: ActionIdentity {
                name: ros2.to_string(),
                send_goal: self.service_identity(&ros2.with_suffix("_SendGoal"))?,
                get_result: self.service_identity(&ros2.with_suffix("_GetResult"))?,
                feedback: self.identity(&ros2.with_suffix("_FeedbackMessage"))?,
            },
            // Default values fit every type.
            empty_result: response.to_cdr().unwrap_or_else(|_| vec![0, 1, 0, 0, 0]),
            ros1: ros1.clone(),
        })
    }

    pub(crate) fn service_identity(&self, ros2: &TypeName) -> Result<ServiceIdentity, TypeError> {
        let hash = |suffix| {
            let ty = DynamicType::resolve(&self.set, &ros2.with_suffix(suffix))?;
            Ok::<_, TypeError>(Some(TypeHash(ty.type_hash().0)))
        };
        Ok(ServiceIdentity {
            name: ros2.to_string(),
            type_hash: self.set.type_hash(ros2).ok().map(|hash| TypeHash(hash.0)),
            request_hash: hash("_Request")?,
            response_hash: hash("_Response")?,
        })
    }
}
