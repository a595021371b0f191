//! All known definitions of ROS 1 types, and their checksums.
//!
//! A definition is taken from the first of four sources that contains it: the header of a
//! connection, the packages in `ROS_PACKAGE_PATH`, the packages that Feros ships, and types of ROS
//! 2 that are translated to ROS 1. The checksum decides whether another node uses the same
//! definition.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use feros_interface::{InterfaceSet, Namespace, TypeName};

use crate::action::{ActionPart, Ros1Action};
use crate::definition::{
    Ros1Message, of_ros2, parse_message, parse_service, parse_type, split_full_text,
};
use crate::ros1_type::{CatalogError, Ros1Service, Ros1Type, check_fields, md5, md5_text, unknown};

/// The definitions shipped with Feros, which are the standard packages.
const SHIPPED: &[&str] = &[
    include_str!("../definitions/actionlib.txt"),
    include_str!("../definitions/actionlib_msgs.txt"),
    include_str!("../definitions/bond.txt"),
    include_str!("../definitions/diagnostic_msgs.txt"),
    include_str!("../definitions/geometry_msgs.txt"),
    include_str!("../definitions/move_base_msgs.txt"),
    include_str!("../definitions/nav_msgs.txt"),
    include_str!("../definitions/roscpp.txt"),
    include_str!("../definitions/rosgraph_msgs.txt"),
    include_str!("../definitions/sensor_msgs.txt"),
    include_str!("../definitions/shape_msgs.txt"),
    include_str!("../definitions/std_msgs.txt"),
    include_str!("../definitions/std_srvs.txt"),
    include_str!("../definitions/stereo_msgs.txt"),
    include_str!("../definitions/tf.txt"),
    include_str!("../definitions/tf2_msgs.txt"),
    include_str!("../definitions/trajectory_msgs.txt"),
    include_str!("../definitions/visualization_msgs.txt"),
];

/// The definitions, by name.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    messages: BTreeMap<TypeName, String>,
    services: BTreeMap<TypeName, String>,
    folders: Vec<PathBuf>,
}

impl Catalog {
    /// Creates a catalog of the standard packages.
    #[must_use]
    pub fn shipped() -> Self {
        let mut catalog = Self::default();
        SHIPPED.iter().for_each(|text| catalog.add_sections(text));
        catalog
    }

    /// Creates a catalog of the standard packages and of the packages in the folders of `path`,
    /// which is a list like `ROS_PACKAGE_PATH`.
    #[must_use]
    pub fn with_package_path(path: &std::ffi::OsStr) -> Self {
        let folders = std::env::split_paths(path).filter(|folder| !folder.as_os_str().is_empty());
        Self { folders: folders.collect(), ..Self::shipped() }
    }

    fn add_sections(&mut self, text: &str) {
        let mut section: Option<(bool, TypeName, String)> = None;
        for line in text.lines().chain(["MSG: "]) {
            let head = line.strip_prefix("MSG: ").map(|name| (true, name));
            match head.or_else(|| line.strip_prefix("SRV: ").map(|name| (false, name))) {
                Some((is_message, name)) => {
                    if let Some((was_message, name, text)) = section.take() {
                        let all = if was_message { &mut self.messages } else { &mut self.services };
                        all.insert(name, text);
                    }
                    section = parse_type(name).ok().map(|name| (is_message, name, String::new()));
                }
                None => {
                    if let Some((.., text)) = section.as_mut() {
                        text.push_str(line);
                        text.push('\n');
                    }
                }
            }
        }
    }

    /// Returns the text of a definition from the folders. If the folders do not contain it, returns
    /// the text from the shipped packages.
    fn text(&self, kind: Namespace, name: &TypeName) -> Option<String> {
        let file = format!("{}.{kind}", name.name);
        for folder in &self.folders {
            for package in [folder.clone(), folder.join(&name.package)] {
                if package.file_name() != Some(std::ffi::OsStr::new(&name.package)) {
                    continue;
                }
                let path = package.join(kind.as_str()).join(&file);
                let mut text = String::new();
                let file = feros_files::open(&path).ok();
                let most = feros_interface::MAX_DEFINITION_BYTES as u64 + 1;
                if file.is_some_and(|file| file.take(most).read_to_string(&mut text).is_ok()) {
                    return Some(text);
                }
            }
        }
        let all = match kind {
            Namespace::Msg => &self.messages,
            Namespace::Srv => &self.services,
            Namespace::Action => return None,
        };
        all.get(&TypeName::message(name.package.clone(), name.name.clone())).cloned()
    }

