//! Definitions of message types in the format `ros2msg`, which bags and viewers use. It is the text
//! of the type's definition, followed by the texts of all types to which it refers, each after a
//! separator line.

use crate::dynamic::DynamicType;
use feros_interface::{InterfaceSet, MessageDefinition, ResolveError, TypeHash, TypeName};

/// The line before each type that another type refers to.
const SEPARATOR: &str =
    "================================================================================";

/// The definition of a topic's message type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schema {
    /// The notation of the text. It is `ros2msg`, another notation in bags of other programs, or
    /// empty if the type is unknown.
    pub encoding: String,
    /// The definition, with the definitions of all types to which it refers.
    pub text: String,
}

impl Schema {
    /// The schema of a type whose definition is unknown. Its messages can be recorded nevertheless.
    pub fn unknown() -> Self {
        Self::default()
    }

    /// The schema of a type in this set.
    ///
    /// # Errors
    /// Fails if the set does not contain the type or a type to which it refers.
    ///
    /// ```
    /// use feros_message::Schema;
    /// let name = "std_msgs/msg/Header".parse()?;
    /// let schema = Schema::of_interface(feros_interface::shipped(), &name)?;
    /// assert!(schema.text.contains("MSG: builtin_interfaces/Time\nint32 sec\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_interface(set: &InterfaceSet, name: &TypeName) -> Result<Self, ResolveError> {
        let references = set.references(name)?;
        let parts = references.iter().filter(|part| *part != name);
        let definitions: Vec<_> =
            std::iter::once(name).chain(parts).filter_map(|name| set.message(name)).collect();
        Ok(Self::of_definitions(definitions.iter().map(|definition| &***definition)))
    }

    /// The schema of a type in this set, if the type has this hash or if no hash is given. Returns
    /// `None` if the set does not contain the type, or contains a different type with this name.
    pub fn of_type(set: &InterfaceSet, name: &str, hash: Option<TypeHash>) -> Option<Self> {
        let name = name.parse::<TypeName>().ok()?;
        let ty = DynamicType::resolve(set, &name).ok()?;
        let is_same = hash.is_none_or(|hash| hash == ty.type_hash());
        is_same.then(|| Self::of_interface(set, &name).ok()).flatten()
    }

    /// The schema of a type that is known only at run time, such as a type that a node described.
    pub fn of_dynamic(ty: &DynamicType) -> Self {
        let mut definitions = Vec::new();
        collect(ty, &mut definitions);
        Self::of_definitions(definitions.iter())
    }

    fn of_definitions<'a>(definitions: impl Iterator<Item = &'a MessageDefinition>) -> Self {
        let mut text = String::new();
        for (number, definition) in definitions.enumerate() {
            if number > 0 {
                let TypeName { package, name, .. } = &definition.name;
                text.push_str(&format!("{SEPARATOR}\nMSG: {package}/{name}\n"));
            }
            text.push_str(&definition.to_string());
        }
        Self { encoding: "ros2msg".to_owned(), text }
    }
}

/// Collects the definitions of a type and of all types to which it refers, without duplicates.
fn collect(ty: &DynamicType, definitions: &mut Vec<MessageDefinition>) {
    if definitions.iter().any(|known| known.name == *ty.name()) {
        return;
    }
    let fields = ty.fields().iter().map(|field| field.definition().clone()).collect();
    definitions.push(MessageDefinition::new(ty.name().clone(), fields));
    ty.fields().iter().filter_map(|field| field.nested()).for_each(|ty| collect(ty, definitions));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use feros_interface::shipped;

    #[test]
    fn a_schema_has_each_type_once() {
        let name = "nav_msgs/msg/Odometry".parse().unwrap();
        let schema = Schema::of_interface(shipped(), &name).unwrap();
        assert_eq!(schema.encoding, "ros2msg");
        assert!(schema.text.starts_with("std_msgs/Header header\n"), "{}", schema.text);
        assert_eq!(schema.text.matches("MSG: geometry_msgs/Vector3\n").count(), 1);
        assert!(!schema.text.contains("MSG: nav_msgs/Odometry"));
        // A type that is described at run time has the same text if it has no constants.
        let dynamic = DynamicType::resolve(shipped(), &name).unwrap();
        let sections = |text: &str| {
            let mut sections: Vec<String> = text.split(SEPARATOR).map(str::to_owned).collect();
            sections.sort();
            sections
        };
        assert_eq!(sections(&Schema::of_dynamic(&dynamic).text), sections(&schema.text));
    }

    #[test]
    fn another_type_of_the_same_name_has_no_schema() {
        let name = "std_msgs/msg/String";
        let ty = DynamicType::resolve(shipped(), &name.parse().unwrap()).unwrap();
        let known = Schema::of_type(shipped(), name, None).unwrap();
        assert_eq!(Schema::of_type(shipped(), name, Some(ty.type_hash())), Some(known));
        assert_eq!(Schema::of_type(shipped(), name, Some(TypeHash([7; 32]))), None);
        assert_eq!(Schema::of_type(shipped(), "no name", None), None);
    }

    #[test]
    fn events_of_services_have_a_schema() {
        let name = "std_srvs/srv/SetBool_Event".parse().unwrap();
        let schema = Schema::of_interface(shipped(), &name).unwrap();
        assert!(schema.text.contains("std_srvs/SetBool_Request[<=1] request\n"), "{}", schema.text);
        assert!(schema.text.contains("MSG: std_srvs/SetBool_Request\nbool data\n"));
    }
}
