//! Which type of ROS 1 is which of ROS 2, and the plans between them.

use std::sync::Arc;

use feros::action::ActionIdentity;
use feros::{ServiceIdentity, TypeIdentity};
use feros_interface::{Interface, InterfaceSet, Namespace, TypeName};
use feros_message::dynamic::{DynamicType, DynamicTypeError};
use feros_rmw::TypeHash;
use feros_ros1::{
    Catalog, CatalogError, ConvertError, MappingError, Plans, Ros1Action, Ros1Service, Ros1Type,
    Rules, parse_type, type_text,
};

/// All that is known of types.
#[derive(Debug)]
pub struct Types {
    /// The interfaces of ROS 2.
    pub set: InterfaceSet,
    /// The definitions of ROS 1.
    pub catalog: Catalog,
    /// Which is which, where names do not tell.
    pub rules: Rules,
}

/// Why a type of one side has no counterpart.
#[derive(Debug, thiserror::Error)]
pub enum TypeError {
    /// The definition of ROS 1.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The fields.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// The definition of ROS 2.
    #[error(transparent)]
    Ros2(#[from] DynamicTypeError),
    /// The name of ROS 1's type.
    #[error(transparent)]
    Name(#[from] feros_ros1::DefinitionError),
    /// Types that are in use on both sides do not belong together.
    #[error(
        "the type {ros1} of ROS 1 is none of the types of ROS 2 there: {}; a mapping rule can say that it is one", ros2.join(", ")
    )]
    Different {
        /// The type of ROS 1.
        ros1: String,
        /// Those of ROS 2.
        ros2: Vec<String>,
    },
    /// There is no such action of ROS 2.
    #[error("the action {ros2} is not known: add its package by --interfaces or AMENT_PREFIX_PATH")]
    NoAction {
        /// Its name.
        ros2: String,
    },
    /// There is no such type of ROS 2.
    #[error(
        "the type {ros1} of ROS 1 is not known in ROS 2: add its package by --interfaces or AMENT_PREFIX_PATH, or a mapping rule"
    )]
    NoRos2 {
        /// The type of ROS 1.
        ros1: String,
    },
}

/// The plans of a service.
#[derive(Debug)]
pub(crate) struct ServicePlans {
    pub(crate) request: Plans,
    pub(crate) response: Plans,
}

/// All that is needed for the messages of an action.
#[derive(Debug)]
pub(crate) struct ActionPlans {
    pub(crate) ros1: Ros1Action,
    pub(crate) identity: ActionIdentity,
    goal: Plans,
    result: Plans,
    feedback: Plans,
    /// A response to who asks for a result, of defaults.
    pub(crate) empty_result: Vec<u8>,
}

/// What is before a goal in a request, and before feedback in its message: the goal's identity.
const ID_BYTES: usize = 16;
/// What is before a result: the goal's status.
const STATUS_BYTES: usize = 1;

/// Between what the topics of actionlib have behind the goal's identity or status, and the messages
/// that travel in ROS 2, in which zeros stand for these.
impl ActionPlans {
    pub(crate) fn goal_to_ros1(&self, of: &[u8], out: &mut Vec<u8>) -> Result<(), ConvertError> {
        self.goal.to_ros1.convert_last(ID_BYTES, of, out)
    }

    pub(crate) fn goal_to_ros2(&self, of: &[u8], out: &mut Vec<u8>) -> Result<(), ConvertError> {
        self.goal.to_ros2.convert_last(ID_BYTES, of, out)
    }

    pub(crate) fn feedback_to_ros1(
        &self,
        of: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), ConvertError> {
        self.feedback.to_ros1.convert_last(ID_BYTES, of, out)
    }

    pub(crate) fn feedback_to_ros2(
        &self,
        of: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), ConvertError> {
        self.feedback.to_ros2.convert_last(ID_BYTES, of, out)
    }

    pub(crate) fn result_to_ros1(&self, of: &[u8], out: &mut Vec<u8>) -> Result<(), ConvertError> {
        self.result.to_ros1.convert_last(STATUS_BYTES, of, out)
    }

    pub(crate) fn result_to_ros2(&self, of: &[u8], out: &mut Vec<u8>) -> Result<(), ConvertError> {
        self.result.to_ros2.convert_last(STATUS_BYTES, of, out)
    }
}

impl Types {
    /// The type of ROS 2 for one of ROS 1: among those that are in use there, or, when none is,
    /// that which is known.
    pub(crate) fn ros2_message(&self, ros1: &str, used: &[&str]) -> Result<TypeName, TypeError> {
        let candidates = self.rules.of_ros1(&parse_type(ros1)?);
        if used.is_empty() {
            let known = candidates.into_iter().find(|name| self.set.message(name).is_some());
            return known.ok_or_else(|| TypeError::NoRos2 { ros1: ros1.to_owned() });
        }
        let found = candidates.into_iter().find(|name| used.contains(&&*name.to_string()));
        found.ok_or_else(|| TypeError::Different {
            ros1: ros1.to_owned(),
            ros2: used.iter().map(|name| (*name).to_owned()).collect(),
        })
    }

    /// The type of ROS 1 for one of ROS 2, where ROS 1 says none.
    pub(crate) fn ros1_message(&self, ros2: &TypeName) -> Result<Ros1Type, TypeError> {
        for name in self.rules.of_ros2(ros2) {
            match self.catalog.message(&name) {
                Err(CatalogError::Unknown { .. }) => {}
                found => return Ok(found?),
            }
        }
        Ok(self.catalog.message_of_ros2(ros2, &self.set, ros2)?)
    }

