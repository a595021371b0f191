//! The interfaces that the command knows: those shipped with Feros, those in folders named by
//! environment variables, and those in the folders of `--interfaces`. Below it: messages that users
//! type, and types that nodes describe.

pub(crate) mod described;
pub(crate) mod values;

use std::path::PathBuf;
use std::sync::OnceLock;

use feros::action::ActionIdentity;
use feros::{ServiceIdentity, TypeIdentity};
use feros_engine::TypeHash;
use feros_interface::{Interface, InterfaceSet, Namespace, PLACES, TypeName};
use feros_message::dynamic::DynamicType;

use crate::error::CliError;
use crate::help_heading::GENERAL_OPTIONS;
use crate::nearest::did_you_mean;

/// The option `--interfaces`, which every verb takes.
#[derive(clap::Args, Clone)]
pub(crate) struct InterfaceArgs {
    /// A folder with interface definitions: a package (`msg/`, `srv/`, `action/`) or a folder of
    /// packages; may be repeated. FEROS_INTERFACES names such folders for all commands, separated
    /// by colons.
    #[arg(long, global = true, value_name = "DIR", help_heading = GENERAL_OPTIONS)]
    interfaces: Vec<PathBuf>,
}

impl InterfaceArgs {
    /// These folders, as if the command line had named them.
    pub(crate) fn of_folders(interfaces: Vec<PathBuf>) -> Self {
        Self { interfaces }
    }
}

/// All known interfaces.
pub(crate) struct Types {
    /// All but the packages of robots that Feros ships. They suffice for most commands, which start
    /// faster without the others.
    certain: InterfaceSet,
    /// All, once a command needs more.
    all: OnceLock<InterfaceSet>,
    /// Faults in the folders that variables name: they are reported only if a type is missing.
    faults: Vec<String>,
}

impl Types {
    /// Loads the interfaces: packages of later sources replace those of earlier ones as a whole.
    pub(crate) fn load(args: &InterfaceArgs) -> Result<Self, CliError> {
        let mut certain = feros_interface::standard().clone();
        let faults = certain.load_environment();
        for dir in &args.interfaces {
            certain
                .load_dir(dir)
                .map_err(|error| CliError::failed(format!("--interfaces: {error}")))?;
        }
        Ok(Self { certain, all: OnceLock::new(), faults })
    }

    /// The set of all interfaces.
    pub(crate) fn set(&self) -> &InterfaceSet {
        self.all.get_or_init(|| {
            let mut all = self.certain.clone();
            all.add_robot_packages();
            all
        })
    }

    /// The set without the packages of robots that Feros ships. The definitions of those packages
    /// change between distributions, so that a name without a hash does not identify a definition.
    pub(crate) fn certain(&self) -> &InterfaceSet {
        &self.certain
    }

    /// The smallest set that has this type or package, and all that it refers to.
    pub(crate) fn set_with(&self, name: &str) -> &InterfaceSet {
        // The standard packages refer to each other only.
        let package = name.split('/').next().unwrap_or_default();
        if feros_interface::standard().has_package(package) { &self.certain } else { self.set() }
    }

    /// The type that the user means: `package/msg/Name`, or `package/Name`.
    pub(crate) fn find(&self, text: &str) -> Result<TypeName, CliError> {
        self.set_with(text).find(text).map_err(|error| self.unknown(error))
    }

    fn unknown(&self, error: impl std::fmt::Display) -> CliError {
        let fault = match self.faults.first() {
            Some(fault) => format!("; also, some packages cannot be read: {fault}"),
            None => String::new(),
        };
        CliError::failed(format!(
            "{error}; types are looked up {PLACES} and in --interfaces DIR{fault}"
        ))
    }

    /// The message type that the user means.
    pub(crate) fn message(&self, text: &str) -> Result<DynamicType, CliError> {
        let name = self.find_in(text, Namespace::Msg)?;
        DynamicType::resolve(self.set_with(text), &name).map_err(|error| self.unknown(error))
    }

    /// Refuses a string that cannot be the name of a message type, known or not.
    pub(crate) fn check_name(&self, text: &str) -> Result<(), CliError> {
        match text.parse::<TypeName>() {
            Ok(_) => Ok(()),
            Err(_) => self.message(text).map(drop),
        }
    }

