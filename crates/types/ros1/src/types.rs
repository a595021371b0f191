//! Finds the types of ROS 1 and ROS 2 that match each other, and creates the plans that convert
//! between them.

use std::sync::Arc;

use feros_interface::{InterfaceSet, Namespace, TypeName};

use crate::catalog::Catalog;
use crate::definition::{DefinitionError, parse_type};
use crate::mapping::{MappingError, Plans};
use crate::ros1_type::{CatalogError, Ros1Service, Ros1Type};
use crate::rules::Rules;

/// The advice if the two sides have different checksums.
pub const ONE_DEFINITION: &str = "use one definition in the packages of both sides (the definition here comes from \
     ROS_PACKAGE_PATH, AMENT_PREFIX_PATH or FEROS_INTERFACES, if one of them has the package), or give one side \
     another name";

/// Returns the warning that a publisher's messages are not received, with the types and checksums
/// of both sides.
#[must_use]
pub fn not_received(topic: &str, who: &str, theirs: (&str, &str), ours: (&str, &str)) -> String {
    format!(
        "{topic} of {who} is not received: it is {} with md5sum {} there, and {} with md5sum {} here; {ONE_DEFINITION}",
        theirs.0, theirs.1, ours.0, ours.1
    )
}

/// All known types.
#[derive(Debug)]
pub struct Types {
    /// The interfaces of ROS 2.
    pub set: InterfaceSet,
    /// The definitions of ROS 1.
    pub catalog: Catalog,
    /// The rules for pairs of types with different names.
    pub rules: Rules,
}

/// The reason why a type has no counterpart.
#[derive(Debug, thiserror::Error)]
pub enum TypeError {
    /// The error is in the ROS 1 definition.
    #[error(transparent)]
    Catalog(Box<CatalogError>),
    /// The fields do not match.
    #[error(transparent)]
    Mapping(Box<MappingError>),
    /// The name of the ROS 1 type is malformed.
    #[error(transparent)]
    Name(#[from] DefinitionError),
    /// The ROS 1 type does not match any ROS 2 type in use on the topic.
    #[error(
        "the type {ros1} of ROS 1 matches none of the types of ROS 2 on this topic: {}; a mapping rule can pair them", ros2.join(", ")
    )]
    Different {
        /// The type of ROS 1.
        ros1: String,
        /// The types of ROS 2.
        ros2: Vec<String>,
    },
    /// ROS 2 has no type that matches the ROS 1 type.
    #[error(
        "the type {ros1} of ROS 1 is unknown in ROS 2: add its package with --interfaces or \
         AMENT_PREFIX_PATH, or write a mapping rule"
    )]
    NoRos2 {
        /// The type of ROS 1.
        ros1: String,
    },
}

impl From<CatalogError> for TypeError {
    fn from(error: CatalogError) -> Self {
        Self::Catalog(Box::new(error))
    }
}

impl From<MappingError> for TypeError {
    fn from(error: MappingError) -> Self {
        Self::Mapping(Box::new(error))
    }
}

/// The plans for a service.
#[derive(Debug)]
pub struct ServicePlans {
    /// The plans for requests.
    pub request: Plans,
    /// The plans for responses.
    pub response: Plans,
}

impl Types {
    /// Returns the ROS 2 type for a ROS 1 type. `used` are the types that are used on the topic;
    /// the result is one of them, or the first known counterpart if `used` is empty.
    ///
    /// # Errors
    /// Returns an error if the type has no counterpart or its definition is unknown.
    pub fn ros2_message(&self, ros1: &str, used: &[&str]) -> Result<TypeName, TypeError> {
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

    /// Returns the ROS 1 type for a ROS 2 type. This is for a topic whose type no ROS 1 node has
    /// stated.
    ///
    /// # Errors
    /// Returns an error if the type has no counterpart or its definition is unknown.
    pub fn ros1_message(&self, ros2: &TypeName) -> Result<Ros1Type, TypeError> {
        for name in self.rules.of_ros2(ros2) {
            match self.catalog.message(&name) {
                Err(CatalogError::Unknown { .. }) => {}
                found => return Ok(found?),
            }
        }
        Ok(self.catalog.message_of_ros2(ros2, &self.set, ros2)?)
    }

    /// Returns the definition of a ROS 1 type that must match a ROS 2 type.
    ///
    /// # Errors
    /// Returns an error if the type has no counterpart or its definition is unknown.
    pub fn ros1_message_named(&self, ros1: &str, ros2: &TypeName) -> Result<Ros1Type, TypeError> {
        let name = parse_type(ros1)?;
        match self.catalog.message(&name) {
            Err(CatalogError::Unknown { .. }) => {
                Ok(self.catalog.message_of_ros2(&name, &self.set, ros2)?)
            }
            found => Ok(found?),
        }
    }

    /// Returns the definition that a publisher uses, from its name, text and checksum.
    ///
    /// # Errors
    /// Returns an error if the type has no counterpart or its definition is unknown.
    pub fn ros1_message_of_peer(
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

    /// Creates the plans between a ROS 1 message and a ROS 2 message.
    ///
    /// # Errors
    /// Returns an error if the type has no counterpart or its definition is unknown.
    pub fn plans(&self, ros1: &Ros1Type, ros2: &TypeName) -> Result<Plans, TypeError> {
        Ok(Plans::new(ros1, &self.set, ros2, &self.rules)?)
    }

    /// Returns the ROS 2 service for a ROS 1 service, and the ROS 1 definition that has this
    /// checksum.
    ///
    /// # Errors
    /// Returns an error if the type has no counterpart or its definition is unknown.
    pub fn ros2_service(
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

    /// Returns the ROS 1 service for a ROS 2 service.
    ///
    /// # Errors
    /// Returns an error if the type has no counterpart or its definition is unknown.
    pub fn ros1_service(&self, ros2: &TypeName) -> Result<Ros1Service, TypeError> {
        for name in self.rules.of_ros2(ros2) {
            match self.catalog.service(&name) {
                Err(CatalogError::Unknown { .. }) => {}
                found => return Ok(found?),
            }
        }
        Ok(self.catalog.service_of_ros2(ros2, &self.set, ros2)?)
    }

    /// Creates the plans between a ROS 1 service and a ROS 2 service.
    ///
    /// # Errors
    /// Returns an error if the type has no counterpart or its definition is unknown.
    pub fn service_plans(
        &self,
        ros1: &Ros1Service,
        ros2: &TypeName,
    ) -> Result<Arc<ServicePlans>, TypeError> {
        let request = self.plans(&ros1.request, &ros2.with_suffix("_Request"))?;
        let response = self.plans(&ros1.response, &ros2.with_suffix("_Response"))?;
        Ok(Arc::new(ServicePlans { request, response }))
    }
}