    /// The definition of a type of ROS 1 that has to be that of ROS 2.
    pub(crate) fn ros1_message_named(
        &self,
        ros1: &str,
        ros2: &TypeName,
    ) -> Result<Ros1Type, TypeError> {
        let name = parse_type(ros1)?;
        match self.catalog.message(&name) {
            Err(CatalogError::Unknown { .. }) => {
                Ok(self.catalog.message_of_ros2(&name, &self.set, ros2)?)
            }
            found => Ok(found?),
        }
    }

    /// The definition that a publisher means by name, text and checksum.
    pub(crate) fn ros1_message_of_peer(
        &self,
        who: &str,
        ros1: &str,
        definition: &str,
        md5sum: &str,
        ros2: &TypeName,
    ) -> Result<Ros1Type, TypeError> {
        if !definition.is_empty() {
            let name = parse_type(ros1)?;
            return Ok(self.catalog.message_of_peer(who, &name, definition, md5sum)?);
        }
        Ok(self.ros1_message_named(ros1, ros2)?.checked(who, md5sum)?)
    }

    pub(crate) fn plans(&self, ros1: &Ros1Type, ros2: &TypeName) -> Result<Plans, TypeError> {
        Ok(Plans::new(ros1, &self.set, ros2, &self.rules)?)
    }

    /// Name and hash of a message of ROS 2.
    pub(crate) fn identity(&self, ros2: &TypeName) -> Result<TypeIdentity, TypeError> {
        let ty = DynamicType::resolve(&self.set, ros2)?;
        Ok(TypeIdentity { name: ros2.to_string(), hash: Some(TypeHash(ty.type_hash().0)) })
    }

    /// The service of ROS 2 for one of ROS 1, with the definition of ROS 1 that has this checksum.
    pub(crate) fn ros2_service(
        &self,
        who: &str,
        ros1: &str,
        md5sum: &str,
    ) -> Result<(TypeName, Ros1Service), TypeError> {
        let name = parse_type(ros1)?;
        let name = TypeName::new(name.package, Namespace::Srv, name.name);
        let ros2 =
            self.rules.of_ros1(&name).into_iter().find(|name| self.set.service(name).is_some());
        let ros2 = ros2.ok_or_else(|| TypeError::NoRos2 { ros1: ros1.to_owned() })?;
        let service = match self.catalog.service(&name) {
            Err(CatalogError::Unknown { .. }) => {
                self.catalog.service_of_ros2(&name, &self.set, &ros2)
            }
            found => found,
        };
        Ok((ros2, service?.checked(who, md5sum)?))
    }

    /// The service of ROS 1 for one of ROS 2.
    pub(crate) fn ros1_service(&self, ros2: &TypeName) -> Result<Ros1Service, TypeError> {
        for name in self.rules.of_ros2(ros2) {
            match self.catalog.service(&name) {
                Err(CatalogError::Unknown { .. }) => {}
                found => return Ok(found?),
            }
        }
        Ok(self.catalog.service_of_ros2(ros2, &self.set, ros2)?)
    }

    pub(crate) fn service_plans(
        &self,
        ros1: &Ros1Service,
        ros2: &TypeName,
    ) -> Result<Arc<ServicePlans>, TypeError> {
        let request = self.plans(&ros1.request, &ros2.with_suffix("_Request"))?;
        let response = self.plans(&ros1.response, &ros2.with_suffix("_Response"))?;
        Ok(Arc::new(ServicePlans { request, response }))
    }

    /// A message of `actionlib_msgs`.
    pub(crate) fn actionlib(&self, name: &str) -> Result<Ros1Type, TypeError> {
        Ok(self.catalog.message(&TypeName::message("actionlib_msgs", name))?)
    }

    /// The action of ROS 2 for one of ROS 1, `package/Name`.
    pub(crate) fn ros2_action(&self, ros1: &str) -> Result<(TypeName, ActionPlans), TypeError> {
        let name = parse_type(ros1)?;
        let action = TypeName::new(&name.package, Namespace::Action, &name.name);
        let mut candidates = self.rules.of_ros1(&action).into_iter();
        let ros2 = candidates.find(|name| self.is_action(name));
        let ros2 = ros2.ok_or_else(|| TypeError::NoRos2 { ros1: ros1.to_owned() })?;
        let plans = self.action_plans(&self.ros1_action_named(&name, &ros2)?, &ros2)?;
        Ok((ros2, plans))
    }

    /// The action of ROS 1 for one of ROS 2.
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
        let response = ros2.with_suffix("_GetResult_Response");
        let response = DynamicType::resolve(&self.set, &response)?.default_message();
        Ok(ActionPlans {
            goal: self.plans(&ros1.goal, &ros2.with_suffix("_Goal"))?,
            result: self.plans(&ros1.result, &ros2.with_suffix("_Result"))?,
            feedback: self.plans(&ros1.feedback, &ros2.with_suffix("_Feedback"))?,
            identity: ActionIdentity {
                name: ros2.to_string(),
                send_goal: self.service_identity(&ros2.with_suffix("_SendGoal"))?,
                get_result: self.service_identity(&ros2.with_suffix("_GetResult"))?,
                feedback: self.identity(&ros2.with_suffix("_FeedbackMessage"))?,
            },
            // Defaults violate no type.
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

/// `package/Name`, as ROS 1 registers it.
pub(crate) fn ros1_name(name: &TypeName) -> String {
    type_text(name)
}