    /// The service type that the user means.
    pub(crate) fn service(&self, text: &str) -> Result<DynamicService, CliError> {
        let name = self.find_in(text, Namespace::Srv)?;
        let set = self.set_with(text);
        let Some(service) = set.service(&name) else {
            return Err(CliError::usage(format!(
                "{name} is not a service type: name one such as std_srvs/srv/SetBool (`feros interface list -s` lists all)"
            )));
        };
        let resolve = |name| DynamicType::resolve(set, name).map_err(|error| self.unknown(error));
        Ok(DynamicService {
            hash: set.type_hash(&name).ok().map(|hash| TypeHash(hash.0)),
            request: resolve(&service.request.name)?,
            response: resolve(&service.response.name)?,
            name,
        })
    }

    /// The action type that the user means.
    pub(crate) fn action(&self, text: &str) -> Result<DynamicAction, CliError> {
        let name = self.find_in(text, Namespace::Action)?;
        let found = self.set_with(text).get(&name);
        let Some(Interface::Action(definition)) = found.map(|found| &**found) else {
            return Err(CliError::usage(format!(
                "{name} is not an action type: name one such as example_interfaces/action/Fibonacci (`feros interface list -a` lists all)"
            )));
        };
        Ok(DynamicAction {
            goal: self.message(&definition.goal.name.to_string())?,
            send_goal: self.service(&definition.send_goal().name.to_string())?,
            get_result: self.service(&definition.get_result().name.to_string())?,
            feedback: self.message(&definition.feedback_message().name.to_string())?,
            name,
        })
    }

    /// The type that the user means, where `package/Name` is first looked up in this namespace.
    fn find_in(&self, text: &str, namespace: Namespace) -> Result<TypeName, CliError> {
        let parts = text.split_once('/');
        let name = parts.map(|(package, name)| TypeName::new(package, namespace, name));
        let set = self.set_with(text);
        match name.filter(|name| set.get(name).is_some()) {
            Some(name) => Ok(name),
            None => self.find(text),
        }
    }

    /// Warns of a type that is not known here, for verbs that only compare its name with the names
    /// of types in the graph.
    pub(crate) fn warn_of_unknown(&self, text: &str, namespace: Namespace) {
        // The full name is more similar to the names of other types.
        if let Err(error) = self.find(&full_name(text, namespace)) {
            crate::notices::warn(format!(
                "{error}; it is looked for nevertheless, because other programs may define it"
            ));
        }
    }

    /// A package that the user means.
    pub(crate) fn package<'a>(&self, name: &'a str) -> Result<&'a str, CliError> {
        let set = self.set_with(name);
        if set.has_package(name) {
            return Ok(name);
        }
        let likely = did_you_mean(name, set.packages());
        Err(self.unknown(format!("unknown package `{name}`{likely}")))
    }

    /// Warns of the faults in the folders that variables name.
    pub(crate) fn warn_of_faults(&self) {
        self.faults.iter().for_each(crate::notices::warn);
    }
}

/// A service type that is known only at run time.
pub(crate) struct DynamicService {
    pub(crate) name: TypeName,
    /// The hash of the service type.
    hash: Option<TypeHash>,
    pub(crate) request: DynamicType,
    pub(crate) response: DynamicType,
}

impl DynamicService {
    /// Returns the name and the hashes of the type, as clients announce them.
    pub(crate) fn identity(&self) -> ServiceIdentity {
        ServiceIdentity {
            name: self.name.to_string(),
            type_hash: self.hash,
            request_hash: Some(TypeHash(self.request.type_hash().0)),
            response_hash: Some(TypeHash(self.response.type_hash().0)),
        }
    }
}

/// An action type that is known only at run time.
pub(crate) struct DynamicAction {
    pub(crate) name: TypeName,
    pub(crate) goal: DynamicType,
    pub(crate) send_goal: DynamicService,
    pub(crate) get_result: DynamicService,
    /// The message of the feedback topic.
    pub(crate) feedback: DynamicType,
}

impl DynamicAction {
    /// Returns the name and the hashes of the type, as clients announce them.
    pub(crate) fn identity(&self) -> ActionIdentity {
        ActionIdentity {
            name: self.name.to_string(),
            send_goal: self.send_goal.identity(),
            get_result: self.get_result.identity(),
            feedback: identity_of(&self.feedback),
        }
    }
}