    /// Returns a message type by its name, `package/Name`.
    ///
    /// # Errors
    /// Returns an error if the type, or a type that it refers to, is unknown or malformed.
    pub fn message(&self, name: &TypeName) -> Result<Ros1Type, CatalogError> {
        let text = self.text(Namespace::Msg, name).ok_or_else(|| unknown(name))?;
        self.resolve(parse_message(name, &text)?, &BTreeMap::new())
    }

    /// Returns a service type by its name, `package/Name`.
    ///
    /// # Errors
    /// See [`Catalog::message`].
    pub fn service(&self, name: &TypeName) -> Result<Ros1Service, CatalogError> {
        let text = self.text(Namespace::Srv, name).ok_or_else(|| unknown(name))?;
        self.service_of_text(name, &text, &BTreeMap::new())
    }

    fn service_of_text(
        &self,
        name: &TypeName,
        text: &str,
        nested: &BTreeMap<TypeName, String>,
    ) -> Result<Ros1Service, CatalogError> {
        let (request, response) = parse_service(name, text)?;
        let request = self.resolve(request, nested)?;
        let response = self.resolve(response, nested)?;
        let both = md5_text(&request)? + &md5_text(&response)?;
        let name = TypeName::new(name.package.clone(), Namespace::Srv, name.name.clone());
        Ok(Ros1Service { name, request, response, md5sum: md5(&both) })
    }

    /// Returns the message type that a publisher describes with a name, a `message_definition` and
    /// a checksum. The checksum must match the definition.
    ///
    /// # Errors
    /// Returns an error if the definition is malformed or contradicts its checksum.
    pub fn message_of_peer(
        &self,
        who: &str,
        name: &TypeName,
        full_text: &str,
        md5sum: &str,
    ) -> Result<Ros1Type, CatalogError> {
        let (own, nested) = split_full_text(full_text);
        let nested = nested
            .into_iter()
            .filter_map(|(name, text)| parse_type(&name).ok().map(|name| (name, text)));
        let ty = self.resolve(parse_message(name, &own)?, &nested.collect())?;
        ty.agreed(who, md5sum)
    }

    /// Translates a ROS 2 message type to ROS 1. The fields are the same, except that `Header` in
    /// ROS 1 also has the number `seq`.
    ///
    /// # Errors
    /// Returns an error if ROS 1 lacks one of the types.
    pub fn message_of_ros2(
        &self,
        name: &TypeName,
        set: &InterfaceSet,
        ros2: &TypeName,
    ) -> Result<Ros1Type, CatalogError> {
        let message = set.message(ros2).ok_or_else(|| unknown(name))?;
        let text = of_ros2(message).ok_or_else(|| unknown(name))?;
        self.resolve(parse_message(name, &text)?, &self.nested_of_ros2(set, ros2))
    }

    /// Translates a ROS 2 service type to ROS 1.
    ///
    /// # Errors
    /// Returns an error if ROS 1 lacks one of the types.
    pub fn service_of_ros2(
        &self,
        name: &TypeName,
        set: &InterfaceSet,
        ros2: &TypeName,
    ) -> Result<Ros1Service, CatalogError> {
        let service = set.service(ros2).ok_or_else(|| unknown(name))?;
        let part = |message| of_ros2(message).ok_or_else(|| unknown(name));
        let text = format!("{}---\n{}", part(&service.request)?, part(&service.response)?);
        let mut nested = self.nested_of_ros2(set, &service.request.name);
        nested.extend(self.nested_of_ros2(set, &service.response.name));
        self.service_of_text(name, &text, &nested)
    }

    /// Returns an actionlib action by its name, `package/Name`. The definition is taken from the
    /// messages that were generated from the action. If such messages do not exist, it is taken
    /// from the `.action` file.
    ///
    /// # Errors
    /// See [`Catalog::message`].
    pub fn action(&self, name: &TypeName) -> Result<Ros1Action, CatalogError> {
        let parts = ActionPart::ALL.map(|part| self.text(Namespace::Msg, &part.message(name)));
        if let [Some(goal), Some(result), Some(feedback)] = parts {
            return self.action_of_texts(name, [goal, result, feedback], &BTreeMap::new());
        }
        let text = self.text(Namespace::Action, name).ok_or_else(|| unknown(name))?;
        let mut texts = [String::new(), String::new(), String::new()];
        let mut part = 0;
        for line in text.lines() {
            match line.trim() {
                "---" => part += 1,
                _ if part < 3 => texts[part].extend([line, "\n"]),
                _ => {}
            }
        }
        self.action_of_texts(name, texts, &BTreeMap::new())
    }

