//! A set of interfaces that refer to each other, with lookup, references, descriptions and hashes.

use std::collections::BTreeMap;
use std::sync::Arc;

use feros_wording::in_parentheses;

use crate::description::{IndividualTypeDescription, TypeDescription, TypeHash};
use crate::name::{Namespace, TypeName};
use crate::tree::{BaseType, Field, FieldType, Interface, MessageDefinition, ServiceDefinition};

/// The limit on the nesting depth of messages. The types of stock ROS 2 have a depth below 10.
pub const MAX_NESTING_DEPTH: usize = 64;

/// Definitions by name, with all types that are derived from them.
///
/// A package that is loaded from a folder completely replaces a package with the same name, so that
/// definitions of two versions are never mixed. Cloning costs little, because clones share the
/// definitions.
///
/// ```
/// use feros_interface::{Interface, InterfaceSet, parse_message};
///
/// let mut set = InterfaceSet::new();
/// set.insert(Interface::Message(parse_message("std_msgs", "String", "string data")?))?;
/// assert_eq!(
///     set.type_hash(&"std_msgs/msg/String".parse()?)?.to_string(),
///     "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct InterfaceSet {
    interfaces: BTreeMap<TypeName, Arc<Interface>>,
    messages: BTreeMap<TypeName, Arc<MessageDefinition>>,
    services: BTreeMap<TypeName, Arc<ServiceDefinition>>,
    /// Services and actions as structures whose fields are their parts, because type descriptions
    /// treat them in this way.
    composites: BTreeMap<TypeName, Arc<MessageDefinition>>,
}

/// The error of an interface that cannot be added to a set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` is already defined: a type, and each message that follows from a service or action, is defined once"
)]
pub struct InsertError {
    /// The name that is already defined.
    pub name: TypeName,
}

/// The error of a type that is not in the set, or whose references cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// The set has no such type.
    #[error("unknown type `{}`{}", feros_wording::harmless(name), in_parentheses(nearest))]
    Unknown {
        /// The name that was requested.
        name: String,
        /// Similar names. The most similar name is first.
        nearest: Vec<String>,
    },
    /// A field refers to a type that is not in the set.
    #[error("`{name}`, the type of field `{field}` in `{needed_by}`, is not defined{}{}", in_parentheses(nearest),
        if *package_known { "" } else { ": add its package" })]
    Missing {
        /// The type that is missing.
        name: Box<TypeName>,
        /// The type that refers to the missing type.
        needed_by: Box<TypeName>,
        /// The field that refers to the missing type.
        field: String,
        /// Similar names. The most similar name is first.
        nearest: Vec<String>,
        /// Whether the set has the package of the missing type.
        package_known: bool,
    },
    /// A type contains itself.
    #[error("`{}` contains itself: {}", chain.first().map(ToString::to_string).unwrap_or_default(), arrows(chain))]
    Circular {
        /// The references that lead from the type back to itself.
        chain: Vec<TypeName>,
    },
    /// Types are nested too deeply.
    #[error("`{name}` nests messages more than {MAX_NESTING_DEPTH} deep")]
    TooDeep {
        /// The outermost type.
        name: TypeName,
    },
}

fn arrows(chain: &[TypeName]) -> String {
    chain.iter().map(TypeName::to_string).collect::<Vec<_>>().join(" -> ")
}