/// The name of a type as the graph has it, even if the user gave the short form `package/Name`.
pub(crate) fn full_name(text: &str, namespace: Namespace) -> String {
    match text.split_once('/') {
        Some((package, name)) if !name.contains('/') => {
            TypeName::new(package, namespace, name).to_string()
        }
        _ => text.to_owned(),
    }
}

/// Returns the name and hash of a message type, as publishers and subscriptions announce them.
pub(crate) fn identity_of(ty: &DynamicType) -> TypeIdentity {
    TypeIdentity { name: ty.name().to_string(), hash: Some(TypeHash(ty.type_hash().0)) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn types() -> Types {
        let certain = feros_interface::standard().clone();
        Types { certain, all: OnceLock::new(), faults: Vec::new() }
    }

    #[test]
    fn types_are_found_by_short_and_full_names() {
        let types = types();
        assert_eq!(
            types.message("std_msgs/String").unwrap().name().to_string(),
            "std_msgs/msg/String"
        );
        assert_eq!(
            types.message("std_msgs/msg/String").unwrap().name().to_string(),
            "std_msgs/msg/String"
        );
        // There is a message and a service of this name.
        assert_eq!(
            types.message("test_msgs/Empty").unwrap().name().to_string(),
            "test_msgs/msg/Empty"
        );
        assert_eq!(
            types.service("test_msgs/Empty").unwrap().name.to_string(),
            "test_msgs/srv/Empty"
        );
        assert!(types.service("std_srvs/srv/SetBool").unwrap().identity().request_hash.is_some());
    }

    #[test]
    fn packages_of_robots_are_loaded_when_they_are_needed() {
        let types = types();
        assert!(types.message("std_msgs/String").is_ok() && types.all.get().is_none());
        let action = types.action("nav2_msgs/NavigateToPose").unwrap();
        assert_eq!(action.goal.name().to_string(), "nav2_msgs/action/NavigateToPose_Goal");
        assert!(types.all.get().is_some());
        assert!(types.service("controller_manager_msgs/srv/ListControllers").is_ok());
        assert!(types.message("geographic_msgs/GeoPoint").is_ok());
        let text = types.message("nav2_msgs/msg/Costmp").unwrap_err().to_string();
        assert!(text.contains("did you mean `nav2_msgs/msg/Costmap"), "{text}");
        assert!(types.certain().packages().len() < types.set().packages().len());
    }

    #[test]
    fn actions_have_the_identity_of_generated_types() {
        use feros::msgs::example_interfaces::action::Fibonacci;
        for name in ["example_interfaces/Fibonacci", "example_interfaces/action/Fibonacci"] {
            let action = types().action(name).unwrap();
            assert_eq!(action.identity(), ActionIdentity::of::<Fibonacci>());
        }
        let Err(error) = types().action("std_srvs/srv/SetBool") else {
            panic!("a service is not an action")
        };
        assert!(error.to_string().contains("is not an action type"), "{error}");
    }

    #[test]
    fn short_names_are_completed() {
        assert_eq!(full_name("std_msgs/String", Namespace::Msg), "std_msgs/msg/String");
        assert_eq!(full_name("std_srvs/Empty", Namespace::Srv), "std_srvs/srv/Empty");
        for whole in ["std_msgs/msg/String", "String", "a/b/c/d"] {
            assert_eq!(full_name(whole, Namespace::Msg), whole);
        }
    }

    #[test]
    fn misspelled_short_names_have_suggestions() {
        let name = full_name("std_msgs/Strnig", Namespace::Msg);
        let text = types().find(&name).unwrap_err().to_string();
        assert!(text.contains("did you mean `std_msgs/msg/String`"), "{text}");
    }

    #[test]
    fn unknown_types_say_what_to_do() {
        let text = types().message("std_msgs/msg/Sting").unwrap_err().to_string();
        assert!(text.contains("did you mean `std_msgs/msg/String`"), "{text}");
        assert!(text.contains("AMENT_PREFIX_PATH"), "{text}");
        let Err(error) = types().service("std_msgs/msg/String") else {
            panic!("a message is not a service")
        };
        assert!(matches!(error, CliError::Usage(_)));
        let text = types().package("std_msg").unwrap_err().to_string();
        assert!(text.contains("did you mean"), "{text}");
    }
}