    /// Translates a ROS 2 action type to ROS 1.
    ///
    /// # Errors
    /// Returns an error if ROS 1 lacks one of the types.
    pub fn action_of_ros2(
        &self,
        name: &TypeName,
        set: &InterfaceSet,
        ros2: &TypeName,
    ) -> Result<Ros1Action, CatalogError> {
        let mut nested = BTreeMap::new();
        let mut texts = [String::new(), String::new(), String::new()];
        for (text, part) in texts.iter_mut().zip(ActionPart::ALL) {
            let part = ros2.with_suffix(&format!("_{}", part.word()));
            let message = set.message(&part).ok_or_else(|| unknown(name))?;
            *text = of_ros2(message).ok_or_else(|| unknown(name))?;
            nested.extend(self.nested_of_ros2(set, &part));
        }
        self.action_of_texts(name, texts, &nested)
    }

    fn action_of_texts(
        &self,
        name: &TypeName,
        texts: [String; 3],
        nested: &BTreeMap<TypeName, String>,
    ) -> Result<Ros1Action, CatalogError> {
        let mut nested = nested.clone();
        let parts = ActionPart::ALL.map(|part| part.message(name));
        nested.extend(parts.iter().cloned().zip(texts));
        let part = |part: ActionPart| {
            let text = nested.get(&part.message(name)).map(String::as_str).unwrap_or_default();
            self.resolve(parse_message(&part.message(name), text)?, &nested)
        };
        let topic = |part: ActionPart| {
            self.resolve(parse_message(&part.topic_type(name), &part.topic_text(name))?, &nested)
        };
        use ActionPart::{Feedback, Goal, Result as Outcome};
        Ok(Ros1Action {
            name: name.clone(),
            goal: part(Goal)?,
            result: part(Outcome)?,
            feedback: part(Feedback)?,
            topics: [topic(Goal)?, topic(Outcome)?, topic(Feedback)?],
        })
    }

    /// Returns the definitions of the types that a ROS 2 message refers to and that are unknown in
    /// ROS 1.
    fn nested_of_ros2(&self, set: &InterfaceSet, name: &TypeName) -> BTreeMap<TypeName, String> {
        let unknown = set.references(name).unwrap_or_default().into_iter().filter(|nested| {
            nested.package != "builtin_interfaces" && self.text(Namespace::Msg, nested).is_none()
        });
        unknown
            .filter_map(|nested| Some((nested.clone(), of_ros2(set.message(&nested)?)?)))
            .collect()
    }

    /// Finds all types that a message refers to. Definitions in `nested` take precedence.
    fn resolve(
        &self,
        message: Ros1Message,
        nested: &BTreeMap<TypeName, String>,
    ) -> Result<Ros1Type, CatalogError> {
        let name = message.definition.name.clone();
        let mut messages = BTreeMap::new();
        let mut missing: Vec<TypeName> = references(&message).into_iter().collect();
        messages.insert(name.clone(), Arc::new(message));
        while let Some(wanted) = missing.pop() {
            if messages.contains_key(&wanted) {
                continue;
            }
            let text = nested.get(&wanted).cloned().or_else(|| self.text(Namespace::Msg, &wanted));
            let message = parse_message(&wanted, &text.ok_or_else(|| unknown(&wanted))?)?;
            missing.extend(references(&message));
            messages.insert(wanted, Arc::new(message));
        }
        let mut ty = Ros1Type { name, messages, md5sum: String::new() };
        ty.md5sum = md5(&md5_text(&ty)?);
        check_fields(&ty)?;
        Ok(ty)
    }
}