impl InterfaceSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an interface and the types that are derived from it.
    ///
    /// # Errors
    /// Fails if one of the names already exists. After an error, the set is unchanged.
    pub fn insert(&mut self, interface: Interface) -> Result<(), InsertError> {
        let messages = interface.messages();
        let services = interface.services();
        let names = messages.iter().map(|m| &m.name).chain(services.iter().map(|s| &s.name));
        if let Some(name) = names.chain([interface.name()]).find(|name| self.contains(name)) {
            return Err(InsertError { name: name.clone() });
        }
        for message in messages {
            self.messages.insert(message.name.clone(), Arc::new(message));
        }
        for service in services {
            self.composites.insert(service.name.clone(), Arc::new(service_structure(&service)));
            self.services.insert(service.name.clone(), Arc::new(service));
        }
        if let Interface::Action(action) = &interface {
            let parts = [
                ("goal", &action.goal.name),
                ("result", &action.result.name),
                ("feedback", &action.feedback.name),
                ("send_goal_service", &action.name.with_suffix("_SendGoal")),
                ("get_result_service", &action.name.with_suffix("_GetResult")),
                ("feedback_message", &action.name.with_suffix("_FeedbackMessage")),
            ];
            self.composites.insert(action.name.clone(), Arc::new(structure(&action.name, &parts)));
        }
        self.interfaces.insert(interface.name().clone(), Arc::new(interface));
        Ok(())
    }

    /// Removes all interfaces of a package.
    pub fn remove_package(&mut self, package: &str) {
        self.interfaces.retain(|name, _| name.package != package);
        self.messages.retain(|name, _| name.package != package);
        self.services.retain(|name, _| name.package != package);
        self.composites.retain(|name, _| name.package != package);
    }

    /// The interface that a definition file of this name declares.
    pub fn get(&self, name: &TypeName) -> Option<&Arc<Interface>> {
        self.interfaces.get(name)
    }

    /// A message by its name. It is from a `.msg` file, or it is a part of a service or action.
    pub fn message(&self, name: &TypeName) -> Option<&Arc<MessageDefinition>> {
        self.messages.get(name)
    }

    /// A service by its name. It is from a `.srv` file, or it is derived from an action.
    pub fn service(&self, name: &TypeName) -> Option<&Arc<ServiceDefinition>> {
        self.services.get(name)
    }

    /// Whether there is an interface, message or service with this name.
    pub fn contains(&self, name: &TypeName) -> bool {
        self.structure(name).is_some()
    }

    /// The sorted names of all packages.
    pub fn packages(&self) -> Vec<&str> {
        let mut packages: Vec<&str> =
            self.interfaces.keys().map(|name| name.package.as_str()).collect();
        packages.dedup();
        packages
    }

    /// Whether the set has an interface of this package.
    pub fn has_package(&self, package: &str) -> bool {
        self.interfaces.keys().any(|name| name.package == package)
    }

    /// All interfaces, ordered by name.
    pub fn interfaces(&self) -> impl Iterator<Item = &Arc<Interface>> {
        self.interfaces.values()
    }

    /// All messages, including the messages of services and actions, ordered by name.
    pub fn messages(&self) -> impl Iterator<Item = &Arc<MessageDefinition>> {
        self.messages.values()
    }

    /// All services, including the services of actions, ordered by name.
    pub fn services(&self) -> impl Iterator<Item = &Arc<ServiceDefinition>> {
        self.services.values()
    }

    /// The names of all types that have a type hash: interfaces, and the messages and services that
    /// are derived from them. They are ordered by name.
    pub fn type_names(&self) -> Vec<&TypeName> {
        let mut names: Vec<&TypeName> =
            self.messages.keys().chain(self.composites.keys()).collect();
        names.sort_unstable();
        names
    }

    /// Finds the type that a user means by a full name, or by `package/Name` if only one interface
    /// has that name.
    ///
    /// # Errors
    /// Fails with [`ResolveError::Unknown`], which contains similar names.
    pub fn find(&self, text: &str) -> Result<TypeName, ResolveError> {
        let candidates: Vec<TypeName> = match text.split_once('/') {
            Some((package, name)) if !name.contains('/') => {
                Namespace::ALL.map(|namespace| TypeName::new(package, namespace, name)).into()
            }
            _ => text.parse().into_iter().collect(),
        };
        let mut found = candidates.into_iter().filter(|name| self.contains(name));
        match (found.next(), found.next()) {
            (Some(name), None) => Ok(name),
            (Some(one), Some(other)) => Err(ResolveError::Unknown {
                name: text.to_owned(),
                nearest: vec![one.to_string(), other.to_string()],
            }),
            (None, _) => {
                Err(ResolveError::Unknown { name: text.to_owned(), nearest: self.nearest(text) })
            }
        }
    }

    /// All messages (and, for an action, services) to which `name` refers, directly or indirectly.
    /// They are ordered by name, and `name` itself is not among them.
    ///
    /// # Errors
    /// Fails if `name` is unknown, a reference is missing, a type contains itself, or the nesting
    /// is too deep.
    pub fn references(&self, name: &TypeName) -> Result<Vec<TypeName>, ResolveError> {
        let Some(top) = self.structure(name) else {
            let text = name.to_string();
            return Err(ResolveError::Unknown { nearest: self.nearest(&text), name: text });
        };
        let mut walk = Walk { set: self, heights: BTreeMap::new(), path: vec![name.clone()] };
        walk.height(top)?;
        Ok(walk.heights.into_keys().collect())
    }

    /// The description of a message, service or action.
    ///
    /// # Errors
    /// Fails like [`InterfaceSet::references`].
    pub fn type_description(&self, name: &TypeName) -> Result<TypeDescription, ResolveError> {
        let individual = |name: &TypeName| {
            let fields = self.structure(name).map(|structure| structure.wire_fields());
            IndividualTypeDescription::of(name.to_string(), &fields.unwrap_or_default())
        };
        let references = self.references(name)?;
        Ok(TypeDescription {
            type_description: individual(name),
            referenced_type_descriptions: references.iter().map(individual).collect(),
        })
    }

    /// The RIHS01 hash of a message, service or action.
    ///
    /// # Errors
    /// Fails like [`InterfaceSet::references`].
    pub fn type_hash(&self, name: &TypeName) -> Result<TypeHash, ResolveError> {
        Ok(self.type_description(name)?.type_hash())
    }

    /// Checks the references of every type in the set, and returns the errors.
    pub fn check(&self) -> Vec<ResolveError> {
        let mut faults: Vec<ResolveError> = Vec::new();
        for name in self.interfaces.keys() {
            if let Err(fault) = self.references(name)
                && !faults.contains(&fault)
            {
                faults.push(fault);
            }
        }
        faults
    }

    /// Moves everything from `other` into this set. Packages that this set already has remain
    /// unchanged.
    pub fn add_packages(&mut self, mut other: InterfaceSet) {
        for package in self.packages() {
            other.remove_package(package);
        }
        self.absorb(other);
    }

    /// Moves everything from `other` into this set. The two sets must not have a package in common.
    pub(crate) fn absorb(&mut self, other: InterfaceSet) {
        self.interfaces.extend(other.interfaces);
        self.messages.extend(other.messages);
        self.services.extend(other.services);
        self.composites.extend(other.composites);
    }

    fn structure(&self, name: &TypeName) -> Option<&Arc<MessageDefinition>> {
        self.messages.get(name).or_else(|| self.composites.get(name))
    }

    /// At most three names that are similar to `text`, either as a whole or in their last part.
    pub(crate) fn nearest(&self, text: &str) -> Vec<String> {
        let names: Vec<String> = self.interfaces.keys().map(TypeName::to_string).collect();
        let nearest = feros_wording::nearest_types(text, names.iter().map(String::as_str));
        nearest.into_iter().map(str::to_owned).collect()
    }
}