/// Returns the message types that a message refers to, except time and duration.
fn references(message: &Ros1Message) -> BTreeSet<TypeName> {
    let nested = message.definition.references().into_iter();
    nested.filter(|name| name.package != "builtin_interfaces").cloned().collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::definition::SEPARATOR;

    fn known(name: &str) -> Ros1Type {
        Catalog::shipped().message(&parse_type(name).unwrap()).unwrap()
    }

    #[test]
    fn checksums_are_those_of_ros1_itself() {
        let catalog = Catalog::shipped();
        let mut count = 0;
        for line in include_str!("../tests/md5sums.tsv").lines() {
            let [name, kind, sum] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let name = parse_type(name).unwrap();
            let found = match kind {
                "msg" => catalog.message(&name).unwrap().md5sum,
                _ => catalog.service(&name).unwrap().md5sum,
            };
            assert_eq!(found, sum, "{line}");
            count += 1;
        }
        assert!(count > 150, "{count}");
    }

    #[test]
    fn a_publishers_definition_is_read_and_its_checksum_checked() {
        let pose = known("geometry_msgs/PoseStamped");
        let name = pose.name.clone();
        let empty = Catalog::default();
        let read =
            empty.message_of_peer("/talker", &name, &pose.full_text(), &pose.md5sum).unwrap();
        assert_eq!(read.md5sum, pose.md5sum);
        let error = empty.message_of_peer("/talker", &name, &pose.full_text(), "00ff").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("/talker contradicts itself") && text.contains("00ff"), "{text}");
        assert!(text.contains(&pose.md5sum), "{text}");
        // If a header contains no definition, its checksum is compared with the known definition.
        let error = pose.checked("/talker", "00ff").unwrap_err().to_string();
        assert!(error.contains("/talker has another definition") && error.contains("Pose pose"));
    }

    /// If each message contains two fields of the next message type, the total number of fields
    /// exceeds any memory.
    #[test]
    fn fields_are_counted_with_those_of_the_messages_in_it() {
        let name = parse_type("a/M0").unwrap();
        let nested = |depth: usize| {
            let mut text = "a/M1 left\na/M1 right\n".to_owned();
            for level in 1..depth {
                let next = level + 1;
                let fields = format!("a/M{next} left\na/M{next} right\n");
                text.push_str(&format!("{SEPARATOR}\nMSG: a/M{level}\n{fields}"));
            }
            text + &format!("{SEPARATOR}\nMSG: a/M{depth}\nint8 a\n")
        };
        let read = |text: &str| Catalog::default().message_of_peer("/x", &name, text, "*");
        assert!(read(&nested(8)).is_ok());
        assert!(matches!(read(&nested(60)), Err(CatalogError::TooManyFields { .. })));
        let wide = |count: usize| (0..count).map(|n| format!("int8 f{n}\n")).collect::<String>();
        assert!(read(&wide(65_536)).is_ok());
        assert!(matches!(read(&wide(65_537)), Err(CatalogError::TooManyFields { .. })));
    }

    #[test]
    fn most_types_of_ros2_are_those_of_ros1_by_their_checksum() {
        let (catalog, set) = (Catalog::shipped(), feros_interface::shipped());
        for name in [
            "std_msgs/String",
            "sensor_msgs/Image",
            "geometry_msgs/TwistStamped",
            "std_msgs/Header",
        ] {
            let known = known(name);
            let alone = Catalog { messages: BTreeMap::new(), ..catalog.clone() };
            let header = "uint32 seq\ntime stamp\nstring frame_id\n".to_owned();
            let alone = Catalog {
                messages: BTreeMap::from([(TypeName::message("std_msgs", "Header"), header)]),
                ..alone
            };
            if name == "std_msgs/Header" {
                continue; // only the ROS 1 `Header` has the field `seq`
            }
            let made = alone.message_of_ros2(&known.name, set, &known.name).unwrap();
            assert_eq!(made.md5sum, known.md5sum, "{name}");
        }
        let set_bool = TypeName::new("std_srvs", Namespace::Srv, "SetBool");
        let made =
            catalog.service_of_ros2(&parse_type("std_srvs/SetBool").unwrap(), set, &set_bool);
        assert_eq!(made.unwrap().md5sum, "09fb03525b03e7ea1fd3992bafd87e16");
    }

    #[test]
    fn hostile_definitions_are_refused() {
        let catalog = Catalog::default();
        let name = parse_type("a/B").unwrap();
        let circle = format!("a/C c\n{SEPARATOR}\nMSG: a/C\na/B b\n");
        let refuse = |text: &str| catalog.message_of_peer("x", &name, text, "*").unwrap_err();
        assert!(matches!(refuse(&circle), CatalogError::TooDeep { .. }));
        assert!(matches!(refuse("a/C c"), CatalogError::Unknown { .. }));
        assert!(matches!(refuse("int32[x] c"), CatalogError::Definition(_)));
        assert!(matches!(refuse("int32"), CatalogError::Definition(_)));
        assert!(matches!(refuse("bla = 7"), CatalogError::Definition(_)));
        assert!(matches!(refuse(&"#".repeat(2 << 20)), CatalogError::Definition(_)));
        assert!(parse_type("a/b/c").is_err());
        assert!(parse_type("../x").is_err());
    }

    #[test]
    fn the_number_of_a_header_is_found() {
        assert!(known("sensor_msgs/Image").begins_with_header());
        assert!(!known("std_msgs/String").begins_with_header());
    }
}