/// A depth-first walk over references that visits each type once.
struct Walk<'a> {
    set: &'a InterfaceSet,
    /// The nesting depth below each type that has been visited.
    heights: BTreeMap<TypeName, usize>,
    path: Vec<TypeName>,
}

impl Walk<'_> {
    fn height(&mut self, of: &MessageDefinition) -> Result<usize, ResolveError> {
        let mut height = 0;
        for name in of.references() {
            let below = match self.heights.get(name) {
                Some(&known) => known,
                None => self.visit(name, of)?,
            };
            height = height.max(below + 1);
            if self.path.len() + height > MAX_NESTING_DEPTH {
                return Err(ResolveError::TooDeep { name: self.path[0].clone() });
            }
        }
        Ok(height)
    }

    fn visit(
        &mut self,
        name: &TypeName,
        needed_by: &MessageDefinition,
    ) -> Result<usize, ResolveError> {
        if let Some(start) = self.path.iter().position(|on_path| on_path == name) {
            let mut chain = self.path[start..].to_vec();
            chain.push(name.clone());
            return Err(ResolveError::Circular { chain });
        }
        let Some(structure) = self.set.structure(name) else {
            let is_it = |field: &&Field| matches!(&field.ty.base, BaseType::Nested(nested) if nested == name);
            return Err(ResolveError::Missing {
                name: Box::new(name.clone()),
                needed_by: Box::new(needed_by.name.clone()),
                field: needed_by
                    .fields
                    .iter()
                    .find(is_it)
                    .map(|f| f.name.clone())
                    .unwrap_or_default(),
                nearest: self.set.nearest(&name.to_string()),
                package_known: self.set.has_package(&name.package),
            });
        };
        if self.path.len() >= MAX_NESTING_DEPTH {
            return Err(ResolveError::TooDeep { name: self.path[0].clone() });
        }
        self.path.push(name.clone());
        let height = self.height(structure)?;
        self.path.pop();
        self.heights.insert(name.clone(), height);
        Ok(height)
    }
}

fn service_structure(service: &ServiceDefinition) -> MessageDefinition {
    let parts = [
        ("request_message", &service.request.name),
        ("response_message", &service.response.name),
        ("event_message", &service.name.with_suffix("_Event")),
    ];
    structure(&service.name, &parts)
}

fn structure(name: &TypeName, parts: &[(&str, &TypeName)]) -> MessageDefinition {
    let field = |&(field, ty): &(&str, &TypeName)| {
        Field::new(field, FieldType::single(BaseType::Nested(ty.clone())))
    };
    MessageDefinition::new(name.clone(), parts.iter().map(field).collect())
}
